"""W = M without the entries between differently labelled nodes, and Laplacians with it, as operators.

With D the degrees, M = D^-1 (A + A D^-1 A) / 2, and removing entries commutes with scaling rows, so
W = D^-1 (A_W + C_W) / 2, where A_W and C_W are A and C = A D^-1 A without the removed entries. An entry of C
is a sum over the nodes m in the middle of two steps. Let F have one row for each middle node m and each group
g (a set of labels, or none) among its neighbours, with the entries of D^-1/2 A from m to its neighbours in g.
Then C_W = F' K F, where K joins two groups at the same m that may be linked. F has as many entries as A; with
one label per node K has at most three for each row, so everything stays linear in the edges, hubs or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.engine.sparse import Matrix, inverse
from unseen.errors import UnsupportedError
from unseen.ids import Array, Floats, Ints, Mask

EXPLICIT_FACTOR = 12
"""W is stored where it cannot have more than this many entries per edge or node: as expensive as the operator."""


@dataclass(frozen=True)
class Groups:
    """Nodes with the same set of labels; groups that share a label count as the same class.

    Attributes
    ----------
    of_node : ndarray of int, shape (n,)
        Group of every node, -1 for unlabelled ones.
    related : scipy CSR array, shape (g, g), or None
        True for groups that share a label; None stands for the identity, which is the single-label case.
    """

    of_node: Ints
    related: sp.csr_array | None

    @property
    def count(self) -> int:
        """Number of groups."""
        return int(self.of_node.max(initial=-1)) + 1


def label_groups(indicator: sp.csr_array, run: Run) -> Groups:
    """Group the own nodes by their set of labels; all processes number the groups alike.

    Examples
    --------
    >>> groups = label_groups(sp.csr_array([[1, 0], [0, 0], [1, 1], [1, 0]]), Run())
    >>> groups.of_node.tolist(), groups.related.toarray().tolist()
    ([0, -1, 1, 0], [[True, True], [True, True]])
    """
    sizes = np.diff(indicator.indptr)
    of_node = np.full(indicator.shape[0], -1, dtype=np.int64)
    if not run.count(sizes.max(initial=0) > 1):
        counts = run.sum(np.bincount(indicator.indices, minlength=indicator.shape[1]).astype(np.int64))
        of_node[sizes > 0] = (np.cumsum(counts > 0) - 1)[indicator.indices]
        return Groups(of_node, None)
    if run.comm.size > 1:
        msg = "RSDNE supports one label per node on several processes; use one process, or one label per node"
        raise UnsupportedError(msg)
    ordered = sp.csr_array(indicator, copy=True)
    ordered.sort_indices()
    rows = np.flatnonzero(sizes)
    sets = [tuple(ordered.indices[ordered.indptr[i] : ordered.indptr[i + 1]].tolist()) for i in rows]
    number = {labels: g for g, labels in enumerate(sorted(set(sets)))}
    of_node[rows] = [number[labels] for labels in sets]
    first = np.zeros(len(number), dtype=np.int64)
    first[of_node[rows]] = rows
    label_sets = ordered[first].astype(np.int32)
    return Groups(of_node, sp.csr_array(label_sets @ label_sets.T).astype(bool))


class LabelledWalk:
    """The symmetric part of W.

    Parameters
    ----------
    adjacency : Matrix, shape (n, n)
        Symmetric, not negative. Spread over processes, all of them call every method, with their own rows.
    groups : Groups
        Which nodes are labelled, and how; of own nodes.

    Attributes
    ----------
    degree : ndarray, shape (n,)
        The diagonal of D_w: row sums of (W + W') / 2.
    explicit : Matrix or None
        (W + W') / 2 itself where the degrees say that storing it is no more expensive.

    Examples
    --------
    >>> path = Run().matrix(sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    >>> W = LabelledWalk(path, label_groups(sp.csr_array([[1, 0], [0, 0], [0, 1]]), Run()))
    >>> W.symmetric(np.eye(3)).tolist()  # the ends, of different classes, are no longer joined
    [[0.25, 0.375, 0.0], [0.375, 0.5, 0.375], [0.0, 0.375, 0.25]]
    """

    def __init__(self, adjacency: Matrix, groups: Groups) -> None:
        self._adjacency = adjacency
        # a middle node is looked at where it is: its neighbours are own nodes and those of the halo
        groups = Groups(adjacency.extend_rows(groups.of_node), groups.related)
        A = adjacency.local
        n = int(A.shape[0])
        self.shape: tuple[int, int] = (n, n)
        self._inverse = inverse(adjacency.row_sums())
        counts = np.diff(A.indptr).astype(np.float64)
        bound = float(counts @ counts) + A.nnz
        self.explicit: Matrix | None = None
        if adjacency.halo is None and bound <= EXPLICIT_FACTOR * (A.nnz + n):
            scale = sp.diags_array(self._inverse, format="csr")
            half = sp.csr_array(scale @ _without(sp.csr_array(A + A @ (scale @ A)), groups))
            W = sp.csr_array((half + half.T.tocsr()) * 0.25).sorted_indices()
            self.explicit = adjacency.run.matrix(W, symmetric=True)
            self.degree = self.explicit.row_sums()
            return
        alone = adjacency.run.solo  # what is local is multiplied locally
        self._first = alone.matrix(_without(A, groups))
        factors = _middle_factors(A, np.sqrt(self._inverse), groups)
        self._bags = [tuple(alone.matrix(part) for part in bag) for bag in factors]
        self.degree = self.symmetric(np.ones((n, 1)))[:, 0]

    def symmetric(self, V: Array) -> Array:
        """Return (W + W') V / 2."""
        if self.explicit is not None:
            return self.explicit @ V
        factor = self._inverse.astype(V.dtype)[:, None]
        # (W + W') / 2 = (D^-1 X + X D^-1) / 4, X symmetric: both products in one pass over the edges.
        pair = self._adjacency.extend_rows(np.hstack([V, factor * V]))
        product = np.zeros_like(pair)
        self._first.times(pair, out=product[: self.shape[0]])
        for back, K, F in self._bags:
            back.times(K @ (F @ pair), out=product, add=True)
        both, columns = self._adjacency.collect_rows(product), V.shape[1]
        result = both[:, :columns]
        result *= factor
        result += both[:, columns:]
        result *= 0.25
        return np.ascontiguousarray(result)


class Smoothing:
    """The quadratic form alpha (L_s + L_w), for one choice of neighbours; either part may be missing."""

    def __init__(
        self, alpha: float, run: Run, inter: LabelledWalk | None = None, S: Matrix | None = None
    ) -> None:
        self.alpha, self.run, self.inter, self.S = alpha, run, inter, S
        self.empty = inter is None and S is None
        degree: Floats = np.zeros(1)
        if inter is not None:
            degree = degree + inter.degree
        if S is not None:
            degree = degree + S.row_sums()
        self.degree = alpha * degree
        self.laplacian: Matrix | None = None
        explicit = None if inter is None else inter.explicit
        if self.empty or (inter is not None and explicit is None) or (S and S.halo):
            return  # W is an operator only, or S is spread
        parts = [part.local for part in (explicit, S) if part is not None]
        joined = parts[0] if len(parts) == 1 else parts[0] + parts[1]
        laplacian = sp.csr_array(sp.diags_array(self.degree) - alpha * joined)
        laplacian.sort_indices()
        self.laplacian = run.matrix(laplacian, symmetric=True)

    def apply(self, V: Array, out: Array | None = None) -> Array:
        """Return alpha (L_s + L_w) V; `out` is memory that may be used for it."""
        if self.empty:
            return np.zeros_like(V)
        if self.laplacian is not None:
            return self.laplacian.times(V, out=out)
        joined = np.zeros_like(V) if self.inter is None else self.inter.symmetric(V)
        if self.S is not None:
            self.S.times(V, out=joined, add=True)

        def difference(start: int, stop: int) -> None:
            block = joined[start:stop]
            block *= -self.alpha
            block += self.degree[start:stop].astype(V.dtype)[:, None] * V[start:stop]

        self.run.map_blocks(difference, len(V))
        return joined


def allowed(groups: Groups, left: Ints, right: Ints) -> Mask:
    """Whether nodes of group `left` keep their links to nodes of group `right`; -1 is unlabelled."""
    keep: Mask = (left < 0) | (right < 0) | (left == right)
    if groups.related is not None:
        open_pairs = np.flatnonzero(~keep)
        keep[open_pairs] = np.asarray(groups.related[left[open_pairs], right[open_pairs]]).ravel()
    return keep


def _without(matrix: sp.csr_array, groups: Groups) -> sp.csr_array:
    """Return a copy of `matrix` without its entries between nodes of different classes."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    keep = allowed(groups, groups.of_node[rows], groups.of_node[matrix.indices])
    indptr = np.r_[0, np.cumsum(np.bincount(rows[keep], minlength=matrix.shape[0]))]
    return sp.csr_array((matrix.data[keep], matrix.indices[keep], indptr), shape=matrix.shape)


def _middle_factors(
    adjacency: sp.csr_array, root: Floats, groups: Groups
) -> Iterator[tuple[sp.csr_array, sp.csr_array, sp.csr_array]]:
    """Yield F', K and F of C_W = F' K F for consecutive ranges of middle nodes, so that temporaries are small.

    The rows of F are sorted by middle node, then group.
    """
    n, width = adjacency.shape[0], groups.count + 1  # the unlabelled nodes are a group, too, the first one
    middle = np.repeat(np.arange(n), np.diff(adjacency.indptr))
    pairs, row = np.unique(middle * width + groups.of_node[adjacency.indices] + 1, return_inverse=True)
    shape = (len(pairs), adjacency.shape[1])
    F = sp.csr_array((adjacency.data * root[middle], (row, adjacency.indices)), shape=shape)
    middle, group = np.divmod(pairs, width)
    linked = sp.lil_array((width, width), dtype=np.int8)
    linked[0, :] = linked[:, 0] = 1
    linked[1:, 1:] = sp.eye_array(groups.count) if groups.related is None else groups.related
    linked = linked.tocsr()
    place = sp.csr_array((np.arange(1, len(pairs) + 1), (middle, group)), shape=(n, width))
    size = n if len(pairs) > 2 * n else len(pairs) + 1
    starts = np.arange(size, len(pairs) - size // 2, size)
    cuts = np.unique([0, *np.searchsorted(middle, middle[starts - 1], side="right"), len(pairs)])
    for start, stop in pairwise(cuts.tolist()):
        own = slice(start, stop)
        # of each pair: the pairs at the same middle node whose groups are linked to its group
        joined = sp.csr_array(linked[group[own]].multiply(place[middle[own]]))
        K = (np.ones(joined.nnz), joined.data - 1 - start, joined.indptr)
        back = F[own].T.tocsr().sorted_indices()
        yield back, sp.csr_array(K, shape=(stop - start, stop - start)), F[own]
