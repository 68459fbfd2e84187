"""The k nearest nodes of the same class: exact, or among candidates that were drawn once.

Two nodes are of the same class if they share a label. The exact search is brute force in blocks: a matrix
product gives the distances of a block of nodes to their class. It is the only part of RSDNE that is not linear
in the graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.engine.comm import Halo, Layout
from unseen.engine.run import Run
from unseen.engine.sparse import Matrix, spread_matrix
from unseen.ids import Array, Ints, Keys, Mask
from unseen.linalg.labelled import Groups

ROWS, DISTANCES = 1024, 1 << 23
"""Nodes, and distances, of a block: one that is in memory at a time."""
CANDIDATES = 8192
"""Candidates looked at in a block: their vectors stay in the cache."""
SPARE = 4
"""Candidates kept beyond k, so that rounding in the matrix product cannot drop a true neighbour unnoticed."""


@dataclass(frozen=True)
class Neighbours:
    """Pairs: node `rows[t]` has the intra-class neighbour `columns[t]`, both by their numbers in the whole graph.

    Attributes
    ----------
    rows, columns : ndarray of int
        The entries of S; rows are own nodes.
    """

    rows: Ints
    columns: Ints

    def symmetric(self, layout: Layout, run: Run, dtype: npt.DTypeLike = np.float64) -> Matrix:
        """Return the own rows of (S + S') / 2."""
        order = np.argsort(layout.owner(self.columns), kind="stable")
        sent = np.column_stack([self.columns, self.rows])[order]
        back, _ = layout.comm.exchange_arrays(sent, layout.counts(self.columns))
        rows, columns = np.vstack([np.column_stack([self.rows, self.columns]), back]).T
        half = np.full(len(rows), 0.5, dtype=dtype)
        S = sp.coo_array((half, (rows - layout.first, columns)), shape=(layout.n_rows, layout.n)).tocsr()
        S.sort_indices()
        return spread_matrix(layout, run, S.indptr, S.indices.astype(np.int64), S.data)


def pools(groups: Groups) -> list[tuple[Ints, Ints]]:
    """Return (members, pool) of every group: its nodes, and all nodes that share a label with them."""
    labelled = np.flatnonzero(groups.of_node >= 0)
    order = labelled[np.argsort(groups.of_node[labelled], kind="stable")]
    sizes = np.bincount(groups.of_node[labelled], minlength=groups.count)
    members = np.split(order, np.cumsum(sizes)[:-1]) if groups.count else []
    if groups.related is None:
        return [(own, own) for own in members]
    related = groups.related
    pairs = []
    for g, own in enumerate(members):
        friends = related.indices[related.indptr[g] : related.indptr[g + 1]]
        pairs.append((own, np.sort(np.concatenate([members[h] for h in friends]))))
    return pairs


def nearest_in_class(U: Array, groups: Groups, k: int, run: Run) -> Neighbours:
    """Return the `k` nearest nodes of the same class for every labelled node, or as many as there are.

    Ties go to the lower row number.

    Examples
    --------
    >>> from unseen.linalg.labelled import label_groups
    >>> U = np.array([[0.0], [1.0], [1.5], [9.0]])
    >>> nearest_in_class(U, label_groups(sp.csr_array([[1], [1], [1], [1]]), Run()), 1, Run()).columns.tolist()
    [1, 2, 1, 2]
    """
    blocks = [
        (rows, pool)
        for members, pool in pools(groups)
        if len(pool) > 1
        for rows in np.array_split(members, -(-len(members) // max(1, min(ROWS, DISTANCES // len(pool)))))
    ]

    def search(block: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        rows, pool = block
        keep = min(k + SPARE, len(pool) - 1)
        right = U[pool]
        score = U[rows] @ right.T
        score *= -2
        score += np.einsum(
            "ij,ij->i", right, right
        )  # the squared distance less that of the row to the origin
        place = np.minimum(
            np.searchsorted(pool, rows), len(pool) - 1
        )  # of a row itself, where it is in the pool
        inside = np.flatnonzero(pool[place] == rows)
        score[inside, place[inside]] = np.inf
        among = pool[np.argpartition(score, keep - 1, axis=1)[:, :keep]]
        return rows, _pick_nearest(U, rows, among, min(k, len(pool) - 1))

    return _concatenate(run.map_items(search, blocks))


def nearest_of_candidates(U: Array, candidates: sp.csr_array, k: int, run: Run) -> Neighbours:
    """Return the `k` nearest of each node's own candidates, which are the columns of its row."""
    sizes = np.diff(candidates.indptr)
    blocks = []
    for size in np.unique(sizes[sizes > 0]):
        nodes = np.flatnonzero(sizes == size)
        blocks += np.array_split(nodes, -(-len(nodes) * int(size) // CANDIDATES))

    def search(rows: Ints) -> tuple[Ints, Ints]:
        place = candidates.indptr[rows][:, None] + np.arange(sizes[rows[0]])
        among = candidates.indices[place].astype(np.int64)
        return rows, _pick_nearest(U, rows, among, k)

    return _concatenate(run.map_items(search, blocks))


class Candidates:
    """Candidates of own labelled nodes, drawn once.

    Which nodes of a class are candidates of which depends on all of them, so each process knows the key, the class and
    the number of every labelled node: 24 bytes each. Vectors are fetched for candidates of own nodes only.

    Parameters
    ----------
    layout : Layout
        Who has which nodes.
    groups : Groups
        Of own nodes.
    keys : ndarray of uint64
        Of own nodes.
    count : int
        How many candidates a node has.
    run : Run
        Does the work.
    """

    def __init__(self, layout: Layout, groups: Groups, keys: Keys, count: int, run: Run) -> None:
        self.layout, self.run = layout, run
        own = np.flatnonzero(groups.of_node >= 0)
        number = run.gather(own + layout.first)
        everyone = Groups(run.gather(groups.of_node[own]), groups.related)
        all_keys = run.gather(keys[own].view(np.int64)).view(np.uint64)
        mine = (number >= layout.first) & (number < layout.first + layout.n_rows)
        drawn = draw_candidates(everyone, all_keys, count, only=mine)
        # keep what own nodes need; numbers rise, so that equal distances are settled as on one process
        needed = np.flatnonzero(mine | (np.bincount(drawn.indices, minlength=len(number)) > 0))
        self.candidates = sp.csr_array(drawn[needed][:, needed])
        self.numbers = number[needed]
        self._own = mine[needed]
        self._halo = Halo(layout, self.numbers[~self._own])

    def nearest(self, U: Array, k: int) -> Neighbours:
        """Return the `k` nearest candidates of own nodes, given the own rows of U."""
        vectors = np.empty((len(self.numbers), U.shape[1]), dtype=U.dtype)
        vectors[self._own] = U[self.numbers[self._own] - self.layout.first]
        vectors[~self._own] = self._halo.fetch_rows(U)
        nearest = nearest_of_candidates(vectors, self.candidates, k, self.run)
        return Neighbours(self.numbers[nearest.rows], self.numbers[nearest.columns])

    def all(self) -> Neighbours:
        """Return all candidates as neighbours."""
        rows = np.repeat(np.arange(len(self.numbers)), np.diff(self.candidates.indptr))
        return Neighbours(self.numbers[rows], self.numbers[self.candidates.indices])


def draw_candidates(groups: Groups, keys: Keys, count: int, *, only: Mask | None = None) -> sp.csr_array:
    """Draw `count` different nodes of the same class for every labelled node, all where there are fewer.

    `only` leaves out the rows where it is False.

    The nodes that share a label stand in a circle, in the random order of their keys, and a node's candidates
    stand at `count` random distances from it. Every set of candidates is as likely as every other, and it
    depends on the nodes, not on their row numbers.
    """
    rows, columns = [], []
    for members, pool in pools(groups):
        circle = pool[np.argsort(keys[pool], kind="stable")]
        size = len(circle)
        if size <= 1:
            continue
        rank = np.empty(int(circle.max()) + 1, dtype=np.int64)
        rank[circle] = np.arange(size)
        if size - 1 <= count:
            offsets = np.arange(1, size)
        else:
            rng = np.random.default_rng(int(keys[circle[0]]))
            offsets = rng.choice(size - 1, count, replace=False) + 1
        if only is not None:
            members = members[only[members]]
        rows.append(np.repeat(members, len(offsets)))
        columns.append(circle[(rank[members][:, None] + offsets) % size].ravel())
    n = len(groups.of_node)
    if not rows:
        return sp.csr_array((n, n), dtype=bool)
    row, column = np.concatenate(rows), np.concatenate(columns)
    drawn = sp.csr_array((np.ones(len(row), dtype=bool), (row, column)), shape=(n, n))
    drawn.sort_indices()
    return drawn


def _pick_nearest(U: Array, rows: Ints, among: Ints, k: int) -> Ints:
    """Return the `k` nearest of the candidates in each row of `among`, by exact distances."""
    difference = U[among] - U[rows][:, None, :]
    squared = np.einsum("ijk,ijk->ij", difference, difference, dtype=np.float64)
    order = np.lexsort((among, squared), axis=1)[:, :k]
    return np.take_along_axis(among, order, axis=1)


def _concatenate(parts: list[tuple[Ints, Ints]]) -> Neighbours:
    if not parts:
        empty = np.zeros(0, dtype=np.int64)
        return Neighbours(empty, empty)
    rows = np.concatenate([np.repeat(rows, columns.shape[1]) for rows, columns in parts])
    columns = np.concatenate([columns.ravel() for _, columns in parts])
    order = np.argsort(rows, kind="stable")
    return Neighbours(rows[order], columns[order])
