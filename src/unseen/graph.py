"""The graph value: relations between nodes, optional features, and an id for every row."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.errors import InputError, counted, logger, unknown_type
from unseen.ids import (
    Array,
    IdArray,
    Ints,
    Stored,
    Types,
    Value,
    check_features,
    check_row_ids,
    check_texts,
    lock,
    narrow_indices,
    require_unique,
)
from unseen.ids import Features as Features
from unseen.weights import Relation, as_adjacency, is_same, make_symmetric, select_rows
from unseen.weights import Symmetrize as Symmetrize


@dataclass(frozen=True)
class Need:
    """What a method can use of a graph; :meth:`unseen.Graph.view` leaves out the rest.

    Parameters
    ----------
    directed : bool
        Edge directions. Without them the edges of a pair become one edge with the largest absolute weight.
    signed : bool
        Negative weights. Without them such edges are left out, and counted.
    typed : bool
        Types of nodes and several relations. Without them there is one kind of edge, and the features of all types
        are concatenated, with zeros for the nodes of other types.

    Examples
    --------
    >>> import unseen
    >>> unseen.Need(signed=True)
    Need(directed=False, signed=True, typed=False)
    """

    directed: bool = False
    signed: bool = False
    typed: bool = False


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Graph(Value):
    """Nodes and weighted edges; everything is checked once, here, and read-only afterwards.

    A graph holds one or several relations. `adjacency` and `features` are those of its undirected, unsigned,
    single-type view, which is the graph itself unless it was made by :meth:`from_relations`.

    Parameters
    ----------
    adjacency : scipy sparse array or ndarray, shape (n, n)
        Symmetric, finite, not negative. Self-loops are kept. Use :meth:`from_scipy` or
        :meth:`from_edges` for directed input.
    features : scipy sparse array or ndarray, shape (n, m), optional
        Finite numbers, at least one column; None where nodes have no features. Sparse features stay sparse.
    node_ids : sequence of str or int, optional
        One unique id per row; 0 ... n - 1 when not given.
    feature_names : sequence of str, optional
        One name per feature column.
    texts : sequence of str, optional
        One text per node, to show to people; empty where a node has none. Methods do not read it.
    relations, node_types
        Instead of the adjacency, see :meth:`from_relations`.

    Examples
    --------
    >>> import unseen
    >>> graph = unseen.Graph.from_edges(["a", "b"], ["b", "c"], nodes=["a", "b", "c", "alone"])
    >>> graph
    Graph(4 nodes, 2 edges, no features)
    >>> graph.node_ids.tolist()
    ['a', 'b', 'c', 'alone']
    """

    relations: tuple[Relation, ...]
    """The kinds of edges, with direction and sign."""
    node_ids: IdArray
    """The id of each row."""
    types: Types
    """The types of nodes, in the order of first appearance; None stands for the only one."""
    stored_features: Stored
    """The features of each type that has some, and the names of their columns."""
    texts: Array | None
    """The text of each node, if there are texts."""
    _codes: Ints | None
    _views: dict[Need, tuple[Graph, str]]

    def __init__(
        self,
        adjacency: Any = None,
        features: Any = None,
        node_ids: Iterable[Any] | None = None,
        feature_names: Any = None,
        texts: Iterable[Any] | None = None,
        *,
        relations: Iterable[Relation] | None = None,
        node_types: Iterable[Any] | None = None,
        _checked: bool = False,  # for an adjacency that this package has made by the rules above
    ) -> None:
        if (adjacency if relations is not None else node_types) is not None:
            msg = "give an adjacency, or `relations` with the `node_types`, not parts of both; see Graph.from_relations"
            raise InputError(msg)
        types: Types = (None,)
        codes = None
        checked = () if relations is None else tuple(relations)
        if relations is None:
            csr = adjacency if _checked else as_adjacency(adjacency)
            if not _checked and not is_same(csr, csr.T.tocsr()):
                msg = "the adjacency must be symmetric; Graph.from_scipy makes a directed one so (see symmetrize)"
                raise InputError(msg)
            checked = (Relation("edge", None, None, narrow_indices(csr), _checked=True),)
        elif node_types is not None or [getattr(each, "source_type", "") for each in checked] != [None]:
            from unseen.relations import check_relations

            checked, types, codes = check_relations(checked, node_types)
        n = checked[0].matrix.shape[0]
        source = "the adjacency has" if relations is None else "the relations have"
        self._hold(
            relations=checked,
            node_ids=check_row_ids(node_ids, n, f"{source} {n} rows"),
            types=types,
            stored_features=check_features(features, feature_names, types, codes, n),
            texts=check_texts(texts, n),
            _codes=codes,
        )

    def _hold(self, **parts: Any) -> None:
        stored = [matrix for matrix, _ in parts["stored_features"].values()]
        lock(parts["node_ids"], parts["texts"], parts["_codes"], *stored)
        self.__dict__.update(parts, _views={})

    def _derive(self, **parts: Any) -> Graph:
        """Return a graph with some parts changed, all of which have been checked before."""
        names = ("relations", "node_ids", "types", "stored_features", "texts", "_codes")
        graph = copy.copy(self)
        graph.__dict__.clear()  # views and other cached values
        graph._hold(**{name: self.__dict__[name] for name in names} | parts)
        return graph

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        lock(*(matrix for matrix, _ in self.stored_features.values()))

    def __repr__(self) -> str:
        nodes = f"{self.n_nodes} nodes" + (f" of {len(self.types)} types" if len(self.types) > 1 else "")
        kinds = [f"{len(self.relations)} relations"] if len(self.relations) > 1 else []
        flags = [word for word in ("directed", "signed") if getattr(self, f"is_{word}")]
        widths = [matrix.shape[1] for matrix, _ in self.stored_features.values()]
        width = f"{widths[0] if widths else 'no'} features"
        if widths and len(self.types) > 1:
            width = f"features of {counted(len(widths), 'type')}"
        return f"Graph({', '.join([nodes, *kinds, f'{self.n_edges} edges', *flags, width])})"

    @cached_property
    def adjacency(self) -> sp.csr_array:
        """The symmetric matrix of weights of the undirected, unsigned, single-type view."""
        return self.plain.relations[0].matrix

    @property
    def features(self) -> Features | None:
        """The features of all nodes; where these are of several types, concatenated."""
        return self._columns[0]

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns of `features`: ``author:word`` where there are several types."""
        return self._columns[1]

    @cached_property
    def _columns(self) -> tuple[Features | None, tuple[str, ...] | None]:
        if len(self.types) == 1:
            return self.stored_features.get(self.types[0], (None, None))
        from unseen.relations import concatenate_features

        columns = concatenate_features(self)
        lock(columns[0])
        return columns

    @cached_property
    def codes(self) -> Ints:
        """The number of each node's type."""
        return np.zeros(self.n_nodes, dtype=np.int64) if self._codes is None else self._codes

    @cached_property
    def node_types(self) -> Array | None:
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
        """Number of edges of all relations; an undirected one inside one type counts once, and so does a self-loop."""
        return sum(relation.n_edges for relation in self.relations)

    @property
    def n_self_loops(self) -> int:
        """Number of nodes that have an edge to themselves."""
        return int(np.any([each.matrix.diagonal() != 0 for each in self.relations], axis=0).sum())

    @property
    def isolated(self) -> npt.NDArray[np.bool_]:
        """Mask of the nodes that have no edge to another node."""
        is_isolated = np.ones(self.n_nodes, dtype=bool)
        for csr in (relation.matrix for relation in self.relations):
            ends = np.diff(csr.indptr) + np.bincount(csr.indices, minlength=self.n_nodes)
            is_isolated &= ends == 2 * (csr.diagonal() != 0)
        return is_isolated

    @property
    def is_directed(self) -> bool:
        """Whether the edges of a relation have a direction."""
        return any(relation.directed for relation in self.relations)

    @cached_property
    def is_signed(self) -> bool:
        """Whether some weights are negative."""
        return any(bool(relation.matrix.data.min(initial=0.0) < 0) for relation in self.relations)

    @property
    def is_heterogeneous(self) -> bool:
        """Whether there are several types of nodes, or several relations."""
        return len(self.types) > 1 or len(self.relations) > 1

    @property
    def is_plain(self) -> bool:
        """Whether the graph is undirected, unsigned and of one type."""
        return not (self.is_directed or self.is_signed or self.is_heterogeneous)

    @property
    def plain(self) -> Graph:
        """The undirected, unsigned, single-type view, without the notice of :meth:`view`."""
        return self._view(Need())[0]

    def view(self, need: Need) -> Graph:
        """Return the graph without what `need` does not ask for, and log once what was left out."""
        if not isinstance(need, Need):
            msg = f"`need` must be an unseen.Need, got {type(need).__name__}"
            raise InputError(msg)
        graph, notice = self._view(need)
        if notice:
            logger.info(notice)
            self._views[need] = (graph, "")
        return graph

    def _view(self, need: Need) -> tuple[Graph, str]:
        """Return a view and the notice about it, which is empty once it was logged."""
        if need not in self._views:
            has = Need(self.is_directed, self.is_signed, self.is_heterogeneous)
            kept = Need(has.directed and need.directed, has.signed and need.signed, has.typed and need.typed)
            if kept == has:
                return self, ""
            from unseen.relations import fold_relations

            relations, notice = fold_relations(self, kept)
            parts: dict[str, Any] = {"relations": relations}
            if not kept.typed:
                stored = {} if self.features is None else {None: self._columns}
                parts |= {"types": (None,), "_codes": None, "stored_features": stored}
            self._views[need] = (self._derive(**parts), notice)
        return self._views[need]

    def rows_of(self, node_type: str | None) -> Ints:
        """Return the row numbers of the nodes of one type."""
        if node_type not in self.types:
            raise unknown_type(node_type, self.types)
        return np.flatnonzero(self.codes == self.types.index(node_type))

    def features_of(self, node_type: str) -> Features | None:
        """Return the features of the nodes of one type, in their order; None where it has none."""
        if node_type not in self.types:
            raise unknown_type(node_type, self.types)
        return self.stored_features.get(node_type, (None, None))[0]

    def subgraph(self, rows: Any) -> Graph:
        """Return the graph of these rows, in their order, and the edges between them; itself for all rows in order.

        Examples
        --------
        >>> import unseen
        >>> unseen.Graph.from_edges(["a", "b"], ["b", "c"]).subgraph([2, 1]).node_ids.tolist()
        ['c', 'b']
        """
        rows = np.arange(self.n_nodes)[rows]
        if np.array_equal(rows, np.arange(self.n_nodes)):
            return self
        node_ids = self.node_ids[rows]
        require_unique(node_ids)
        types, codes = self.types, self._codes
        if codes is None:
            stored = {key: (matrix[rows], names) for key, (matrix, names) in self.stored_features.items()}
        else:
            from unseen.relations import select_types

            types, codes, stored = select_types(self, rows)
        inside = [r for r in self.relations if {r.source_type, r.target_type} <= set(types)]
        relations = [select_rows(relation, rows) for relation in inside]
        if not relations:  # no relation joins these types
            empty = sp.csr_array((len(rows), len(rows)))
            relations = [Relation("edge", types[0], types[0], empty, _checked=True)]
        return self._derive(
            relations=tuple(relations),
            node_ids=node_ids,
            types=types,
            stored_features=stored,
            texts=None if self.texts is None else self.texts[rows],
            _codes=None if len(types) == 1 else codes,
        )

    def with_features(
        self, features: Any, feature_names: Any = None, texts: Iterable[Any] | None = None
    ) -> Graph:
        """Return the same nodes and edges with other features, or with none.

        Parameters
        ----------
        features, feature_names
            As for :class:`Graph`; where nodes are of several types, as for :meth:`from_relations`.
        texts : sequence of str, optional
            As for :class:`Graph`; those of this graph when not given.

        Examples
        --------
        >>> import unseen
        >>> unseen.Graph([[0, 1], [1, 0]], [[1.0], [2.0]]).with_features(None)
        Graph(2 nodes, 1 edges, no features)
        """
        stored = check_features(features, feature_names, self.types, self._codes, self.n_nodes)
        own = self.texts if texts is None else check_texts(texts, self.n_nodes)
        return self._derive(stored_features=stored, texts=own)

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
        return Graph(
            None, features, node_ids, feature_names, texts, relations=relations, node_types=node_types
        )

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
            How to combine repeated edges, in either direction.
        drop_negative : bool
            Leave out edges of negative weight instead of refusing them.

        Examples
        --------
        >>> import unseen
        >>> unseen.Graph.from_edges([1, 2, 2], [2, 1, 3], [1.0, 5.0, 1.0]).adjacency.max()
        np.float64(5.0)
        """
        from unseen.data.build import build_adjacency

        adjacency, ids = build_adjacency(src, dst, weight, nodes, symmetrize, drop_negative=drop_negative)
        return Graph(adjacency, features, ids, feature_names)

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
        return Graph(matrix, features, node_ids, feature_names)

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
            How to combine parallel and opposite edges.
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
