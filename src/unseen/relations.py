"""Relations: kinds of edges, with types, direction and sign; what becomes of entries that are given twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.errors import InputError, counted, logger
from unseen.ids import Ints, Place, Types, Value, lock
from unseen.weights import as_square, check_weights, is_same, merge_entries


@dataclass(frozen=True, eq=False)
class Relation(Value):
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
        coo = as_square(self.matrix, what).tocoo()

        def place(k: int) -> str:
            return f"{what}, row {coo.row[k]}, column {coo.col[k]}"

        weight = check_weights(
            coo.data.astype(np.float64), lambda k: f"{place(k)}: the weight is", negative="keep"
        )
        if not weight.all():
            msg = f"{place(int(np.argmin(weight != 0)))}: the weight is 0; leave such entries out (eliminate_zeros)"
            raise InputError(msg)
        csr, _, opposite = merge_entries(coo.row, coo.col, weight, coo.shape[0], mirror=not self._one_way)
        if len(opposite):
            msg = f"{place(opposite[0])} has two weights, equal and opposite; leave out one"
            raise InputError(msg)
        lock(csr)
        self.__dict__.update(matrix=csr, directed=bool(self.directed))

    def __repr__(self) -> str:
        arrow = "->" if self.directed else "-"
        types = "" if self.source_type is None else f" {self.source_type} {arrow} {self.target_type},"
        return (
            f"Relation({self.name!r},{types or ' directed,' * self.directed} {counted(self.n_edges, 'edge')})"
        )

    @property
    def n_edges(self) -> int:
        """Number of edges; of an undirected relation inside one type each counts once."""
        loops = np.count_nonzero(self.matrix.diagonal())
        return int(self.matrix.nnz if self._one_way else (self.matrix.nnz + loops) // 2)

    @property
    def n_negative(self) -> int:
        """Number of edges of negative weight."""
        return int(np.count_nonzero(edge_entries(self).data < 0))

    @property
    def _one_way(self) -> bool:
        """Whether the matrix has one entry an edge."""
        return self.directed or self.source_type != self.target_type


def edge_entries(relation: Relation) -> Any:
    """Return the matrix of a relation with one entry an edge."""
    return relation.matrix if relation._one_way else sp.triu(relation.matrix)


def plain_relation(adjacency: sp.csr_array) -> Relation:
    """Return the only relation of a plain graph, whose adjacency has been checked and locked."""
    relation = Relation.__new__(Relation)
    parts = {"name": "edge", "source_type": None, "target_type": None, "matrix": adjacency, "directed": False}
    relation.__dict__.update(parts)
    return relation


def orient_entries(
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


def infer_directions(relations: Sequence[Relation]) -> list[Relation]:
    """Return relations that list every link, where nobody says which of them point.

    One that is another the other way round is not kept beside it. Those between two types do not point, those inside
    one do, unless every link is there both ways.
    """
    kept: list[Relation] = []
    for each in relations:
        turned = each.matrix.T.tocsr()
        twin = next(
            (r for r in kept if r.target_type == each.source_type and is_same(r.matrix, turned)), None
        )
        if twin is not None:
            logger.info(
                "the relation %r is %r the other way round, and not kept beside it", each.name, twin.name
            )
            continue
        directed = each.source_type == each.target_type and not is_same(each.matrix, turned)
        kept.append(replace(each, directed=directed))
    return kept
