"""Columns that give the labels away: a label column and its recodings are not features, and others get a warning."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from unseen.data.names import LABEL, NODE, PANDAS_INDEX, lower
from unseen.data.tables import Table, is_string, join_chunks, label_values, list_names
from unseen.errors import InputError, logger, show_path
from unseen.graph import Graph
from unseen.ids import Array, Ints, Mask
from unseen.labels import Labels, is_unlabelled

INDEX = (PANDAS_INDEX, "unnamed: 0")
"""What pandas calls its index in a file."""
_CHANCE = 1e-3
"""A column is derived from the labels if random labels would fit one of the columns with a smaller probability."""
_MISTAKES = 0.02
"""The share of labelled nodes that a column may get wrong and still predicts the labels almost perfectly."""
_FEW_IDS = 7
"""Fewer rows may repeat the ids by accident."""
_MOST_ROWS = 2000
"""Labelled nodes that are looked at."""


def feature_positions(
    table: Table,
    columns: Sequence[int],
    ids: pa.Array | None,
    label_names: Collection[str],
    *,
    labels_too: bool = False,
    quiet: bool = False,
) -> list[int]:
    """Return the columns that may be features: neither labels nor ids; a notice names others, unless `quiet`.

    `columns` are those without the `ids` of the rows; these are None for a piece of a larger table, of which only the
    names of columns are judged. `labels_too` says that labels are read from the same table.
    """
    names = lower(table.names or ())
    labels = [k for k in columns if names and names[k] in label_names]
    if labels_too and not labels:
        usual = table.find(LABEL) if names else 1 if len(table.columns) == 2 else None
        labels = [] if usual is None else [usual]
    copies = [k for k in columns if names and k not in labels and _holds_ids(table, k, ids)]
    others = [k for k in columns if k not in (*labels, *copies)]
    codes = [] if ids is None else [k for label in labels for k in recodings(table, label, others)]
    for found, what in ((labels, "the labels"), (copies, "ids"), (codes, "the labels in another form")):
        for k in [] if quiet else dict.fromkeys(found):
            name = repr(table.names[k]) if table.names else k + 1
            source = show_path(table.source)
            logger.info("%s: the column %s holds %s and is not used as a feature", source, name, what)
    return [k for k in others if k not in codes]


def _holds_ids(table: Table, index: int, ids: pa.Array | None) -> bool:
    """Return whether a column is pandas' index, repeats the ids, or has the name of ids and no value twice."""
    name, column = lower(table.names or ())[index], join_chunks(table.columns[index])
    if name in INDEX:
        return True
    if ids is None or len(ids) < _FEW_IDS or not (is_string(column.type) or pa.types.is_integer(column.type)):
        return False
    if name in NODE and len(column.unique()) == len(column):
        return True
    if str(column[0].as_py()) != str(ids[0].as_py()):  # most columns need no further look
        return False
    return bool(column.cast(pa.large_string()).equals(ids.cast(pa.large_string())))


def recodings(table: Table, label: int, columns: Sequence[int]) -> list[int]:
    """Return the columns that have one value for each label, or that mark the members of one class."""
    try:
        rows, names = label_values(table.columns[label], table.source)
    except InputError:  # it holds no labels
        return []
    found = np.array([not is_unlabelled(name) for name in names.to_pylist()], dtype=bool)
    labelled, row_of = np.unique(rows[found], return_inverse=True)
    classes, codes = np.unique(names.to_numpy(zero_copy_only=False)[found].astype(str), return_inverse=True)
    if len(classes) < 2:
        return []
    members = sp.csr_array((np.ones(len(codes)), (row_of, codes)), shape=(len(labelled), len(classes)))
    cells = [str(cell) for cell in join_chunks(table.columns[label]).take(pa.array(labelled)).to_pylist()]
    _, kinds, sizes = np.unique(cells, return_inverse=True, return_counts=True)
    same = []
    for k in columns:
        column = join_chunks(table.columns[k])
        if pa.types.is_nested(column.type):
            continue
        column = column.take(pa.array(labelled)).dictionary_encode("encode")
        values = column.indices.to_numpy()
        n_values, n_pairs = len(column.dictionary), len(np.unique(kinds * (values.max() + 1) + values))
        if n_values == n_pairs == len(sizes):
            is_code = _chance(sizes) * len(columns) < _CHANCE
        else:
            marked = (values == values[0])[:, None]
            is_code = n_values == 2 and bool(marks_class(marked, members, 0.0, len(columns))[0])
        same += [k] if is_code else []
    return same


def warn_of_predictors(graph: Graph, labels: Labels) -> None:
    """Name features that predict the labels almost perfectly on their own: they may have been made from these."""
    suspects = list[Any]()
    for key, (features, names) in graph.stored_features.items():
        own = graph.rows_of(key)
        labelled = np.flatnonzero(np.isin(own, labels.labelled))
        labelled = labelled[:: len(labelled) // _MOST_ROWS + 1]
        members = labels.indicator[own[labelled]]
        sizes = members.sum(axis=0)
        members = sp.csr_array(members[:, np.flatnonzero(sizes)], dtype=np.float64)
        if members.shape[1] < 2:
            continue
        rows, n = features[labelled], len(labelled)
        marked = rows != 0
        is_code = marks_class(marked, members, _MISTAKES, rows.shape[1])
        if members.nnz == n:  # one class a node, and zero is the value of one class at most
            columns = np.flatnonzero(marked.sum(axis=0) >= (1 - _MISTAKES) * n - sizes.max())
            block = rows[:, columns]
            values = block if isinstance(block, np.ndarray) else block.toarray()
            is_code[columns] |= has_intervals(values, members.indices, _MISTAKES, rows.shape[1])
        suspects += [names[k] if names else f"column {k}" for k in np.flatnonzero(is_code).tolist()]
    if suspects:
        logger.warning(
            "some features predict the labels almost perfectly on their own: %s; remove them if they were made from "
            "the labels, because results would look better than they are",
            list_names(suspects),
        )


def marks_class(marked: Any, members: sp.csr_array, mistakes: float, n_columns: int) -> Mask:
    """Return which columns are true for the members of one class only, or for all others only.

    Examples
    --------
    >>> members = sp.csr_array(np.repeat(np.eye(2), 10, axis=0))
    >>> marks_class(np.arange(20)[:, None] < [10, 5], members, 0.0, 2).tolist()
    [True, False]
    """
    sizes, counts, n = members.sum(axis=0)[:, None], marked.sum(axis=0), marked.shape[0]
    both = members.T @ marked.astype(np.float64)
    both = both.toarray() if sp.issparse(both) else both
    wrong = sizes + counts - 2 * both
    fits = np.minimum(wrong, n - wrong) <= mistakes * np.minimum(sizes, n - sizes)
    sure = np.array([_chance([size, n - size]) for size in sizes[:, 0]]) * n_columns * len(sizes) < _CHANCE
    return np.asarray((fits & sure[:, None]).any(axis=0))


def has_intervals(values: Array, codes: Ints, mistakes: float, n_columns: int) -> Mask:
    """Return in which columns the values of each class have a range of their own.

    Examples
    --------
    >>> has_intervals(np.c_[np.arange(20), np.arange(20) % 3], np.arange(20) // 10, 0.0, 2).tolist()
    [True, False]
    """
    classes, codes, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    if _chance(sizes) * n_columns >= _CHANCE:
        return np.zeros(values.shape[1], dtype=bool)
    own = [values[codes == k] for k in range(len(classes))]
    low, middle, high = np.stack([np.quantile(part, (0.01, 0.5, 0.99), axis=0) for part in own], axis=1)
    order = np.argsort(middle, axis=0, kind="stable")
    low, high = (np.take_along_axis(ends, order, axis=0) for ends in (low, high))
    place = np.zeros(values.shape, dtype=np.int64)
    for border in (high[:-1] + low[1:]) / 2:
        place += values > border
    right = np.take_along_axis(np.argsort(order, axis=0), codes[:, None], axis=0) == place
    return np.asarray(right.mean(axis=0) >= 1 - mistakes)


def _chance(sizes: Any) -> float:
    """Return the probability that random labels of classes of these sizes agree with a column."""
    log = math.lgamma(len(sizes) + 1) + sum(math.lgamma(size + 1) for size in sizes)
    return math.exp(log - math.lgamma(sum(sizes) + 1))
