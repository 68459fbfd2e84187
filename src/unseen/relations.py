"""Relations: kinds of edges, with types, direction and sign; what becomes of entries that are given twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.errors import InputError, counted, logger, unknown_name
from unseen.ids import Ints, Place, Symmetrize, as_html, checked_weights, lock, merged, same, square

Types = tuple[str | None, ...]


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
class Relation:
    """One kind of edges, over the numbering of all nodes of a graph; frozen, its arrays are read-only.

    Parameters
    ----------
    name : str
        What it is called.
    source_type, target_type : str or None
        The types of nodes that it leads from and to; None where nodes have no types.
    matrix : scipy sparse array or ndarray, shape (n, n)
        Finite weights of either sign; entry (i, j) leads from node i to node j. Of an entry that is given several times
        the larger absolute value counts; equal and opposite values are an error.
    directed : bool
        Whether the edges point. If not, the matrix of a relation inside one type is made symmetric by the same rule,
        and that of a relation between two types has an entry in the row of the source only.

    Examples
    --------
    >>> import unseen
    >>> unseen.Relation("likes", "user", "song", [[0, 2.5], [0, 0]])
    Relation('likes', user - song, 1 edge)
    """

    name: str
    source_type: str | None
    target_type: str | None
    matrix: sp.csr_array
    directed: bool = False

    _repr_html_ = as_html

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            msg = f"the name of a relation must be a text, got {self.name!r}"
            raise InputError(msg)
        if (self.source_type is None) != (self.target_type is None):
            msg = f"the relation {self.name!r} leads from {self.source_type!r} to {self.target_type!r}; give both types"
            raise InputError(msg)
        what = f"the matrix of relation {self.name!r}"
        coo = square(self.matrix, what).tocoo()

        def place(k: int) -> str:
            return f"{what}, row {coo.row[k]}, column {coo.col[k]}"

        weight = checked_weights(
            coo.data.astype(np.float64), lambda k: f"{place(k)}: the weight is", negative="keep"
        )
        csr, _, opposite = merged(coo.row, coo.col, weight, coo.shape[0], mirror=not self._one_way)
        if len(opposite):
            msg = f"{place(opposite[0])} has two weights, equal and opposite; leave out one"
            raise InputError(msg)
        lock(csr)
        self.__dict__.update(matrix=csr, directed=bool(self.directed))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        lock(self.matrix)

    def __repr__(self) -> str:
        arrow = "->" if self.directed else "-"
        types = "" if self.source_type is None else f" {self.source_type} {arrow} {self.target_type},"
        return (
            f"Relation({self.name!r},{types or ' directed,' * self.directed} {counted(self.n_edges, 'edge')})"
        )

    @property
    def n_edges(self) -> int:
        """Number of edges; of an undirected relation inside one type each counts once."""
        return int(self.matrix.nnz if self._one_way else (self.matrix.nnz + len(self._loops)) // 2)

    @property
    def n_negative(self) -> int:
        """Number of edges of negative weight."""
        entries = self.matrix if self._one_way else sp.triu(self.matrix)
        return int(np.count_nonzero(entries.data < 0))

    @property
    def _one_way(self) -> bool:
        """Whether the matrix has one entry an edge."""
        return self.directed or self.source_type != self.target_type

    @property
    def _loops(self) -> Ints:
        return np.flatnonzero(self.matrix.diagonal())


def plain_relation(adjacency: sp.csr_array) -> Relation:
    """Return the only relation of a plain graph, whose adjacency has been checked and locked."""
    relation = Relation.__new__(Relation)
    parts = {"name": "edge", "source_type": None, "target_type": None, "matrix": adjacency, "directed": False}
    relation.__dict__.update(parts)
    return relation


def oriented(
    name: str,
    ends: Sequence[int],
    row: Ints,
    column: Ints,
    types: Types,
    codes: Ints,
    directed: bool,
    place: Place,
) -> tuple[Ints, Ints]:
    """Return the entries of a relation from the source to the target type, whose numbers are the `ends`.

    The ends of edges that do not point may come in either order; nodes of a third type are an error.
    """
    source, target = codes[row], codes[column]
    fits = (source == ends[0]) & (target == ends[1])
    turned = ~fits & (source == ends[1]) & (target == ends[0]) & (not directed)
    wrong = np.flatnonzero(~(fits | turned))
    if len(wrong):
        k = int(wrong[0])
        msg = (
            f"{place(k)}: the relation {name!r} leads from {types[ends[0]]!r} to {types[ends[1]]!r}, but here from "
            f"{types[source[k]]!r} to {types[target[k]]!r}; give these edges another type"
        )
        raise InputError(msg)
    return np.where(turned, column, row), np.where(turned, row, column)


def unknown_type(node_type: object, types: Iterable[str | None]) -> InputError:
    """Return the error for a type of nodes that a graph does not have."""
    named = [each for each in types if each is not None]
    if named:
        return unknown_name("node type", node_type, named)
    return InputError(f"the nodes have no types, so that none is called {node_type!r}; take graph.features")


def settled(relations: Sequence[Relation]) -> list[Relation]:
    """Return relations that list every link, where nobody says which of them point.

    One that is another the other way round is not kept beside it. Those between two types do not point, those inside
    one do, unless every link is there both ways.
    """
    kept: list[Relation] = []
    for each in relations:
        turned = each.matrix.T.tocsr()
        twin = next((r for r in kept if r.target_type == each.source_type and same(r.matrix, turned)), None)
        if twin is not None:
            logger.info(
                "the relation %r is %r the other way round, and not kept beside it", each.name, twin.name
            )
            continue
        directed = each.source_type == each.target_type and not same(each.matrix, turned)
        kept.append(replace(each, directed=directed))
    return kept


def check_symmetrize(symmetrize: str) -> None:
    """Raise an `InputError` unless `symmetrize` is one of the three policies."""
    if symmetrize not in ("max", "sum", "error"):
        msg = f"`symmetrize` must be 'max', 'sum' or 'error', got {symmetrize!r}"
        raise InputError(msg)


def symmetric(matrix: sp.csr_array, symmetrize: Symmetrize) -> sp.csr_array:
    """Return `matrix` if it is symmetric, else what `symmetrize` makes of the two directions."""
    check_symmetrize(symmetrize)
    transposed = matrix.T.tocsr()
    if same(matrix, transposed):
        return matrix
    if symmetrize == "error":
        msg = "the adjacency is not symmetric; pass symmetrize='max' or 'sum' to make it so"
        raise InputError(msg)
    check_weights(matrix)  # the larger of two weights, or their sum, would hide a negative one
    if symmetrize == "max":
        logger.info("directed edges made undirected: the larger of the two weights of a pair")
        return matrix.maximum(transposed).tocsr()
    logger.info("directed edges made undirected: the sum of the two weights of a pair")
    with np.errstate(over="ignore"):  # refused in the next lines
        total = (matrix + sp.triu(transposed, 1) + sp.tril(transposed, -1)).tocsr()
    if not np.isfinite(total.data).all():
        msg = "two weights of a pair add up to more than a 64-bit float holds; take symmetrize='max' or smaller weights"
        raise InputError(msg)
    return total


def sparse_adjacency(matrix: Any) -> sp.csr_array:
    """Return a square matrix of real numbers in which every entry stands once."""
    csr = sp.csr_array(square(matrix, "the adjacency")).astype(np.float64)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return csr


def checked_adjacency(matrix: Any) -> sp.csr_array:
    """Return a copy of the adjacency of a plain graph, or raise the error that says why it is none."""
    csr = sparse_adjacency(matrix)
    check_weights(csr)
    if not same(csr, csr.T.tocsr()):
        msg = "the adjacency must be symmetric; Graph.from_scipy makes a directed one so (symmetrize='max' or 'sum')"
        raise InputError(msg)
    return csr


def check_weights(csr: sp.csr_array, *, drop_negative: bool = False) -> None:
    """Raise an `InputError` at a weight that is not finite, or negative; `drop_negative` removes these instead."""

    def where(k: int) -> str:
        row = np.searchsorted(csr.indptr, k, side="right") - 1
        return f"the adjacency, row {row}, column {csr.indices[k]}: the weight is"

    negative = int(np.count_nonzero(csr.data < 0))
    csr.data[:] = checked_weights(csr.data, where, negative="drop" if drop_negative else "refuse")
    if negative:
        logger.info("%d entries of negative weight left out", negative)
        csr.eliminate_zeros()
