"""Relations: kinds of edges, with types, direction and sign; and what a method can use of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.errors import InputError, counted
from unseen.ids import checked_weights, is_symmetric, lock, square_csr

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


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

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            msg = f"the name of a relation must be a text, got {self.name!r}"
            raise InputError(msg)
        if (self.source_type is None) != (self.target_type is None):
            msg = f"the relation {self.name!r} leads from {self.source_type!r} to {self.target_type!r}; give both types"
            raise InputError(msg)
        what = f"the matrix of relation {self.name!r}"
        csr = square_csr(self.matrix, what, add=False)
        coo = csr.tocoo()
        checked_weights(
            coo.data,
            lambda k: f"{what}, row {coo.row[k]}, column {coo.col[k]}: the weight is",
            negative="keep",
        )
        row, column, weight = coo.row.astype(np.int64), coo.col.astype(np.int64), coo.data
        once = csr.has_canonical_format
        if not self._one_way and not (once and is_symmetric(csr)):
            row, column, weight = both_ways(row, column, weight)
            once = False
        if not once:
            csr = self._merged(row, column, weight, csr.shape[0])
        csr.eliminate_zeros()
        lock(csr)
        self.__dict__.update(matrix=csr, directed=bool(self.directed))

    def _merged(self, row: Ints, column: Ints, weight: Floats, n: int) -> sp.csr_array:
        csr, opposite = strongest(row, column, weight, n)
        if len(opposite):
            i, j = opposite[0]
            msg = f"the relation {self.name!r} gives row {i}, column {j} two weights, equal and opposite; leave out one"
            raise InputError(msg)
        return csr

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


def both_ways(row: Ints, column: Ints, weight: Floats) -> tuple[Ints, Ints, Floats]:
    """Return entries and their transposes, each once where the entries have both already."""
    return np.r_[row, column], np.r_[column, row], np.r_[weight, weight]


def stronger(most: Floats, least: Floats) -> tuple[Floats, Ints]:
    """Return of two weights that of the larger absolute value, 0 where they are opposite, and where that is."""
    weight = np.where(most > -least, most, np.where(most < -least, least, 0.0))
    return weight, np.flatnonzero((most > 0) & (most == -least))


def strongest(row: Ints, column: Ints, weight: Floats, n: int) -> tuple[sp.csr_array, list[tuple[int, int]]]:
    """Return the matrix in which the larger absolute value of each entry counts.

    Entries whose largest values are equal and opposite are left out; their places come second.
    """
    key = row * n + column
    order = np.argsort(key, kind="stable")
    key, weight = key[order], weight[order]
    starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if len(key) else np.zeros(0, dtype=np.int64)
    if len(starts) < len(key):
        most, least = np.maximum.reduceat(weight, starts), np.minimum.reduceat(weight, starts)
        weight, odd = stronger(most, least)
        opposite = key[starts][odd]
    else:
        opposite = np.zeros(0, dtype=np.int64)
    i, j = np.divmod(key[starts], max(n, 1))
    csr = sp.coo_array((weight, (i, j)), shape=(n, n)).tocsr()
    csr.eliminate_zeros()
    return csr, [divmod(int(k), n) for k in opposite]
