"""The graph value: a symmetric weighted adjacency, optional features, and an id for every row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.errors import InputError, counted, unknown_type
from unseen.ids import Features as Features
from unseen.ids import (
    IdArray,
    Stored,
    Value,
    checked_columns,
    checked_texts,
    lock,
    row_ids,
)
from unseen.weights import Symmetrize as Symmetrize
from unseen.weights import as_adjacency, is_same, make_symmetric

if TYPE_CHECKING:
    from unseen.relations import Relation


@dataclass(frozen=True)
class Need:
    """What a method can use of a graph; :meth:`unseen.Graph.view` leaves out the rest.

    Parameters
    ----------
    directed : bool
        Directions. Without it the edges of a pair are one edge, of the larger absolute weight.
    signed : bool
        Negative weights. Without it such edges are left out, and counted.
    typed : bool
        Types of nodes and several relations. Without it all edges are of one kind, and the features of all types
        stand side by side in blocks of columns, with zeros for the nodes of other types.

    Examples
    --------
    >>> import unseen
    >>> unseen.Need(signed=True)
    Need(directed=False, signed=True, typed=False)
    """

    directed: bool = False
    signed: bool = False
    typed: bool = False


@dataclass(frozen=True, eq=False)
class Graph(Value):
    """An undirected weighted graph; everything is checked once, here, and read-only afterwards.

    Parameters
    ----------
    adjacency : scipy sparse array, shape (n, n)
        Symmetric, finite, not negative. Self-loops are kept. Use :meth:`from_scipy` or
        :meth:`from_edges` for directed input.
    features : scipy sparse array or ndarray, shape (n, m), optional
        Finite numbers, at least one column; None where nodes have no features. Sparse features stay sparse.
    node_ids : sequence of str or int, optional
        One unique id per row; 0 ... n - 1 when not given.
    feature_names : sequence of str, optional
        One name a feature column.
    texts : sequence of str, optional
        One text a node, to show to people; empty where a node has none. Methods do not read it.

    Examples
    --------
    >>> import unseen
    >>> graph = unseen.Graph.from_edges(["a", "b"], ["b", "c"], nodes=["a", "b", "c", "alone"])
    >>> graph
    Graph(4 nodes, 2 edges, no features)
    >>> graph.node_ids.tolist()
    ['a', 'b', 'c', 'alone']
    """

    adjacency: sp.csr_array
    features: Features | None = None
    node_ids: IdArray = None  # type: ignore[assignment]  # filled in by __post_init__
    feature_names: tuple[str, ...] | None = None
    texts: npt.NDArray[Any] | None = None

    def __post_init__(self) -> None:
        adjacency = as_adjacency(self.adjacency)
        if not is_same(adjacency, adjacency.T.tocsr()):
            msg = "the adjacency must be symmetric; Graph.from_scipy makes a directed one so (symmetrize='max', 'sum')"
            raise InputError(msg)
        n = adjacency.shape[0]
        ids = row_ids(self.node_ids, n, f"the adjacency has {n} rows")
        features, names = checked_columns(self.features, self.feature_names, n)
        texts = checked_texts(self.texts, n)
        lock(adjacency, features)
        self.__dict__.update(
            adjacency=adjacency, features=features, node_ids=ids, feature_names=names, texts=texts
        )

    def __repr__(self) -> str:
        nodes = f"{self.n_nodes} nodes" + (f" of {len(self.types)} types" if len(self.types) > 1 else "")
        kinds = [f"{len(self._matrices)} relations"] if len(self._matrices) > 1 else []
        flags = [word for word in ("directed", "signed") if getattr(self, f"is_{word}")]
        widths = [matrix.shape[1] for matrix, _ in self.stored_features.values()]
        width = f"{widths[0] if widths else 'no'} features"
        if widths and len(self.types) > 1:
            width = f"features of {counted(len(widths), 'type')}"
        return f"Graph({', '.join([nodes, *kinds, f'{self.n_edges} edges', *flags, width])})"

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """The kinds of edges, with direction and sign; a plain graph has one."""
        from unseen.relations import plain_relation

        return (plain_relation(self.adjacency),)

    @cached_property
    def _matrices(self) -> tuple[sp.csr_array, ...]:
        return (self.adjacency,)  # of each relation; most jobs need no more of a plain graph's

    @cached_property
    def types(self) -> tuple[str | None, ...]:
        """The types of nodes, in the order of first appearance; None stands for the only one."""
        return (None,)

    @cached_property
    def codes(self) -> npt.NDArray[np.int64]:
        """The number of each node's type."""
        return np.zeros(self.n_nodes, dtype=np.int64)

    @cached_property
    def stored_features(self) -> Stored:
        """The features of each type that has some, and the names of their columns."""
        return {} if self.features is None else {None: (self.features, self.feature_names)}

    @cached_property
    def node_types(self) -> npt.NDArray[Any] | None:
        """The type of each node, None where there is one."""
        if len(self.types) == 1:
            return None
        names = np.array(self.types, dtype=object)[self.codes]
        lock(names)
        return names

    @property
    def n_nodes(self) -> int:
        """Number of nodes, isolated ones included."""
        return len(self.node_ids)

    @property
    def n_edges(self) -> int:
        """Number of edges of all relations; an undirected one counts once, and so does a self-loop."""
        return int(self.adjacency.nnz + self.n_self_loops) // 2

    @property
    def n_self_loops(self) -> int:
        """Number of nodes that have an edge to themselves."""
        return int(np.any([csr.diagonal() != 0 for csr in self._matrices], axis=0).sum())

    @property
    def isolated(self) -> npt.NDArray[np.bool_]:
        """Mask of the nodes that have no edge to another node."""
        alone = np.ones(self.n_nodes, dtype=bool)
        for csr in self._matrices:
            ends = np.diff(csr.indptr) + np.bincount(csr.indices, minlength=self.n_nodes)
            alone &= ends == 2 * (csr.diagonal() != 0)
        return alone

    @cached_property
    def is_directed(self) -> bool:
        """Whether the edges of a relation point."""
        return False

    @cached_property
    def is_signed(self) -> bool:
        """Whether some weights are negative."""
        return any(bool((csr.data < 0).any()) for csr in self._matrices)

    @property
    def is_heterogeneous(self) -> bool:
        """Whether there are several types of nodes, or several relations."""
        return len(self.types) > 1 or len(self._matrices) > 1

    @property
    def is_plain(self) -> bool:
        """Whether there are neither directions nor signs nor types."""
        return not (self.is_directed or self.is_signed or self.is_heterogeneous)

    @property
    def plain(self) -> Graph:
        """The plain view, about which nothing is said."""
        return self

    def view(self, need: Need) -> Graph:  # noqa: ARG002
        """Return the graph without what `need` does not ask for; see :class:`unseen.Need`."""
        return self

    def rows_of(self, node_type: str | None) -> npt.NDArray[np.int64]:
        """Return the row numbers of the nodes of one type."""
        if node_type not in self.types:
            raise unknown_type(node_type, self.types)
        return np.flatnonzero(self.codes == self.types.index(node_type))

    def features_of(self, node_type: str) -> Features | None:
        """Return the features of the nodes of one type, in their order; None where it has none."""
        self.rows_of(node_type)  # refuses one that is not there
        return self.stored_features.get(node_type, (None, None))[0]

    def subgraph(self, rows: npt.NDArray[np.int64]) -> Graph:
        """Return the graph of these rows, in their order, and the edges between them; itself where that is all of it.

        Examples
        --------
        >>> import unseen
        >>> unseen.Graph.from_edges(["a", "b"], ["b", "c"]).subgraph([2, 1]).node_ids.tolist()
        ['c', 'b']
        """
        if np.array_equal(rows, np.arange(self.n_nodes)):
            return self
        features = None if self.features is None else self.features[rows]
        texts = None if self.texts is None else self.texts[rows]
        return Graph(self.adjacency[rows][:, rows], features, self.node_ids[rows], self.feature_names, texts)

    def with_features(self, features: Any, feature_names: Any = None) -> Graph:
        """Return the same nodes and edges with other features, or with none.

        Parameters
        ----------
        features, feature_names
            As for :class:`Graph`; where nodes are of several types, as for :meth:`from_relations`.

        Examples
        --------
        >>> import unseen
        >>> unseen.Graph([[0, 1], [1, 0]], [[1.0], [2.0]]).with_features(None)
        Graph(2 nodes, 1 edges, no features)
        """
        return replace(self, features=features, feature_names=feature_names)

    @staticmethod
    def from_relations(
        relations: Iterable[Relation],
        node_ids: Iterable[Any] | None = None,
        node_types: Iterable[str] | None = None,
        features: Any = None,
        feature_names: Any = None,
        texts: Iterable[Any] | None = None,
    ) -> Graph:
        """Make a graph of relations: several kinds of nodes and edges, directed or not, weights of either sign.

        Parameters
        ----------
        relations : iterable of Relation
            Their matrices have a row and a column for every node of the graph.
        node_ids : sequence of str or int, optional
            As for :class:`Graph`.
        node_types : sequence of str, optional
            The type of each node; not needed where there is one.
        features : mapping or matrix, optional
            From a type to a matrix with a row for each of its nodes, in their order; types without features are left
            out. Where there is one type, the matrix itself will do.
        feature_names : mapping or sequence, optional
            From a type to the names of its columns, or these names.
        texts : sequence of str, optional
            As for :class:`Graph`.

        Examples
        --------
        >>> import numpy as np, unseen
        >>> wrote = np.zeros((3, 3))
        >>> wrote[0, 2] = wrote[1, 2] = 1
        >>> graph = unseen.Graph.from_relations(
        ...     [unseen.Relation("wrote", "author", "paper", wrote)],
        ...     ["ann", "bob", "p1"], ["author", "author", "paper"],
        ...     features={"paper": [[1.0, 0.5]]}, feature_names={"paper": ["graph", "tree"]})
        >>> graph
        Graph(3 nodes of 2 types, 2 edges, features of 1 type)
        >>> graph.features.toarray().tolist(), graph.feature_names
        ([[0.0, 0.0], [0.0, 0.0], [1.0, 0.5]], ('paper:graph', 'paper:tree'))
        """
        from unseen.relation_graph import RelationGraph

        return RelationGraph(relations, node_ids, node_types, features, feature_names, texts)

    @staticmethod
    def from_edges(
        src: Iterable[Any],
        dst: Iterable[Any],
        weight: npt.ArrayLike | None = None,
        *,
        nodes: Iterable[Any] | None = None,
        features: Any = None,
        feature_names: Sequence[str] | None = None,
        symmetrize: Symmetrize = "max",
        drop_negative: bool = False,
    ) -> Graph:
        """Make a graph from two columns of ids; `nodes` can name isolated nodes and fixes the order.

        Parameters
        ----------
        src, dst : iterable of str or int
            The two ends of each edge.
        weight : array-like, optional
            One weight an edge; 1 when not given.
        nodes : iterable of str or int, optional
            Ids that come first, in this order, whether or not they have edges.
        features, feature_names : optional
            Rows in the order of the resulting nodes.
        symmetrize : {"max", "sum", "error"}
            What becomes of a pair that is listed more than once, in either direction.
        drop_negative : bool
            Leave out edges of negative weight instead of refusing them.

        Examples
        --------
        >>> import unseen
        >>> unseen.Graph.from_edges([1, 2, 2], [2, 1, 3], [1.0, 5.0, 1.0]).adjacency.max()
        np.float64(5.0)
        """
        from unseen.data.build import edge_matrix

        adjacency, ids = edge_matrix(src, dst, weight, nodes, symmetrize, drop_negative=drop_negative)
        return Graph(adjacency, features, ids, feature_names)  # type: ignore[arg-type]

    @staticmethod
    def from_scipy(
        adjacency: Any,
        *,
        symmetrize: Symmetrize = "max",
        drop_negative: bool = False,
        node_ids: Iterable[Any] | None = None,
        features: Any = None,
        feature_names: Sequence[str] | None = None,
    ) -> Graph:
        """Make a graph from a square matrix; a directed one is made symmetric as `symmetrize` says.

        Parameters
        ----------
        adjacency : scipy sparse array or ndarray, shape (n, n)
            Weights; a symmetric matrix is taken as it is.
        features, node_ids, feature_names : optional
            As for :class:`Graph`.
        symmetrize : {"max", "sum", "error"}
            Of a directed matrix, ``"max"`` keeps the larger of the two weights of a pair, ``"sum"`` adds
            them, ``"error"`` refuses.
        drop_negative : bool
            Leave out entries of negative weight instead of refusing them.

        Examples
        --------
        >>> import scipy.sparse as sp, unseen
        >>> unseen.Graph.from_scipy(sp.csr_array([[0, 1], [0, 0]])).n_edges
        1
        """
        matrix = make_symmetric(as_adjacency(adjacency, drop_negative=drop_negative), symmetrize)
        return Graph(matrix, features, node_ids, feature_names)  # type: ignore[arg-type]

    @staticmethod
    def from_networkx(
        graph: Any,
        *,
        weight: str | None = "weight",
        features: Any = None,
        symmetrize: Symmetrize = "max",
        **types: str | None,
    ) -> Graph:
        """Make a graph from a networkx graph; nodes keep their order and, as strings or int64, their names.

        Directions, signs and types are kept; ``symmetrize="sum"`` and ``"error"`` ask for an undirected graph.

        Parameters
        ----------
        graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
            Any networkx graph.
        weight : str or None
            Edge attribute that holds the weight; edges without it weigh 1.
        features : str or array, optional
            Node attribute that holds a number or a vector, or a matrix in node order.
        symmetrize : {"max", "sum", "error"}
            What becomes of parallel and opposite edges.
        **types : str or None
            Attributes, None for none: `node_type` ("type"), `edge_type` ("type"), and `sign` ("sign", 1 or -1).

        Examples
        --------
        >>> import networkx, unseen
        >>> unseen.Graph.from_networkx(networkx.path_graph(3))
        Graph(3 nodes, 2 edges, no features)
        """
        from unseen.data.objects import graph_from_networkx

        return graph_from_networkx(graph, weight=weight, features=features, symmetrize=symmetrize, **types)

    @staticmethod
    def from_pyg(data: Any, *, symmetrize: Symmetrize = "max") -> Graph:
        """Make a graph from a PyTorch Geometric ``Data`` or ``HeteroData``: ``edge_index``, ``edge_weight``, ``x``.

        Examples
        --------
        >>> import torch, unseen
        >>> from torch_geometric.data import Data
        >>> unseen.Graph.from_pyg(Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=4))
        Graph(4 nodes, 2 edges, no features)
        """
        from unseen.data.objects_pyg import graph_from_pyg

        return graph_from_pyg(data, symmetrize=symmetrize)

    def to_networkx(self, labels: Any = None) -> Any:
        """Return a networkx graph with weights, features and labels; see :func:`unseen.data.objects.to_networkx`."""
        from unseen.data.objects import to_networkx

        return to_networkx(self, labels)

    def to_pyg(self, labels: Any = None) -> Any:
        """Return a PyTorch Geometric ``Data``; see :func:`unseen.data.objects_pyg.to_pyg`."""
        from unseen.data.objects_pyg import to_pyg

        return to_pyg(self, labels)

    def to_scipy(self) -> sp.csr_array:
        """Return a copy of the adjacency matrix, which may be changed; row i belongs to ``node_ids[i]``."""
        return self.adjacency.copy()
