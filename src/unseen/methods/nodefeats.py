"""Node features as they are, the content-only baseline of the paper; no features: rows of the adjacency."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.engine.run import Run
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.methods.base import Method, Traits, Vectors

if TYPE_CHECKING:
    from unseen.engine.memory import Job


class NodeFeats(Method):
    """The raw features, sparse if they are sparse; rows of the adjacency where there are none.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.load_dataset("debian")
    >>> unseen.NodeFeats().fit_transform(data.graph).vectors.shape[0] == data.graph.n_nodes
    True
    """

    reference = "Wang et al., Network Embedding with Completely-imbalanced Labels, TKDE 2020 (baseline)"
    _traits = Traits("nodefeats", "the node features as they are", uses_features=True, keeps_scale=True)

    @classmethod
    def _bytes_needed(cls, job: Job) -> float:
        return max(34.0 * job.entries, job.feature_bytes(5.4, 32))

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:  # noqa: ARG002
        return graph.adjacency if graph.features is None else graph.features

    def _transform(self, graph: Graph, run: Run) -> Vectors:  # noqa: ARG002
        return self._new_features(graph)
