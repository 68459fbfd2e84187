"""From edges to a graph, and from rows of labels to the labels of its nodes.

Ids are numbered once, repeats combined, everything counted; classes are sorted, several sources of labels added up.
Here are the sentences, too, about nodes that stand in one source and not in another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from unseen.data.ids import Numbering, coded, id_column, number_ids
from unseen.errors import InputError, counted, logger, show_path
from unseen.graph import Graph, Symmetrize
from unseen.ids import Features, Floats, IdArray, Ints, Place
from unseen.labels import CONFIRMED, Labels, Status
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


def edge_matrix(
    src: Any, dst: Any, weight: Any, nodes: Any, symmetrize: Symmetrize, *, drop_negative: bool
) -> tuple[sp.csr_array, IdArray]:
    """Return the adjacency of edges given as columns of ids, and the nodes; see `Graph.from_edges`."""
    check_symmetrize(symmetrize)
    ends = [id_column(src, "src"), id_column(dst, "dst")]
    if len(ends[0]) != len(ends[1]):
        msg = f"`src` has {len(ends[0])} entries and `dst` has {len(ends[1])}; an edge needs both"
        raise InputError(msg)
    before = [] if nodes is None else [id_column(nodes, "nodes")]
    numbering = number_ids(ends, before=before)
    node_ids, (first, second) = numbering.ids, numbering.columns
    weights = _weights(weight, len(first))
    report = Report()

    def where(row: int) -> str:
        return f"edge {row + 1} ({node_ids[first[row]]} - {node_ids[second[row]]}): the weight is"

    weights = check_weights(weights, where, negative="drop" if drop_negative else "refuse")
    return combined(first, second, weights, node_ids, symmetrize, report), node_ids


def combined(
    first: Ints,
    second: Ints,
    weights: Floats | None,
    node_ids: IdArray,
    symmetrize: Symmetrize,
    report: Report,
    *,
    mirror: bool = True,
    place: Place | None = None,
) -> sp.csr_array:
    """Return the adjacency of numbered edges; a weight of 0 is no edge. Repeats and self-loops are counted.

    Without `mirror`, edges are entries of the first end's row only; `place` says where one stands.
    """
    kept = np.arange(len(first)) if weights is None else np.flatnonzero(weights)
    if weights is not None and len(kept) < len(weights):
        first, second, weights = first[kept], second[kept], weights[kept]
    add = symmetrize == "sum"
    csr, repeats, opposite = merge_entries(first, second, weights, len(node_ids), mirror=mirror, add=add)
    if len(repeats) and symmetrize == "error":
        ends = sorted(divmod(int(repeats[0]), len(node_ids)))
        msg = (
            f"the pair {node_ids[ends[0]]} - {node_ids[ends[1]]} is listed more than once; "
            "say what to do with it: symmetrize='max' or 'sum'"
        )
        raise InputError(msg)
    if len(opposite) and weights is not None:
        k = opposite[0]
        where = "" if place is None else f"{place(int(kept[k]))}: "
        msg = (
            f"{where}the pair {node_ids[first[k]]} - {node_ids[second[k]]} has the weight {weights[k]:g} here and "
            f"{-weights[k]:g} elsewhere, equal and opposite; leave out one"
        )
        raise InputError(msg)
    report.repeats += len(repeats)
    report.self_loops += int(np.count_nonzero(csr.diagonal()))
    return csr


def _weights(weight: npt.ArrayLike | None, n: int) -> Floats:
    if weight is None:
        return np.ones(n)
    try:
        weights = np.asarray(weight).astype(np.float64)
    except (TypeError, ValueError):
        msg = "edge weights must be numbers"
        raise InputError(msg) from None
    if weights.shape != (n,):
        verb = "is" if n == 1 else "are"
        msg = f"`weight` has shape {weights.shape} but there {verb} {counted(n, 'edge')}"
        raise InputError(msg)
    return weights


def labels_of(rows: Sequence[LabelRows], numbers: Sequence[Ints], node_ids: IdArray) -> Labels:
    """Return the labels of rows of one or several sources, given the number of each row's node; classes are sorted.

    A node that two sources label differently is named; within one source several labels are meant. A label that an
    answer replaces (`LabelRows.replaces`) is gone from all of them.
    """
    names, codes = coded(pa.concat_arrays([piece.names for piece in rows]))
    order = sorted(range(len(names)), key=names.__getitem__)
    parts = np.split(np.argsort(order)[codes], np.cumsum([len(piece.names) for piece in rows])[:-1])
    classes, shape = tuple(names[k] for k in order), (len(node_ids), len(names))
    indicators = [
        sp.csr_array((np.ones(len(part), dtype=bool), (row_of[piece.rows], part)), shape=shape)
        for piece, row_of, part in zip(rows, numbers, parts, strict=True)
    ]
    column = {name: k for k, name in enumerate(classes)}
    answered = [
        (int(row_of[row]), column[name], column.get(piece.replaces[row], -1))
        for piece, row_of in zip(rows, numbers, strict=True)
        if piece.replaces
        for row, name in zip(piece.rows.tolist(), piece.names.to_pylist(), strict=True)
        if row in piece.replaces
    ]
    indicators = _corrected(indicators, answered, classes, node_ids)
    together = sum(indicators[1:], start=indicators[0])
    counts = [np.diff(own.indptr) for own in indicators]
    odd = np.flatnonzero(np.any([(n > 0) & (n < np.diff(together.indptr)) for n in counts], axis=0))
    odd = np.setdiff1d(odd, [node for node, _, _ in answered])
    if len(odd):
        first, labels = int(odd[0]), dict[str, list[str]]()
        for piece, own in zip(rows, indicators, strict=True):
            if own[[first]].nnz:
                labels[piece.source] = [classes[k] for k in sorted(own[[first]].indices)]
        tell_contradiction(node_ids[first], labels, len(odd))
    if any(isinstance(status, Status) for piece in rows for status in piece.answers.values()):
        from unseen.certificate import order_answers  # labels are mostly read without questions

        labels_alone, every = Labels(together, classes, node_ids), node_ids.tolist()
        statuses = (
            (every[node], piece.answers.get(row, ""))
            for piece, row_of in zip(rows, numbers, strict=True)
            for row, node in enumerate(row_of.tolist())
        )
        return Labels(together, classes, node_ids, *order_answers(statuses, labels_alone.to_lists()))
    answers = {
        node_ids[row_of[row]]: answer
        for piece, row_of in zip(rows, numbers, strict=True)
        for row, answer in piece.answers.items()
        if (answer == CONFIRMED) == bool(together.indptr[row_of[row]] < together.indptr[row_of[row] + 1])
    }  # a label outweighs skipped and unknown, and only a label can be confirmed
    return Labels(together, classes, node_ids, answers)


def _corrected(
    indicators: list[sp.csr_array],
    answered: list[tuple[int, int, int]],
    classes: tuple[str, ...],
    node_ids: IdArray,
) -> list[sp.csr_array]:
    """Return the labels of each source without those that an answer replaces; how many these are is said.

    `answered` are rows of nodes, with the columns of what they are and of what they are not, -1 for one nobody has.
    """
    given = {(node, new) for node, new, _ in answered}
    gone = sorted({(node, old): new for node, new, old in answered if (node, old) not in given}.items())
    gone = [(place, new) for place, new in gone if any(own[place] for own in indicators if place[1] >= 0)]
    if not gone:
        return indicators
    (node, old), new = gone[0]
    more = ", and so on" if len(gone) > 1 else ""
    logger.info(
        "%s replaced by answers: node %r is %s instead of %s%s",
        counted(len(gone), "label"),
        node_ids[node],
        classes[new],
        classes[old],
        more,
    )
    places = tuple(np.array([place for place, _ in gone]).T)
    kept = sp.csr_array((np.ones(len(gone), dtype=bool), places), shape=indicators[0].shape)
    return [sp.csr_array(own > own.multiply(kept)) for own in indicators]


def tell_contradiction(node: object, labels: Mapping[str, Sequence[str]], count: int) -> None:
    """Say how sources label the first of `count` nodes on which they differ."""
    shown = " and ".join(f"{' | '.join(classes)} in {source}" for source, classes in labels.items())
    more = f" ({count} nodes in all have different labels in different files)" if count > 1 else ""
    logger.warning("the node %r is labelled %s; it keeps all of these%s", node, shown, more)


def refuse_unknown(piece: LabelRows, row_of: Ints, where: str, node_ids: IdArray | None = None) -> None:
    """Raise the error that names the first row whose node is not there (-1)."""
    strangers = np.flatnonzero(row_of < 0)
    if not len(strangers):
        return
    first = int(strangers[0])
    if len(strangers) == len(row_of) > 1 and node_ids is not None and len(node_ids):
        raise no_common_id(where, node_ids[:3].tolist(), piece.source, piece.ids[:3].to_pylist())
    more = f", and {len(strangers)} rows in all name such nodes" if len(strangers) > 1 else ""
    remedy = ", or read the graph with labels=... to make nodes of them" if where == "the graph" else ""
    hint = "" if first else piece.hint
    node = piece.ids[first].as_py()
    msg = f"{piece.place(first)}: {where} has no node {node!r}{more}; remove such rows{remedy}{hint}"
    raise InputError(msg)


def no_common_id(one: str, ids: Sequence[Any], other: str, others: Sequence[Any]) -> InputError:
    """Return the error for two sources that share no id, with three ids of each.

    Examples
    --------
    >>> no_common_id("'e.csv'", ["a"], "'l.csv'", [1, 2, 3, 4]).args[0].partition(";")[0]
    "'e.csv' and 'l.csv' have no id in common: 'e.csv' has 'a', 'l.csv' has 1, 2, 3"
    """
    shown = [", ".join(repr(each) for each in list(some[:3])) for some in (ids, others)]
    return InputError(
        f"{one} and {other} have no id in common: {one} has {shown[0]}, {other} has {shown[1]}; "
        "check that both name the nodes in the same way"
    )


def refuse_apart(edges: str, table: FeatureRows | None, numbering: Numbering) -> None:
    """Raise an `InputError` if no node that the edges, or the nodes before them, name has a row of features."""
    named, own = np.concatenate([*numbering.before, *numbering.columns]), numbering.after[0]
    if table is None or table.ids is None or not len(named) or not len(own) or np.isin(named, own).any():
        return
    shown = [numbering.ids[np.unique(part)[:3]].tolist() for part in (named, own)]
    raise no_common_id(edges, shown[0], table.source, shown[1])


def tell_text_only(edges: str, texts: FeatureRows, numbering: Numbering, place: int) -> None:
    """Say how many nodes only the texts name; texts of other nodes alone are an error."""
    own, named = numbering.after[place], numbering.find_named(place)
    count = int(np.count_nonzero(~named[own]))
    if count == len(own) > 1 and named.any():
        ids = [] if texts.ids is None else texts.ids[:3].to_pylist()
        shown = numbering.ids[np.flatnonzero(named)[:3]].tolist()
        raise no_common_id(edges, shown, texts.source, ids)
    if count:
        logger.info("%s: %s with a text and without edges", show_path(texts.source), counted(count, "node"))


def find_label_only(
    edges: str, rows: Sequence[LabelRows], numbers: Sequence[Ints], numbering: Numbering
) -> tuple[str, object, int, str] | None:
    """Return the place, the id and the number of nodes that only labels name, and a hint about the first row."""
    named = numbering.find_named(len(numbering.after) - len(rows))
    count = int(np.count_nonzero(~named))
    if not count:
        return None
    piece, row_of = next((p, r) for p, r in zip(rows, numbers, strict=True) if not named[r].all())
    row = int(np.flatnonzero(~named[row_of])[0])
    if not named[row_of].any() and named.any() and len(row_of) > 1:
        shown = numbering.ids[np.flatnonzero(named)[:3]].tolist()
        raise no_common_id(edges, shown, piece.source, piece.ids[:3].to_pylist())
    return piece.place(row), piece.ids[row].as_py(), count, piece.hint if row == 0 else ""


def missing_features(source: str, missing: int, nodes: str, first: object, numbered: int) -> InputError:
    """Return the error for nodes without features; `numbered` is the number of rows where they name no nodes."""
    remedy = (
        f"it names no nodes, so that its {counted(numbered, 'row')} are the nodes 0 to {numbered - 1}: "
        "give the ids with the features, or `nodes` in the order of the rows"
        if numbered
        else "add rows for them (zeros, if nothing is known) or remove these nodes"
    )
    return InputError(f"{source} has no row for {missing} of the {nodes}, the first is {first!r}; {remedy}")


def compact(matrix: Features) -> Features:
    """Return a wide table of which nearly all is zero as a sparse matrix: methods take less time and memory for it.

    Examples
    --------
    >>> type(compact(np.eye(100))).__name__, type(compact(np.eye(10))).__name__
    ('csr_array', 'ndarray')
    """
    wide = isinstance(matrix, np.ndarray) and matrix.shape[1] >= WIDE
    return sp.csr_array(matrix) if wide and np.count_nonzero(matrix) <= FILLED * matrix.size else matrix


def feature_rows(
    table: FeatureRows, numbers: Ints, nodes: Ints, node_ids: IdArray, of_type: str = ""
) -> Features:
    """Return the rows of these nodes in their order; `numbers` are the nodes of the rows as they came."""
    rows = np.full(len(node_ids), -1, dtype=np.int64)
    rows[numbers] = np.arange(table.values.shape[0])
    missing = nodes[rows[nodes] < 0]
    if len(missing):
        numbered = table.values.shape[0] if table.ids is None else 0
        total = f"{counted(len(nodes), 'node')}{of_type}"
        raise missing_features(table.source, len(missing), total, node_ids[missing[0]], numbered)
    return compact(table.values)[rows[nodes]]


def node_texts(pieces: Sequence[FeatureRows], numbers: Sequence[Ints], n: int) -> Any:
    """Return the text of each of `n` nodes, given the nodes of the rows of each piece; None without texts."""
    if all(piece.texts is None for piece in pieces):
        return None
    texts = np.full(n, "", dtype=object)
    for piece, rows in zip(pieces, numbers, strict=True):
        if piece.texts is not None:
            texts[rows] = piece.texts
    return texts


def notice(graph: Graph, labels: Labels | None, report: Report, options: Options) -> str:
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
