"""From columns of edges to a graph: ids are mapped once, repeats combined, everything counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from unseen.errors import InputError
from unseen.graph import Graph, Symmetrize, check_symmetrize
from unseen.ids import IdArray, as_ids


@dataclass(frozen=True)
class EdgeReport:
    """What was found among the edges of one source."""

    repeats: int
    self_loops: int
    dropped_negative: int
    dropped_zero: int


def graph_from_edges(
    src: Any,
    dst: Any,
    weight: npt.ArrayLike | None = None,
    *,
    nodes: Any = None,
    more_nodes: Sequence[Any] = (),
    features: Any = None,
    feature_names: Iterable[str] | None = None,
    symmetrize: Symmetrize = "max",
    drop_negative: bool = False,
) -> tuple[Graph, EdgeReport]:
    """Return the graph of the listed edges and a report of what was found.

    Ids appear in the order `nodes`, then edge by edge, then `more_nodes` (further id columns, of
    features or labels files). `features` are rows in that order.
    """
    check_symmetrize(symmetrize)
    ends = [id_column(src, "src"), id_column(dst, "dst")]
    if len(ends[0]) != len(ends[1]):
        msg = f"`src` has {len(ends[0])} entries and `dst` has {len(ends[1])}; an edge needs both"
        raise InputError(msg)
    before = [] if nodes is None else [id_column(nodes, "nodes")]
    after = [id_column(column, "nodes") for column in more_nodes]
    node_ids, (first, second) = number_ids(ends, before=before, after=after)
    weights = _checked_weights(weight, len(first))
    keep = weights != 0
    negative = weights < 0
    if negative.any():
        if not drop_negative:
            row = int(np.flatnonzero(negative)[0])
            msg = (
                f"edge {row + 1} ({node_ids[first[row]]} - {node_ids[second[row]]}) has the negative weight "
                f"{weights[row]:g}; negative weights are not supported yet, leave such edges out with "
                "drop_negative=True (--drop-negative)"
            )
            raise InputError(msg)
        keep &= ~negative
    adjacency, repeats = _combine(first[keep], second[keep], weights[keep], node_ids, symmetrize)
    report = EdgeReport(
        repeats=repeats,
        self_loops=int(np.count_nonzero(adjacency.diagonal())),
        dropped_negative=int(negative.sum()),
        dropped_zero=int((weights == 0).sum()),
    )
    names = None if feature_names is None else tuple(feature_names)
    return Graph(adjacency, features, node_ids, names), report


def id_column(values: Any, what: str) -> pa.Array:
    """Return ids as an Arrow array of strings or int64, without nulls."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if not isinstance(values, pa.Array):
        ids = as_ids(values, what=what)
        try:
            return pa.array(ids, type=pa.int64() if ids.dtype == np.int64 else pa.large_string())
        except UnicodeEncodeError as error:
            msg = f"`{what}` holds {error.object!r}, which is not valid Unicode text"
            raise InputError(msg) from None
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if values.null_count:
        row = pc.index(values.is_null(), pa.scalar(True)).as_py()
        msg = f"`{what}` has an empty id in row {row + 1}"
        raise InputError(msg)
    if pa.types.is_integer(values.type):
        try:
            return values.cast(pa.int64())
        except pa.ArrowInvalid:
            msg = f"`{what}` does not fit into 64-bit integers; store the ids as strings"
            raise InputError(msg) from None
    if _is_string(values.type):
        return values.cast(pa.large_string())
    msg = f"`{what}` must hold strings or integers, got the type {values.type}"
    raise InputError(msg)


def number_ids(
    columns: Sequence[pa.Array], *, before: Sequence[pa.Array] = (), after: Sequence[pa.Array] = ()
) -> tuple[IdArray, list[npt.NDArray[np.int64]]]:
    """Return the ids of all columns in the order of first appearance, and each column's numbers in it.

    The `columns` are read row by row side by side, as the lines of a file are. Integer and string
    ids meet by string form.
    """
    encoded = stacked([*before, *columns, *after]).dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    start, width, rows = sum(map(len, before)), len(columns), len(columns[0])
    middle = codes[start : start + width * rows].reshape(width, rows)
    in_order = np.concatenate([codes[:start], middle.T.ravel(), codes[start + width * rows :]])
    first = np.empty(len(encoded.dictionary), dtype=np.int64)
    first[in_order[::-1]] = np.arange(len(in_order) - 1, -1, -1)  # the last write, the first place, stays
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    ids = as_ids(encoded.dictionary.take(pa.array(order)).to_numpy(zero_copy_only=False))
    return ids, list(number[middle])


def stacked(columns: Sequence[pa.Array]) -> pa.Array:
    """Return columns of ids one after the other: integers if all are, else strings; empty ones do not count."""
    kinds = {column.type for column in columns if len(column)}
    kind = kinds.pop() if len(kinds) == 1 else pa.large_string()
    return pa.concat_arrays([column.cast(kind) for column in columns])


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _checked_weights(weight: npt.ArrayLike | None, n: int) -> npt.NDArray[np.float64]:
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


def _combine(
    first: npt.NDArray[np.int64],
    second: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    node_ids: IdArray,
    symmetrize: Symmetrize,
) -> tuple[sp.csr_array, int]:
    n = len(node_ids)
    low, high = np.minimum(first, second), np.maximum(first, second)
    key = low * n + high
    order = np.argsort(key, kind="stable")
    key, weights = key[order], weights[order]
    starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if len(key) else np.zeros(0, dtype=np.int64)
    repeats = len(key) - len(starts)
    if repeats and symmetrize == "error":
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
    rows, columns = np.r_[i, j[off]], np.r_[j, i[off]]
    adjacency = sp.coo_array((np.r_[merged, merged[off]], (rows, columns)), shape=(n, n))
    return adjacency.tocsr(), repeats
