"""From columns of edges to a graph: ids are numbered once, repeats combined, everything counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.data.ids import Floats, Ints, id_column, number_ids
from unseen.errors import InputError
from unseen.graph import Graph, Symmetrize, check_symmetrize
from unseen.ids import IdArray


@dataclass
class Report:
    """What reading found and did; one for all sources of a graph.

    Attributes
    ----------
    repeats, self_loops : int
        Pairs listed again, and nodes with an edge to themselves.
    dropped_negative, dropped_zero : int
        Edges left out because of their weight.
    comments : int
        Comment lines below the first line of data.
    missing_words : int
        Labels such as ``NA`` that were taken as no label.
    headers : dict
        For each text file whose first line had to be judged by its ids: its cells if it was a header, else None.
    """

    repeats: int = 0
    self_loops: int = 0
    dropped_negative: int = 0
    dropped_zero: int = 0
    comments: int = 0
    missing_words: int = 0
    headers: dict[str, tuple[str, ...] | None] = field(default_factory=dict)

    def losses(self) -> list[str]:
        """Return what was left out, as parts of a sentence."""
        parts = [
            (self.dropped_negative, "edge", "of negative weight left out"),
            (self.dropped_zero, "edge", "of weight 0 left out"),
            (self.comments, "comment line", "below the first line of data"),
        ]
        return [f"{counted(n, noun)} {rest}" for n, noun, rest in parts if n]


def counted(n: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "node"), counted(2000, "edge")
    ('1 node', '2,000 edges')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def graph_from_edges(
    src: Any,
    dst: Any,
    weight: npt.ArrayLike | None = None,
    *,
    nodes: Any = None,
    features: Any = None,
    feature_names: Iterable[str] | None = None,
    symmetrize: Symmetrize = "max",
    drop_negative: bool = False,
) -> Graph:
    """Return the graph of edges given as columns of ids; `Graph.from_edges` describes the parameters."""
    check_symmetrize(symmetrize)
    ends = [id_column(src, "src"), id_column(dst, "dst")]
    if len(ends[0]) != len(ends[1]):
        msg = f"`src` has {len(ends[0])} entries and `dst` has {len(ends[1])}; an edge needs both"
        raise InputError(msg)
    before = [] if nodes is None else [id_column(nodes, "nodes")]
    numbering = number_ids(ends, before=before)
    node_ids, (first, second) = numbering.ids, numbering.columns
    weights = _checked_weights(weight, len(first))
    negative = weights < 0
    if negative.any() and not drop_negative:
        row = int(np.flatnonzero(negative)[0])
        msg = (
            f"edge {row + 1} ({node_ids[first[row]]} - {node_ids[second[row]]}) has the negative weight "
            f"{weights[row]:g}; negative weights are not supported yet, leave such edges out with "
            "drop_negative=True (--drop-negative)"
        )
        raise InputError(msg)
    adjacency = combined(first, second, np.where(negative, 0.0, weights), node_ids, symmetrize, Report())
    return Graph(adjacency, features, node_ids, None if feature_names is None else tuple(feature_names))


def combined(
    first: Ints,
    second: Ints,
    weights: Floats | None,
    node_ids: IdArray,
    symmetrize: Symmetrize,
    report: Report,
) -> sp.csr_array:
    """Return the adjacency of numbered edges; a weight of 0 is no edge. Repeats and self-loops are counted."""
    if weights is None:
        weights = np.ones(len(first))
    elif not weights.all():
        kept = weights != 0
        first, second, weights = first[kept], second[kept], weights[kept]
    n = len(node_ids)
    key = np.minimum(first, second) * n + np.maximum(first, second)
    order = np.argsort(key, kind="stable")
    key, weights = key[order], weights[order]
    starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if len(key) else np.zeros(0, dtype=np.int64)
    report.repeats = len(key) - len(starts)
    if report.repeats and symmetrize == "error":
        pair = key[1:][key[1:] == key[:-1]][0]
        msg = (
            f"the pair {node_ids[pair // n]} - {node_ids[pair % n]} is listed more than once; "
            "say what to do with symmetrize='max' or 'sum'"
        )
        raise InputError(msg)
    reduce = np.add if symmetrize == "sum" else np.maximum
    with np.errstate(over="ignore"):  # a sum that overflows is infinite, and refused as such by the graph
        merged = reduce.reduceat(weights, starts) if len(starts) else weights
    i, j = np.divmod(key[starts], max(n, 1))
    off = i != j
    report.self_loops = int(len(off) - np.count_nonzero(off))
    rows, columns = np.r_[i, j[off]], np.r_[j, i[off]]
    return sp.coo_array((np.r_[merged, merged[off]], (rows, columns)), shape=(n, n)).tocsr()


def _checked_weights(weight: npt.ArrayLike | None, n: int) -> Floats:
    if weight is None:
        return np.ones(n)
    try:
        weights = np.asarray(weight).astype(np.float64)
    except (TypeError, ValueError):
        msg = "edge weights must be numbers"
        raise InputError(msg) from None
    if weights.shape != (n,):
        msg = f"`weight` has shape {weights.shape} but there are {n} edges"
        raise InputError(msg)
    bad = np.flatnonzero(~np.isfinite(weights))
    if len(bad):
        msg = f"edge {bad[0] + 1} has the weight {weights[bad[0]]}; edge weights must be finite"
        raise InputError(msg)
    return weights
