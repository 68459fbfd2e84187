"""Parts that few edges join, by METIS (Karypis and Kumar, SIAM J. Sci. Comput. 20, 1998)."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from unseen.data.opened import shown_bytes
from unseen.data.spill import SortedRows
from unseen.engine.parts import PIECE, ROW_COST
from unseen.errors import InputError, counted, logger, need_library
from unseen.ids import Ints

BYTES_PER_ENTRY, BYTES_PER_NODE = 60, 150
"""What METIS and the matrices before and after it take."""


def group_rows(
    rows: SortedRows, cuts: list[int], folder: Path, memory: int
) -> tuple[SortedRows, Ints, list[int]]:
    """Return the rows in an order in which parts are ranges that few edges join, that order, and the new cuts.

    A notice says how many rows of others the parts need now, and how many they needed with the cuts of before.

    Parameters
    ----------
    rows : SortedRows
        The adjacency.
    cuts : list of int
        Where the parts of the rows in their present order begin, and the number of rows.
    folder : Path
        Gets the files of the result.
    memory : int
        Bytes to work with.
    """
    pymetis = need_library("pymetis", "--cut metis", "scale")
    needed = BYTES_PER_ENTRY * int(rows.ends[-1]) + BYTES_PER_NODE * len(rows.ends)
    if needed > memory:
        msg = (
            f"METIS needs about {shown_bytes(needed)} for this graph and `memory` is {shown_bytes(memory)}; "
            "give more (--memory), or use --cut rows"
        )
        raise InputError(msg)
    adjacency, n_parts = rows.matrix(), len(cuts) - 1
    before = count_foreign_rows(adjacency, cuts)
    weights = (np.diff(adjacency.indptr) + ROW_COST).astype(np.int32)
    links = pymetis.CSRAdjacency(adj_starts=adjacency.indptr, adjacent=adjacency.indices)
    options = pymetis.Options(seed=0)
    membership = np.array(pymetis.part_graph(n_parts, links, vweights=weights, options=options)[1])
    sizes = np.bincount(membership, minlength=n_parts)
    if not sizes.all():
        msg = f"METIS left {counted(int((sizes == 0).sum()), 'part')} empty; ask for fewer parts, or use --cut rows"
        raise InputError(msg)
    order: Ints = np.argsort(membership, kind="stable").astype(np.int64)
    grouped, new_cuts = adjacency[order][:, order], [0, *np.cumsum(sizes).tolist()]
    grouped.sort_indices()
    after = count_foreign_rows(grouped, new_cuts)
    share = f"{after / before:.0%}" if before else "as many"
    logger.info(
        "METIS: the parts need %s of each other, %s of the %s with the rows in their order",
        counted(after, "row"),
        share,
        f"{before:,}",
    )
    folder.mkdir()
    written = SortedRows(folder, grouped.shape[0])
    numbers = np.repeat(np.arange(grouped.shape[0], dtype=np.int64), np.diff(grouped.indptr))
    for first in range(0, grouped.nnz, PIECE):
        some = slice(first, first + PIECE)
        written.append(numbers[some], grouped.indices[some].astype(np.int64), grouped.data[some])
    written.finish()
    return written, order, new_cuts


def count_foreign_rows(adjacency: sp.csr_array, cuts: list[int]) -> int:
    """Return how many rows of other parts the parts need, added up.

    Examples
    --------
    >>> count_foreign_rows(sp.csr_array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]), [0, 1, 3])
    3
    """
    total = 0
    for start, stop in pairwise(cuts):
        needed = np.zeros(adjacency.shape[1], dtype=bool)
        needed[adjacency.indices[adjacency.indptr[start] : adjacency.indptr[stop]]] = True
        total += int(needed.sum()) - int(needed[start:stop].sum())
    return total
