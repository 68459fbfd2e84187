"""Edges: relations with their weights, and how repeated and opposite entries are combined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import InitVar, dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from unseen.errors import InputError, counted, logger
from unseen.ids import Floats, Ints, Mask, Value, lock

Negative = Literal["refuse", "drop", "absolute", "keep"]
"""How negative weights are handled."""
Symmetrize = Literal["max", "sum", "error"]
"""How the weights of a pair that is listed more than once, in either direction, are combined."""


@dataclass(frozen=True, eq=False)
class Relation(Value):
    """One kind of edges, over the numbering of all nodes of a graph; frozen, its arrays are read-only.

    Parameters
    ----------
    name : str
        The name of the relation.
    source_type, target_type : str or None
        The types of nodes at its two ends; None where nodes have no types.
    matrix : scipy sparse array or ndarray, shape (n, n)
        Finite weights of either sign; entry (i, j) is an edge from node i to node j. Of repeated entries the one with
        the largest absolute value counts; equal and opposite values are an error.
    directed : bool
        Whether the edges have a direction. If not, the matrix of a relation inside one type is made symmetric by the
        same rule, and that of a relation between two types has an entry in the row of the source only.

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
    _checked: InitVar[bool] = False  # for matrices that this package has made by the rules above

    def __post_init__(self, _checked: bool) -> None:
        matrix = self.matrix if _checked else self._check()
        lock(matrix)
        self.__dict__.update(matrix=matrix, directed=bool(self.directed))

    def _check(self) -> sp.csr_array:
        """Return the matrix with each entry once, or raise an `InputError` that names what is wrong."""
        if not isinstance(self.name, str) or not self.name:
            msg = f"the name of a relation must be a text, got {self.name!r}"
            raise InputError(msg)
        if (self.source_type is None) != (self.target_type is None):
            msg = f"the relation {self.name!r} leads from {self.source_type!r} to {self.target_type!r}; give both types"
            raise InputError(msg)
        what = f"the matrix of relation {self.name!r}"
        coo = as_square(self.matrix, what).tocoo()

        def place(k: int) -> str:
            return f"{what}, row {coo.row[k]}, column {coo.col[k]}"

        weight = check_weights(
            coo.data.astype(np.float64), lambda k: f"{place(k)}: the weight is", negative="keep"
        )
        if not weight.all():
            msg = f"{place(int(np.argmin(weight != 0)))}: the weight is 0; leave such entries out (eliminate_zeros)"
            raise InputError(msg)
        csr, _, opposite = merge_entries(coo.row, coo.col, weight, coo.shape[0], mirror=self._has_mirror)
        if len(opposite):
            msg = f"{place(opposite[0])} has two weights, equal and opposite; leave out one"
            raise InputError(msg)
        return csr

    def __repr__(self) -> str:
        arrow = "->" if self.directed else "-"
        types = "" if self.source_type is None else f" {self.source_type} {arrow} {self.target_type},"
        return (
            f"Relation({self.name!r},{types or ' directed,' * self.directed} {counted(self.n_edges, 'edge')})"
        )

    @property
    def n_edges(self) -> int:
        """Number of edges; in an undirected relation inside one type each counts once."""
        loops = np.count_nonzero(self.matrix.diagonal())
        return int((self.matrix.nnz + loops) // 2 if self._has_mirror else self.matrix.nnz)

    @property
    def n_negative(self) -> int:
        """Number of edges of negative weight."""
        return int(np.count_nonzero(self.entries.data < 0))

    @property
    def entries(self) -> Any:
        """The matrix with one entry per edge."""
        return sp.triu(self.matrix) if self._has_mirror else self.matrix

    @property
    def _has_mirror(self) -> bool:
        """Whether an edge between two nodes has an entry in both of their rows."""
        return not self.directed and self.source_type == self.target_type


def select_rows(relation: Relation, rows: Ints) -> Relation:
    """Return the edges between the nodes of these rows, in their order, each of which occurs once."""
    matrix = relation.matrix[rows][:, rows]
    matrix.sort_indices()
    ends = relation.source_type, relation.target_type
    return Relation(relation.name, *ends, matrix, relation.directed, _checked=True)


def as_square(matrix: Any, what: str) -> Any:
    """Return a square matrix of real numbers as a sparse array; repeated entries stay."""
    try:
        own = matrix if sp.issparse(matrix) else sp.csr_array(matrix)
    except (TypeError, ValueError):
        msg = f"{what} must be a matrix of real numbers, got {type(matrix).__name__}"
        raise InputError(msg) from None
    if own.ndim != 2 or own.shape[0] != own.shape[1]:
        msg = f"{what} must be square, got shape {own.shape}"
        raise InputError(msg)
    if own.dtype.kind not in "fiub":
        msg = f"{what} must hold real numbers, got dtype {own.dtype}"
        raise InputError(msg)
    return own


def as_adjacency(matrix: Any, *, drop_negative: bool = False) -> sp.csr_array:
    """Return a copy of a square matrix whose weights are finite and not negative, each entry once."""
    csr = sp.csr_array(as_square(matrix, "the adjacency")).astype(np.float64)
    csr.sum_duplicates()
    csr.eliminate_zeros()

    def where(k: int) -> str:
        row = np.searchsorted(csr.indptr, k, side="right") - 1
        return f"the adjacency, row {row}, column {csr.indices[k]}: the weight is"

    n_negative = int(np.count_nonzero(csr.data < 0))
    csr.data[:] = check_weights(csr.data, where, negative="drop" if drop_negative else "refuse")
    if n_negative:
        logger.info("%s left out", counted(n_negative, "negative weight"))
        csr.eliminate_zeros()
    return csr


def check_weights(weights: Floats, where: Callable[[int], str], *, negative: Negative) -> Floats:
    """Return finite weights, negative ones as `negative` says (0 where they are dropped).

    `where` begins the sentence about an entry: "line 3: the weight is".
    """
    bad = np.flatnonzero(~np.isfinite(weights))
    if len(bad):
        msg = f"{where(int(bad[0]))} {weights[bad[0]]:g}; edge weights must be finite numbers"
        raise InputError(msg)
    below = np.flatnonzero(weights < 0)
    if not len(below) or negative == "keep":
        return weights
    if negative == "refuse":
        msg = (
            f"{where(int(below[0]))} {weights[below[0]]:g}; negative weights are kept by Graph.from_relations and "
            "read only, leave such edges out with drop_negative=True (--drop-negative)"
        )
        raise InputError(msg)
    return np.maximum(weights, 0.0) if negative == "drop" else np.abs(weights)


def check_symmetrize(symmetrize: str) -> None:
    """Raise an `InputError` unless `symmetrize` is one of the three policies."""
    if symmetrize not in ("max", "sum", "error"):
        msg = f"`symmetrize` must be 'max', 'sum' or 'error', got {symmetrize!r}"
        raise InputError(msg)


def make_symmetric(matrix: sp.csr_array, symmetrize: Symmetrize) -> sp.csr_array:
    """Return `matrix` if it is symmetric, else both directions combined as `symmetrize` says."""
    check_symmetrize(symmetrize)
    transposed = matrix.T.tocsr()
    if is_same(matrix, transposed):
        return matrix
    if symmetrize == "error":
        msg = "the adjacency is not symmetric; pass symmetrize='max' or 'sum' to make it so"
        raise InputError(msg)
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


def is_same(a: sp.csr_array, b: sp.csr_array) -> bool:
    """Return whether two matrices without repeated entries are equal; sorts the indices of the second."""
    b.sort_indices()
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("indptr", "indices", "data"))


def merge_entries(
    row: Ints, column: Ints, weight: Floats | None, n: int, *, mirror: bool, add: bool = False
) -> tuple[sp.csr_array, Ints, Ints]:
    """Return the matrix of these entries, with their transposes if `mirror`; without `weight` each has the weight 1.

    Second come the pairs of entries that repeat an earlier one, as row * n + column; third the entries that are equal
    and opposite to another: such pairs are left out. :func:`combine_repeats` says what a repeated entry is worth.
    """
    key = (np.minimum(row, column) if mirror else row).astype(np.int64)
    key *= n
    key += np.maximum(row, column) if mirror else column
    if weight is None and not add:
        key.sort()
    else:
        order = np.argsort(key, kind="stable")
        key, weight = key[order], np.ones(len(key)) if weight is None else weight[order]
    is_first = np.ones(len(key), dtype=bool)
    np.not_equal(key[1:], key[:-1], out=is_first[1:])
    repeats, opposite = key[~is_first], np.zeros(0, dtype=np.int64)
    if len(repeats) and weight is not None:
        starts = np.flatnonzero(is_first)
        value, is_opposite = combine_repeats(weight, starts, add=add)
        if is_opposite.any():
            group, least = np.cumsum(is_first) - 1, np.minimum.reduceat(weight, starts)
            opposite = order[is_opposite[group] & (weight == least[group])]
        weight = value
    index = np.int32 if n < 2**31 else np.int64
    i, j = (each.astype(index) for each in np.divmod(key[is_first], max(n, 1)))
    del key, is_first
    off = (i != j) & mirror  # transposes come first: columns are in order then
    ends = np.r_[j[off], i], np.r_[i[off], j]
    values = np.ones(len(ends[0])) if weight is None else np.r_[weight[off], weight]
    del i, j, off
    csr = sp.coo_array((values, ends), shape=(n, n)).tocsr()
    if weight is not None:
        csr.eliminate_zeros()
    return csr, repeats, opposite


def combine_repeats(weight: Floats, starts: Ints, *, add: bool) -> tuple[Floats, Mask]:
    """Return the weight of each pair, and which are equal and opposite, given where the entries of each pair begin.

    The one place that combines repeated edges: the larger absolute value counts, or the sum if `add`;
    equal and opposite values are 0. A sum that overflows is infinite, and refused by whoever keeps it.

    Examples
    --------
    >>> combine_repeats(np.array([1.0, -3.0, 2.0, -2.0]), np.array([0, 2]), add=False)[0].tolist()
    [-3.0, 0.0]
    """
    with np.errstate(over="ignore"):
        value = (np.add if add else np.maximum).reduceat(weight, starts)
    if add or weight.min() >= 0:
        return value, np.zeros(len(starts), dtype=bool)
    least = np.minimum.reduceat(weight, starts)
    opposite = (value > 0) & (value == -least)
    return np.where(opposite, 0.0, np.where(value > -least, value, least)), opposite
