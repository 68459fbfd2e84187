"""Labels and same-class neighbours of nodes that are spread over processes.

Which nodes of a class are candidates of which depends on all of them, so each process knows the key, the class and
the number of every labelled node: 24 bytes each. Vectors are fetched for candidates of own nodes only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.comm.group import Comm
from unseen.comm.halo import Halo, HaloMatrix, Layout, halo_matrix
from unseen.linalg.labelled import Groups
from unseen.linalg.neighbours import Neighbours, draw_candidates, nearest_of_candidates, pairs_of

Dense = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]


def spread_groups(indicator: sp.csr_array, comm: Comm) -> Groups:
    """Return the groups of own nodes with at most one label each, numbered as all processes number them.

    Examples
    --------
    >>> from unseen.comm import SOLO
    >>> spread_groups(sp.csr_array([[0, 0, 1], [0, 0, 0], [1, 0, 0]]), SOLO).of_node.tolist()
    [1, -1, 0]
    """
    counts = comm.sum_(np.bincount(indicator.indices, minlength=indicator.shape[1]).astype(np.int64))
    number = np.cumsum(counts > 0) - 1
    of_node = np.full(indicator.shape[0], -1, dtype=np.int64)
    of_node[np.diff(indicator.indptr) > 0] = number[indicator.indices]
    return Groups(of_node, None)


@dataclass(frozen=True)
class SpreadNeighbours:
    """Chosen pairs by the numbers of the nodes; `rows` are own ones."""

    layout: Layout
    rows: Ints
    columns: Ints

    def symmetric(self, n: int, dtype: npt.DTypeLike = np.float64) -> HaloMatrix:
        """Return the own rows of (S + S') / 2."""
        owner = self.layout.owner(self.columns)
        order = np.argsort(owner, kind="stable")
        sent = np.column_stack([self.columns, self.rows])[order]
        back, _ = self.layout.comm.exchange_arrays(sent, self.layout.counts(self.columns))
        rows = np.concatenate([self.rows, back[:, 0]]) - self.layout.first
        columns = np.concatenate([self.columns, back[:, 1]])
        half = np.full(len(rows), 0.5, dtype=dtype)
        S = sp.coo_array((half, (rows, columns)), shape=(self.layout.own, n)).tocsr()
        S.sort_indices()
        return halo_matrix(self.layout, S.indptr, S.indices.astype(np.int64), S.data)


class SpreadCandidates:
    """Candidates of own labelled nodes, drawn once; calling it finds the nearest of them.

    Parameters
    ----------
    layout : Layout
        Who has which nodes.
    groups : Groups
        Of own nodes, see :func:`spread_groups`.
    keys : ndarray of uint64
        Of own nodes.
    count : int
        How many candidates a node has.
    k : int
        How many of them to choose.
    """

    def __init__(
        self, layout: Layout, groups: Groups, keys: npt.NDArray[np.uint64], count: int, k: int
    ) -> None:
        self.layout, self.k = layout, k
        own = np.flatnonzero(groups.of_node >= 0)
        gather = layout.comm.gather
        number = gather(own + layout.first)
        everyone = Groups(gather(groups.of_node[own]), None)
        all_keys = gather(keys[own].view(np.int64)).view(np.uint64)
        mine = (number >= layout.first) & (number < layout.first + layout.own)
        drawn = draw_candidates(everyone, all_keys, count, only=mine)
        # keep what own nodes need; numbers rise, so that equal distances are settled as on one process
        needed = np.flatnonzero(mine | (np.bincount(drawn.indices, minlength=len(number)) > 0))
        self.candidates = sp.csr_array(drawn[needed][:, needed])
        self.numbers = number[needed]
        self._own = mine[needed]
        self._halo = Halo(layout, self.numbers[~self._own])

    def nearest(self, U: Dense) -> SpreadNeighbours:
        """Return the nearest candidates of own nodes, given the own rows of U."""
        vectors = np.empty((len(self.numbers), U.shape[1]), dtype=U.dtype)
        vectors[self._own] = U[self.numbers[self._own] - self.layout.first]
        vectors[~self._own] = self._halo.foreign(U)
        return self._named(nearest_of_candidates(vectors, self.candidates, self.k))

    def all(self) -> SpreadNeighbours:
        """Return all candidates as chosen."""
        return self._named(pairs_of(self.candidates))

    def _named(self, found: Neighbours) -> SpreadNeighbours:
        return SpreadNeighbours(self.layout, self.numbers[found.rows], self.numbers[found.columns])
