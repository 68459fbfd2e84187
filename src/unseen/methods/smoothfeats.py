"""Features smoothed over the graph: no training, no labels, and hard to beat.

Z_0 = l2-normalised truncated SVD of X; `steps` times Z <- (1 - teleport) Ahat Z + teleport Z_0; l2-normalise.
This is the personalised propagation of APPNP (Klicpera et al., ICLR 2019) applied to features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.engine.run import Run
from unseen.graph import Graph
from unseen.ids import Singles
from unseen.labels import Labels
from unseen.linalg.normalize import to_unit_rows
from unseen.linalg.smoothing import GraphSmoother, smoothing_filter
from unseen.linalg.svd import GRAM_COLUMNS, OVERSAMPLING, truncated_svd
from unseen.methods.base import Method, Traits, Vectors, rows_and_columns
from unseen.methods.vocabulary import Columns, Steps, Teleport
from unseen.randomness import child_seed, keyed_uniform, node_keys

if TYPE_CHECKING:
    from unseen.engine.memory import Job

COLUMNS = 64
"""Columns that are smoothed at a time."""


class SmoothFeats(Method):
    """Features reduced by SVD and smoothed over the graph; rows of the adjacency where there are none.

    Attributes
    ----------
    axes_ : ndarray, shape (n_components, m)
        The right singular vectors, which carry new nodes into the same space.
    """

    reference = "Klicpera et al., Predict then Propagate, ICLR 2019 (propagation, here of features)"
    _traits = Traits(
        "smoothfeats",
        "features smoothed over the graph, no training",
        uses_features=True,
        trains_on_parts=True,
    )

    n_components: Columns = None
    steps: Steps = 10
    teleport: Teleport = 0.1

    @classmethod
    def _bytes_needed(cls, job: Job) -> float:
        if job.source == "features":
            smoothing = 16.0 * job.nodes * min(COLUMNS, job.columns) + 12.0 * job.entries
            factors = 1.0 if job.feature_columns <= GRAM_COLUMNS else 6.4
            return factors * job.tall + max(smoothing, job.feature_bytes(16, 33))
        return 6.6 * job.tall + 450.0 * job.nodes + 62.0 * job.entries

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:  # noqa: ARG002
        features = graph.adjacency if graph.features is None else graph.features
        most = min(run.count(features.shape[0]), features.shape[1])
        k = self._components(self.n_components, most, rows_and_columns(graph))
        start = None
        if graph.features is None:
            keys = node_keys(graph.node_ids, child_seed(run.rng))
            start = (keyed_uniform(keys, k + OVERSAMPLING) - 0.5).astype(np.float32)
        scores, self.axes_ = truncated_svd(features, k, run.rng, run, start=start)
        return self._smooth(graph, scores, run)

    def _transform(self, graph: Graph, run: Run) -> Vectors:
        scores = np.asarray(self._new_features(graph) @ self.axes_.T, dtype=np.float32)
        return self._smooth(graph, scores, run)

    def _smooth(self, graph: Graph, scores: Singles, run: Run) -> Singles:
        smoother = GraphSmoother(run.matrix(graph.adjacency, symmetric=True))
        rounds = {"vectors": smoothing_filter([self.teleport], self.steps, negligible=0.0)}
        vectors = to_unit_rows(scores, run)
        for first in range(0, vectors.shape[1], COLUMNS):
            some = slice(first, first + COLUMNS)
            vectors[:, some] = smoother.smooth(vectors[:, some], rounds)["vectors"]
        return to_unit_rows(vectors, run)
