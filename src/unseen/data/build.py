"""From numbered edges to a matrix, from rows of labels and features to those of the nodes; what was found is counted.

All of it works on the numbers of nodes, so that a graph in memory and one in parts on disk are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from unseen.data.ids import Numbering, encode_names, id_column
from unseen.errors import InputError, counted, logger
from unseen.graph import Graph, Symmetrize
from unseen.ids import Features, Floats, IdArray, Ints, Place
from unseen.labels import CONFIRMED, Labels, Status, warn_of_missing_words
from unseen.weights import check_symmetrize, check_weights, merge_entries

if TYPE_CHECKING:
    from unseen.data.options import Options
    from unseen.data.pieces import FeatureRows, LabelRows

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
        verb = "is" if n == 1 else "are"
        msg = f"`weight` has shape {weights.shape} but there {verb} {counted(n, 'edge')}"
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
    n, add = len(numbering), symmetrize == "sum"
    csr, repeats, opposite = merge_entries(first, second, weights, n, mirror=mirror, add=add)
    if len(repeats) and symmetrize == "error":
        raise repeated_pair(*map(numbering.name, sorted(divmod(int(repeats[0]), n))))
    if len(opposite) and weights is not None:
        k = int(opposite[0])
        where = "" if place is None else f"{place(k if rows is None else int(rows[k]))}: "
        msg = (
            f"{where}the pair {numbering.name(first[k])} - {numbering.name(second[k])} has the weight "
            f"{weights[k]:g} here and {-weights[k]:g} elsewhere, equal and opposite; leave out one"
        )
        raise InputError(msg)
    if add and not np.isfinite(csr.data).all():
        raise infinite_sum()
    report.repeats += len(repeats)
    report.self_loops += int(np.count_nonzero(csr.diagonal()))
    return csr


def repeated_pair(one: object, other: object) -> InputError:
    """Return the error for a pair that must not be listed twice."""
    return InputError(
        f"the pair {one} - {other} is listed more than once; say what to do with it: symmetrize='max' or 'sum'"
    )


def infinite_sum() -> InputError:
    """Return the error for weights of a pair that are too large to be added."""
    return InputError(
        "the weights of a pair that is listed several times add up to infinity; scale the weights down"
    )


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
    own = [  # node * width + class, each once
        np.unique(piece.numbers[piece.rows].astype(np.int64) * width + part)
        for piece, part in zip(rows, parts, strict=True)
    ]
    column = {name: k for k, name in enumerate(classes)}
    replaced, new_labels = dict[int, int](), set[int]()
    for piece in rows:
        for row, name in (
            zip(piece.rows.tolist(), piece.names.to_pylist(), strict=True) if piece.replaces else ()
        ):
            if row in piece.replaces:
                first = int(piece.numbers[row]) * width
                new_labels.add(first + column[name])
                if piece.replaces[row] in column:
                    replaced[first + column[piece.replaces[row]]] = column[name]
    gone = np.intersect1d(list(replaced.keys() - new_labels), np.concatenate(own)).astype(np.int64)
    if len(gone):
        count, first = counted(len(gone), "label"), int(gone[0])
        change = f"{classes[replaced[first]]} instead of {classes[first % width]}"
        more, node = ", and so on" if len(gone) > 1 else "", numbering.name(first // width)
        logger.info("%s replaced by answers: node %r is %s%s", count, node, change, more)
        own = [np.setdiff1d(each, gone) for each in own]
    total = np.unique(np.concatenate(own))
    indicator = sp.csr_array((np.ones(len(total), bool), np.divmod(total, width)), shape=(n, len(classes)))
    counts = [np.bincount(each // width, minlength=n) for each in own]
    odd = np.any([(count > 0) & (count < np.diff(indicator.indptr)) for count in counts], axis=0)
    odd[[key // width for key in new_labels]] = False
    if odd.any():
        first = int(np.argmax(odd))
        shown = " and ".join(
            f"{' | '.join(classes[key % width] for key in found)} in {piece.source}"
            for piece, each in zip(rows, own, strict=True)
            if len(found := each[each // width == first])
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
        statuses = (
            (names[node], piece.answers.get(row, ""))
            for piece in rows
            for row, node in enumerate(piece.numbers.tolist())
        )
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


def refuse_unknown(piece: LabelRows, where: str, n: int, numbering: Numbering) -> None:
    """Raise the error that names the first row whose node is not among the first `n`."""
    refuse_foreign_ids(where, piece, n, numbering)
    strangers = np.flatnonzero(piece.numbers >= n)
    if not len(strangers):
        return
    first = int(strangers[0])
    more = f", and {len(strangers)} rows in all name such nodes" if len(strangers) > 1 else ""
    remedy = ", or read the graph with labels=... to make nodes of them" if where == "the graph" else ""
    hint = "" if first else piece.hint
    node = piece.ids[first].as_py()
    msg = f"{piece.place(first)}: {where} has no node {node!r}{more}; remove such rows{remedy}{hint}"
    raise InputError(msg)


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


def collect_texts(tables: Iterable[FeatureRows], n: int) -> Any:
    """Return the text of each of `n` nodes in tables of features; None without texts."""
    with_texts = [table for table in tables if table.texts is not None]
    texts = np.full(n, "", dtype=object)
    for table in with_texts:
        texts[table.numbers] = table.texts
    return texts if with_texts else None


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
