"""The rows of a graph that one of several processes holds; methods take it where they take a graph."""

from __future__ import annotations

from dataclasses import dataclass

from unseen.comm.group import SOLO, Comm
from unseen.comm.halo import HaloMatrix
from unseen.graph import Features, Graph
from unseen.ids import IdArray


@dataclass(frozen=True, eq=False)
class GraphPart:
    """What a process knows of a graph that is spread over several.

    Attributes
    ----------
    adjacency : HaloMatrix
        The own rows.
    features : scipy CSR array, ndarray or None
        Of the own rows.
    node_ids : ndarray
        Of the own rows.
    """

    adjacency: HaloMatrix
    features: Features | None
    node_ids: IdArray
    feature_names: None = None

    @property
    def n_nodes(self) -> int:
        """Nodes of the whole graph."""
        return self.adjacency.shape[1]

    @property
    def comm(self) -> Comm:
        """The processes."""
        return self.adjacency.comm


def processes(graph: Graph | GraphPart) -> Comm:
    """Return the processes over which a graph is spread; a graph in one piece has one.

    Examples
    --------
    >>> processes(Graph.from_edges(["a"], ["b"])).size
    1
    """
    return graph.comm if isinstance(graph, GraphPart) else SOLO
