"""From ids to numbers, from numbered edges to a matrix, from rows of labels and features to those of the nodes.

What has numbers is put together by the same code for a graph in memory and for one in parts on disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from unseen.data.tables import id_column
from unseen.errors import InputError, counted, logger
from unseen.graph import Graph, Symmetrize
from unseen.ids import Features, Floats, IdArray, Ints, Place, as_ids, default_ids
from unseen.labels import CONFIRMED, Labels, Status, warn_of_missing_words
from unseen.weights import check_symmetrize, check_weights, merge_entries

if TYPE_CHECKING:
    from unseen.data.pieces import FeatureRows, LabelRows
    from unseen.data.sources import Options

WIDE, FILLED = 64, 0.1
"""Columns from which on a table is sparse if at most this share of it is not zero."""


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
    """

    repeats: int = 0
    self_loops: int = 0
    dropped_negative: int = 0
    dropped_zero: int = 0
    comments: int = 0
    missing_words: int = 0

    def losses(self) -> list[str]:
        """Return what was left out, as parts of a sentence."""
        parts = [
            (self.dropped_negative, "edge", "of negative weight left out"),
            (self.dropped_zero, "edge", "of weight 0 left out"),
            (self.comments, "comment line", "below the first line of data"),
        ]
        return [f"{counted(n, noun)} {rest}" for n, noun, rest in parts if n]


class Numbering:
    """Ids in the order of first appearance: each has the number of its place.

    `number` takes the columns of all sources one after the other. `_find` and `_append` alone know where the ids are
    kept; :class:`unseen.data.spill.SpilledNumbering` keeps them on disk.

    Examples
    --------
    >>> numbering = Numbering()
    >>> [numbers.tolist() for numbers in numbering.number(pa.array(["b", "a"]), pa.array(["c", "b"]))]
    [[0, 2], [1, 0]]
    >>> numbering.find(pa.array(["c", "x"])).tolist(), len(numbering), numbering.ids.tolist()
    ([1, -1], 3, ['b', 'c', 'a'])
    """

    def __init__(self) -> None:
        self._n, self._kind = 0, pa.int64()
        self._ids: Any = None

    def __len__(self) -> int:
        return self._n

    @property
    def has_integers(self) -> bool:
        """Whether the ids are integers."""
        return bool(pa.types.is_integer(self._kind))

    @property
    def ids(self) -> IdArray:
        """All ids by their numbers."""
        return as_ids(self._ids.to_numpy(zero_copy_only=False)) if self._n else default_ids(0)

    def name(self, number: int) -> Any:
        """Return the id that has a number."""
        return self._ids[int(number)].as_py()

    def number(self, *columns: pa.Array) -> tuple[Ints, ...]:
        """Return the numbers of the ids of columns, which are read side by side, as the lines of a file are."""
        ids, codes = _distinct_ids(columns)
        numbers = self.find(ids)
        is_new = numbers < 0
        if is_new.any():
            n_new = int(np.count_nonzero(is_new))
            numbers[is_new] = np.arange(self._n, self._n + n_new)
            self._append(self._in_common_type(ids).filter(pa.array(is_new)))
            self._n += n_new
        small: Any = numbers.astype(np.int32) if self._n < 2**31 else numbers
        return tuple(small[each] for each in codes)

    def find(self, ids: pa.Array) -> Ints:
        """Return the numbers of ids, -1 for those that have none; integers and strings meet by string form."""
        if not self._n or not len(ids):
            return np.full(len(ids), -1, dtype=np.int64)
        return self._find(self._in_common_type(ids))

    def _in_common_type(self, ids: pa.Array) -> pa.Array:
        """Return ids in the type of those that have numbers; where integers and strings meet, all become strings."""
        text = pa.large_string()
        if self._n and ids.type != self._kind and self._kind != text:
            self._make_text()
        self._kind = text if self._n and ids.type != self._kind else ids.type
        return ids.cast(self._kind)

    def _make_text(self) -> None:
        self._ids = self._ids.cast(pa.large_string())

    def _find(self, ids: pa.Array) -> Ints:
        found = pc.fill_null(pc.index_in(ids, value_set=self._ids), -1)
        return np.array(found.to_numpy(zero_copy_only=False), dtype=np.int64)

    def _append(self, ids: pa.Array) -> None:
        self._ids = pa.concat_arrays([self._ids, ids]) if self._n else ids


def _distinct_ids(columns: Sequence[pa.Array]) -> tuple[pa.Array, list[Ints]]:
    """Return the distinct ids of columns in the order of first appearance, and the place of each entry's among them."""
    kinds = {column.type for column in columns if len(column)}
    kind = kinds.pop() if len(kinds) == 1 else pa.large_string()
    encoded = pa.concat_arrays([column.cast(kind) for column in columns]).dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False).reshape(len(columns), -1)
    by_row = codes.T.ravel()
    rows = np.arange(len(by_row), dtype=np.min_scalar_type(len(by_row)))
    first = np.empty(len(encoded.dictionary), dtype=rows.dtype)
    first[by_row[::-1]] = rows[::-1]  # the last write, of the first row, stays
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return encoded.dictionary.take(pa.array(order)), [rank[own] for own in codes]


def encode_names(names: pa.Array) -> tuple[list[str], Ints]:
    """Return the names that there are, in the order of first appearance, and the number of each entry's."""
    encoded = names.dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def build_adjacency(
    src: Any, dst: Any, weight: Any, nodes: Any, symmetrize: Symmetrize, *, drop_negative: bool
) -> tuple[sp.csr_array, IdArray]:
    """Return the adjacency of edges given as columns of ids, and the nodes; see `Graph.from_edges`."""
    check_symmetrize(symmetrize)
    ends = [id_column(src, "src"), id_column(dst, "dst")]
    if len(ends[0]) != len(ends[1]):
        msg = f"`src` has {len(ends[0])} entries and `dst` has {len(ends[1])}; an edge needs both"
        raise InputError(msg)
    n, numbering = len(ends[0]), Numbering()
    if nodes is not None:
        numbering.number(id_column(nodes, "nodes"))
    first, second = numbering.number(*ends)
    try:
        weights: Floats = np.ones(n) if weight is None else np.asarray(weight).astype(np.float64)
    except (TypeError, ValueError):
        msg = "edge weights must be numbers"
        raise InputError(msg) from None
    if weights.shape != (n,):
        msg = f"`weight` has shape {weights.shape} but there {'is' if n == 1 else 'are'} {counted(n, 'edge')}"
        raise InputError(msg)

    def where(row: int) -> str:
        return f"edge {row + 1} ({numbering.name(first[row])} - {numbering.name(second[row])}): the weight is"

    weights = check_weights(weights, where, negative="drop" if drop_negative else "refuse")
    return combine_edges(first, second, weights, numbering, symmetrize, Report()), numbering.ids


def combine_edges(
    first: Ints,
    second: Ints,
    weights: Floats | None,
    numbering: Numbering,
    symmetrize: Symmetrize,
    report: Report,
    *,
    mirror: bool = True,
    place: Place | None = None,
) -> sp.csr_array:
    """Return the adjacency of numbered edges; a weight of 0 is no edge. Repeats and self-loops are counted.

    Without `mirror`, edges are entries of the first end's row only; `place` says where one is.
    """
    rows = None if weights is None or weights.all() else np.flatnonzero(weights)
    if rows is not None and weights is not None:
        first, second, weights = first[rows], second[rows], weights[rows]
    n = len(numbering)
    csr, repeats, opposite = merge_entries(first, second, weights, n, mirror=mirror, add=symmetrize == "sum")
    refuse_repeats(symmetrize, divmod(int(repeats[0]), n) if len(repeats) else None, csr.data, numbering)
    if len(opposite) and weights is not None:
        k = int(opposite[0])
        where = "" if place is None else f"{place(k if rows is None else int(rows[k]))}: "
        msg = (
            f"{where}the pair {numbering.name(first[k])} - {numbering.name(second[k])} has the weight "
            f"{weights[k]:g} here and {-weights[k]:g} elsewhere, equal and opposite; leave out one"
        )
        raise InputError(msg)
    report.repeats += len(repeats)
    report.self_loops += int(np.count_nonzero(csr.diagonal()))
    return csr


def refuse_repeats(
    symmetrize: Symmetrize, pair: tuple[int, int] | None, weights: Floats, numbering: Numbering
) -> None:
    """Raise the error for a pair that must not be listed twice, or for weights that add up to infinity."""
    if symmetrize == "error" and pair is not None:
        one, other = map(numbering.name, sorted(pair))
        how = "say what to do with it: symmetrize='max' or 'sum'"
        msg = f"the pair {one} - {other} is listed more than once; {how}"
        raise InputError(msg)
    if symmetrize == "sum" and not np.isfinite(weights).all():
        msg = "the weights of a pair that is listed several times add up to infinity; scale the weights down"
        raise InputError(msg)


def combine_labels(rows: Sequence[LabelRows], numbering: Numbering) -> tuple[sp.csr_array, tuple[str, ...]]:
    """Return the indicator of labels from one or several sources, and the sorted classes.

    A node that two sources label differently is named; within one source several labels are meant. A label that an
    answer replaces (`LabelRows.replaces`) is removed from all of them.
    """
    if not rows:
        return sp.csr_array((len(numbering), 0), dtype=bool), ()
    names, codes = encode_names(pa.concat_arrays([piece.names for piece in rows]))
    order = sorted(range(len(names)), key=names.__getitem__)
    classes, n, width = tuple(names[k] for k in order), len(numbering), max(len(names), 1)
    parts = np.split(np.argsort(order)[codes], np.cumsum([len(piece.names) for piece in rows])[:-1])
    keys = [  # node * width + class
        piece.numbers[piece.rows].astype(np.int64) * width + part
        for piece, part in zip(rows, parts, strict=True)
    ]
    replaced, new_labels = dict[int, int](), set[int]()
    for piece, own in zip(rows, keys, strict=True):
        for row, key in zip(piece.rows.tolist(), own.tolist(), strict=True) if piece.replaces else ():
            if row in piece.replaces:
                new_labels.add(key)
                if piece.replaces[row] in classes:
                    replaced[key - key % width + classes.index(piece.replaces[row])] = key % width
    gone = np.intersect1d(list(replaced.keys() - new_labels), np.concatenate(keys)).astype(np.int64)
    if len(gone):
        count, first = counted(len(gone), "label"), int(gone[0])
        change = f"{classes[replaced[first]]} instead of {classes[first % width]}"
        more, node = ", and so on" if len(gone) > 1 else "", numbering.name(first // width)
        logger.info("%s replaced by answers: node %r is %s%s", count, node, change, more)
    keys = [np.setdiff1d(own, gone) for own in keys]  # each once
    total = np.unique(np.concatenate(keys))
    indicator = sp.csr_array((np.ones(len(total), bool), np.divmod(total, width)), shape=(n, len(classes)))
    counts = [np.bincount(own // width, minlength=n) for own in keys]
    odd = np.any([(count > 0) & (count < np.diff(indicator.indptr)) for count in counts], axis=0)
    odd[[key // width for key in new_labels]] = False
    if odd.any():
        first = int(np.argmax(odd))
        shown = " and ".join(
            f"{' | '.join(classes[key % width] for key in found)} in {piece.source}"
            for piece, own in zip(rows, keys, strict=True)
            if len(found := own[own // width == first])
        )
        many = (
            f" ({odd.sum()} nodes in all have different labels in different files)" if odd.sum() > 1 else ""
        )
        node = numbering.name(first)
        logger.warning("the node %r is labelled %s; it keeps all of these%s", node, shown, many)
    return indicator, classes


def build_labels(
    rows: Sequence[LabelRows], numbering: Numbering, report: Report, graph: Graph | None = None
) -> Labels:
    """Return the labels of a graph, or of all nodes that rows name, and what was answered; see `combine_labels`."""
    ids = numbering.ids if graph is None else graph.node_ids
    indicator, classes = combine_labels(rows, numbering)
    warn_of_missing_words(report.missing_words)
    if graph is not None and graph.stored_features:
        from unseen.data.leaks import warn_of_predictors

        warn_of_predictors(graph, Labels(indicator, classes, ids))
    if any(isinstance(status, Status) for piece in rows for status in piece.answers.values()):
        from unseen.certificate import order_answers  # labels are mostly read without questions

        names = ids.tolist()
        statuses = [
            (names[node], piece.answers.get(row, ""))
            for piece in rows
            for row, node in enumerate(piece.numbers.tolist())
        ]
        by_node = Labels(indicator, classes, ids).to_lists()
        return Labels(indicator, classes, ids, *order_answers(statuses, by_node))
    has_label = np.diff(indicator.indptr) > 0
    answers = {
        ids[piece.numbers[row]]: answer
        for piece in rows
        for row, answer in piece.answers.items()
        if (answer == CONFIRMED) == has_label[piece.numbers[row]]
    }  # a label outweighs skipped and unknown, and only a label can be confirmed
    return Labels(indicator, classes, ids, answers)


def order_features(table: FeatureRows, nodes: Ints, numbering: Numbering, of_type: str = "") -> Ints:
    """Return the row of features of each of the `nodes`; one without a row is an error."""
    source, numbers = table.source, table.numbers
    rows = np.full(len(numbering), -1, dtype=np.int64)
    rows[numbers] = np.arange(len(numbers))
    again = np.flatnonzero(rows[numbers] != np.arange(len(numbers)))
    if len(again):
        node = numbering.name(numbers[again[0]])
        msg = f"{source}: the node {node!r} has several rows; one row per node is allowed"
        raise InputError(msg)
    missing = nodes[rows[nodes] < 0]
    if not len(missing):
        return rows[nodes]
    remedy = "add rows for them (zeros, if nothing is known) or remove these nodes"
    if table.ids is None:
        remedy = (
            f"it names no nodes, so that its {counted(len(numbers), 'row')} are the nodes 0 to {len(numbers) - 1}: "
            "give the ids with the features, or `nodes` in the order of the rows"
        )
    total, first = f"{counted(len(nodes), 'node')}{of_type}", numbering.name(missing[0])
    msg = f"{source} has no row for {len(missing)} of the {total}, the first is {first!r}; {remedy}"
    raise InputError(msg)


def refuse_foreign_ids(
    known: str, piece: FeatureRows | LabelRows, n_before: int, numbering: Numbering
) -> None:
    """Raise an `InputError` if none of several ids of a source is among the `n_before` that sources before it named."""
    numbers = piece.numbers
    if len(numbers) < 2 or not n_before or numbers.min() < n_before:
        return
    few = range(min(3, n_before)), list(dict.fromkeys(numbers.tolist()))[:3]
    shown = [", ".join(repr(numbering.name(k)) for k in some) for some in few]
    msg = (
        f"{known} and {piece.source} have no id in common: {known} has {shown[0]}, {piece.source} has {shown[1]}; "
        "check that both name the nodes in the same way"
    )
    raise InputError(msg)


def compact(matrix: Features) -> Features:
    """Return a wide table of which nearly all is zero as a sparse matrix: methods take less time and memory for it.

    Examples
    --------
    >>> type(compact(np.eye(100))).__name__, type(compact(np.eye(10))).__name__
    ('csr_array', 'ndarray')
    """
    wide = isinstance(matrix, np.ndarray) and matrix.shape[1] >= WIDE
    return sp.csr_array(matrix) if wide and np.count_nonzero(matrix) <= FILLED * matrix.size else matrix


def describe_reading(graph: Graph, labels: Labels | None, report: Report, options: Options) -> str:
    """Return what was read and done, in one sentence."""
    kept = "the larger weight kept" if options.symmetrize == "max" else "their weights added"
    types = "" if graph.node_types is None else f" of {len(set(graph.node_types))} types"
    kinds = f" in {counted(len(graph.relations), 'relation')}" if graph.is_heterogeneous else ""
    negative = sum(each.n_negative for each in graph.relations) if graph.is_signed else 0
    parts = [
        counted(graph.n_nodes, "node") + types,
        counted(graph.n_edges, "edge") + kinds + (f" ({negative:,} of negative weight)" if negative else ""),
    ]
    if report.repeats:
        parts.append(f"{counted(report.repeats, 'repeat')} ({kept})")
    others = {"self-loop": report.self_loops, "isolated node": int(graph.isolated.sum())}
    parts += [counted(n, noun) for noun, n in others.items() if n]
    if labels is not None:
        parts.append(counted(graph.n_nodes - len(labels.labelled), "unlabelled node"))
    directions = "edges taken as undirected"
    if graph.is_directed:  # links both ways may be a list of undirected edges
        inside = [each.matrix for each in graph.relations if each.source_type == each.target_type]
        loops = sum(int(np.count_nonzero(each.diagonal())) for each in inside)
        pairs = (sum(each.multiply(each.T).nnz for each in inside) - loops) // 2
        every = 2 * pairs == sum(each.nnz for each in inside) - loops
        directions = "edges taken as directed"
        if pairs:
            directions += f", {counted(pairs, 'pair')} of nodes linked both ways"
            directions += " (all: nothing is lost without directed=True, --directed)" if every else ""
    return f"{', '.join([*parts, *report.losses()])}; {directions}"
