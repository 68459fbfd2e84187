"""Sparse matrices whose rows are spread over processes, and the rows of vectors that each needs from the others.

Process p holds the rows ``starts[p]`` to ``starts[p + 1]`` of every tall matrix. To multiply its rows of a sparse
matrix it needs the rows of V that their entries name: its own, and the halo, which other processes send.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.comm.group import SOLO, Array, Comm

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """Which rows belong to which process.

    Examples
    --------
    >>> layout = Layout((0, 10), SOLO)
    >>> layout.n, layout.own, layout.owner(np.array([0, 9])).tolist()
    (10, 10, [0, 0])
    """

    starts: tuple[int, ...]
    comm: Comm

    @property
    def n(self) -> int:
        """Rows of all processes."""
        return self.starts[-1]

    @property
    def first(self) -> int:
        """The first own row."""
        return self.starts[self.comm.rank]

    @property
    def own(self) -> int:
        """Number of own rows."""
        return self.starts[self.comm.rank + 1] - self.first

    def owner(self, rows: Ints) -> Ints:
        """Return the process of each row."""
        return np.asarray(np.searchsorted(self.starts, rows, side="right") - 1, dtype=np.int64)

    def counts(self, rows: Ints) -> list[int]:
        """Return how many of these rows each process has."""
        return [int(k) for k in np.bincount(self.owner(rows), minlength=self.comm.size)]


class Halo:
    """The foreign rows a process needs, and which of its own the others need.

    Parameters
    ----------
    layout : Layout
        Who has what.
    ids : ndarray of int
        Numbers of the foreign rows, sorted.
    """

    def __init__(self, layout: Layout, ids: Ints) -> None:
        self.layout, self.ids = layout, ids
        self.receive = layout.counts(ids) if len(ids) else [0] * layout.comm.size
        asked, self.send = layout.comm.exchange_arrays(ids, self.receive)
        self.rows: Ints = asked - layout.first
        crowded = -(-len(ids) // max(1, layout.own))
        # in so many turns the foreign rows take no more memory than the own ones; all processes take as many
        self.turns = int(layout.comm.gather(np.array([max(1, crowded)])).max())

    @property
    def size(self) -> int:
        """Own rows and foreign ones."""
        return self.layout.own + len(self.ids)

    def foreign(self, V: Array) -> Array:
        """Return the foreign rows of V, given the own ones."""
        import torch

        wanted = torch.from_numpy(np.ascontiguousarray(V[self.rows]))
        return self.layout.comm.exchange(wanted, self.send, self.receive).numpy()

    def extended(self, V: Array) -> Array:
        """Return the own rows of V and the foreign ones below them."""
        whole = np.empty((self.size, *V.shape[1:]), dtype=V.dtype)
        whole[: len(V)] = V
        whole[len(V) :] = self.foreign(V)
        return whole

    def collected(self, V: Array) -> Array:
        """Return the own rows of V plus what the processes hold for them among their foreign rows."""
        import torch

        own, foreign = V[: self.layout.own].copy(), V[self.layout.own :]
        sent = torch.from_numpy(np.ascontiguousarray(foreign))
        came = self.layout.comm.exchange(sent, self.receive, self.send).numpy()
        start = 0
        # one process at a time: it names a row at most once, so that a plain addition will do
        for count in self.send:
            own[self.rows[start : start + count]] += came[start : start + count]
            start += count
        return own


class HaloMatrix:
    """The own rows of a sparse n x n matrix; column k is own row k, or row k - own of the halo.

    The entries of a row stand in the order of their true columns, so that its sum is the same bits on any number of
    processes. :func:`unseen.linalg.products.spmm` multiplies it.

    Attributes
    ----------
    local : scipy CSR array, shape (own, own + halo)
        The entries.
    halo : Halo
        Where the columns come from.
    """

    def __init__(self, local: sp.csr_array, halo: Halo) -> None:
        self.local, self.halo = local, halo

    def __repr__(self) -> str:
        return f"HaloMatrix({self.shape[0]} of {self.shape[1]} rows, {self.nnz} entries)"

    @property
    def shape(self) -> tuple[int, int]:
        """Own rows, and all columns."""
        return self.halo.layout.own, self.halo.layout.n

    @property
    def comm(self) -> Comm:
        """The processes."""
        return self.halo.layout.comm

    @property
    def nnz(self) -> int:
        """Entries of the own rows."""
        return int(self.local.nnz)

    def with_values(self, data: Array) -> HaloMatrix:
        """Return a matrix of the same pattern."""
        made = sp.csr_array((data, self.local.indices, self.local.indptr), shape=self.local.shape)
        return HaloMatrix(made, self.halo)

    def astype(self, dtype: npt.DTypeLike) -> HaloMatrix:
        """Return the matrix with values of another type."""
        return self.with_values(self.local.data.astype(dtype))

    def row_sums(self) -> npt.NDArray[np.float64]:
        """Return the sums of the own rows."""
        return np.asarray(self.local.sum(axis=1), dtype=np.float64)

    def columns(self) -> Ints:
        """Return the true column of every entry."""
        own, indices = self.halo.layout.own, self.local.indices
        names = np.concatenate([self.halo.layout.first + np.arange(own, dtype=np.int64), self.halo.ids])
        return np.asarray(names[indices])

    def diagonal(self) -> Array:
        """Return the own entries of the diagonal."""
        return np.asarray(self.local[:, : self.shape[0]].diagonal())


def halo_matrix(layout: Layout, indptr: Array, columns: Ints, data: Array) -> HaloMatrix:
    """Return a spread matrix from the own rows with true columns, sorted within a row; all processes call it.

    Examples
    --------
    >>> matrix = halo_matrix(Layout((0, 2), SOLO), np.array([0, 1, 2]), np.array([1, 0]), np.ones(2))
    >>> matrix.local.toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    own = (columns >= layout.first) & (columns < layout.first + layout.own)
    ids = np.unique(columns[~own])
    local = np.where(own, columns - layout.first, layout.own + np.searchsorted(ids, columns))
    halo = Halo(layout, ids)
    return HaloMatrix(_csr(data, local, indptr, (layout.own, halo.size)), halo)


def _csr(data: Array, indices: Array, indptr: Array, shape: Sequence[int]) -> sp.csr_array:
    small = max(*shape, len(indices)) < 2**31
    kind = np.int32 if small else np.int64
    made = sp.csr_array(
        (data, indices.astype(kind, copy=False), indptr.astype(kind, copy=False)), shape=shape
    )
    made.has_sorted_indices = False  # they stand in the order of the true columns, which must stay
    return made


def comm_of(matrix: Any) -> Comm:
    """Return the processes over which the rows of a matrix are spread; :data:`SOLO` for any other matrix."""
    return matrix.comm if isinstance(matrix, HaloMatrix) else SOLO
