"""From the subject of a page to its content: which nodes are drawn where, and what is known of them."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import numpy as np

from unseen.discovery.result import SENTENCES, Discovery
from unseen.discovery.summary import LabelCoverage
from unseen.discovery.truth import compare
from unseen.errors import InputError, counted, install_hint, logger
from unseen.explorer.colours import PALETTE, SHAPES, colour_nodes, make_colourings
from unseen.explorer.content import (
    Content,
    as_content,
    find_rows,
    pack,
    pack_lists,
    pack_map,
    pack_probabilities,
    shorten_texts,
)
from unseen.explorer.layout import FEW, Progress, has_open_tsne, lay_out, leading_columns
from unseen.explorer.nodes import collect_edges, describe_features, list_nearest, place_other_types
from unseen.explorer.subject import Subject, common_rows
from unseen.ids import IdArray, Ints, match_ids
from unseen.labels import Labels
from unseen.randomness import RandomState, as_generator

MAX_NODES = 1_000_000
"""Nodes drawn unless more are asked for."""
HUGE = 300_000
"""Of more nodes the page leaves out their features and why they got their probabilities."""
TYPICAL = 10
"""Members listed for a found class."""
SLOW_LAYOUT = f"The map is computed by scikit-learn. For openTSNE, which is faster, {install_hint('viz')}"
"""What a page says where openTSNE is missing."""


def build_page(
    subject: Subject,
    *,
    title: str,
    max_nodes: int = MAX_NODES,
    random_state: RandomState = 0,
    on_progress: Progress = None,
) -> Content:
    """Choose the nodes, lay them out, and gather what is known of them: all that the script of a page reads.

    A part is None where there is nothing to show. Rows are the nodes drawn; `edges` has each kind of edges once, `near`
    the nearest rows in vector space, `labels` what the method saw, `truth` what it did not.

    Examples
    --------
    >>> import unseen
    >>> page = build_page(Subject(unseen.Embedding(np.eye(4))), title="Four nodes")
    >>> page["ids"]
    ['0', '1', '2', '3']
    """
    rng = as_generator(random_state)
    notes: list[str] = []
    rows = choose_rows(subject, max_nodes, rng, notes)
    ids = subject.embedding.node_ids[rows]
    if len(ids) >= FEW and not has_open_tsne():
        notes.append(SLOW_LAYOUT)
        logger.info("%s", SLOW_LAYOUT)
    columns = leading_columns(subject.embedding.vectors[rows], rng)
    positions = lay_out(columns, rng, on_progress=on_progress)
    near = list_nearest(columns, notes)
    total, edges = len(subject.embedding.node_ids), ""
    of_graph: Content = dict.fromkeys(("texts", "types", "edges", "features"))
    if subject.graph is not None:
        total, edges = subject.graph.n_nodes, f", {counted(subject.graph.n_edges, 'edge')}"
        ids, positions, of_graph["types"] = place_other_types(subject.graph, ids, positions, max_nodes, rng)
        graph = subject.graph.subgraph(match_ids(ids, subject.graph.node_ids))
        of_graph |= {"texts": shorten_texts(graph.texts, notes), "edges": collect_edges(graph, notes)}
        if graph.features is not None and len(ids) <= HUGE:
            of_graph["features"] = describe_features(graph.features, graph.feature_names)
    if len(ids) > HUGE:
        notes.append(f"Of more than {HUGE:,} nodes the page keeps neither features nor reasons.")
    nodes = counted(total, "node") + ("" if len(ids) == total else f" ({len(ids):,} of them drawn)")
    names, titles = [str(node) for node in ids.tolist()], subject.titles
    return {
        "title": title,
        "subtitle": f"{nodes}{edges}. Embedding by {subject.embedding.method or 'another tool'}, map by t-SNE: "
        "close nodes are similar.",
        "notes": notes,
        "ids": names,
        "titles": None if titles is None else [titles.get(name, "") for name in names],
        **of_graph,
        **pack_map(positions),
        **findings(subject, ids),
        "attributes": [] if subject.attributes is None else make_colourings(subject.attributes, ids),
        "near": near,
        "palette": PALETTE,
        "shapes": SHAPES,
    }


def choose_rows(subject: Subject, max_nodes: int, rng: np.random.Generator, notes: list[str]) -> Ints:
    """Return the rows of the embedding that are drawn: all, or a sample that has all that the panels name."""
    embedding, graph = subject.embedding, subject.graph
    if max_nodes < 1:
        msg = f"`max_nodes` must be at least 1, got {max_nodes}"
        raise InputError(msg)
    rows = np.arange(len(embedding.node_ids))
    if graph is not None:
        n, rows = len(rows), common_rows(embedding, graph)
        for missing, where in ((n - len(rows), "graph"), (graph.n_nodes - len(rows), "embedding")):
            # those of other types are placed beside
            if missing and (where == "graph" or graph.node_types is None):
                are = "is" if missing == 1 else "are"
                notes.append(f"{counted(missing, 'node')} {are} not in the {where} and so not on the map.")
                logger.warning("%s", notes[-1])
    if len(rows) <= max_nodes:
        return rows
    named = [each.node for each in subject.suggestions or ()]
    if subject.discovery is not None:
        named += [node for each in subject.discovery.classes for node in each.members[:TYPICAL]]
    must = np.unique(find_rows(named, embedding.node_ids))
    must = must[must >= 0]
    rest = np.setdiff1d(rows, must)
    sample = np.sort(np.r_[must, rng.choice(rest, max(max_nodes - len(must), 0), replace=False)])
    notes.append(
        f"The map shows {len(sample):,} of {len(rows):,} nodes, drawn at random, and the edges between them."
    )
    logger.warning("%s --max-nodes %d draws all of them.", notes[-1], len(rows))
    return sample


def findings(subject: Subject, ids: IdArray) -> Content:
    """Return what changes on a page with the labels; `ids` are the nodes drawn."""
    labels = None if subject.labels is None else subject.labels.of_nodes(ids)
    truth = None if subject.truth is None else subject.truth.of_nodes(ids)
    discovery, columns = subject.discovery, None
    found: Content = dict.fromkeys(("comparison", "probability", "evidence", "found", "selfTest", "rates"))
    if discovery is not None:
        rows = match_ids(ids, discovery.nodes.column("node").to_numpy(zero_copy_only=False)).tolist()
        names = ("unseen_probability", "likely_class", "group")
        probability, likely, group = (_column_of(discovery.nodes, name, rows) for name in names)
        if labels is not None:
            for row in labels.labelled.tolist():  # what is known needs no guess
                likely[row] = labels.classes[labels.indicator.indices[labels.indicator.indptr[row]]]
        columns = np.array(probability, dtype=np.float64), likely, group  # None becomes NaN
        found |= {
            "probability": pack_probabilities(columns[0]),
            "evidence": None if len(ids) > HUGE else _describe_evidence(discovery, rows),
            "found": _describe_classes(discovery, ids),
            "selfTest": as_content(discovery.self_test),
            "rates": _describe_rates(discovery, rows),
        }
        if subject.truth is not None:
            with contextlib.suppress(InputError):  # no unlabelled node has a true label
                found["comparison"] = compare(discovery, subject.truth).summary()
    classes = () if discovery is None else discovery.classes
    colourings = colour_nodes(len(ids), labels, truth, classes, columns)
    answers = {} if labels is None else labels.answers
    suggestions, doubts = subject.suggestions, subject.doubts
    return {
        **found,
        "start": colourings[0]["key"],
        "colourings": colourings,
        "labels": _pack_labels(labels),
        "statuses": [[str(node), status] for node, status in answers.items()],
        "certificate": None if subject.labels is None else subject.labels.certificate().to_dict(),
        "truth": _pack_labels(truth),
        "suggestions": None
        if suggestions is None
        else _locate([each.to_dict() for each in suggestions], ids),
        "doubts": None if doubts is None else _locate(doubts.to_pylist(), ids),
        "audit": _describe_coverage(discovery, subject.labels),
    }


def _column_of(table: Any, name: str, rows: list[int]) -> list[Any]:
    """Return what a table says of the nodes drawn, which have these rows in it; None for -1."""
    values = table.column(name).to_pylist()
    return [values[row] if row >= 0 else None for row in rows]


def _locate(entries: list[Content], ids: IdArray) -> list[Content]:
    """Return suggestions, or doubtful labels, each with the row of its node on the page, None where it is not drawn."""
    rows = find_rows([each["node"] for each in entries], ids).tolist()
    return [
        {**as_content(each), "node": str(each["node"]), "row": row if row >= 0 else None}
        for each, row in zip(entries, rows, strict=True)
    ]


def _pack_labels(labels: Labels | None) -> Content | None:
    if labels is None:
        return None
    return pack_lists(np.diff(labels.indicator.indptr), labels.indicator.indices, labels.classes)


def _describe_evidence(discovery: Discovery, rows: list[int]) -> Content:
    """Return why nodes got their probabilities; ranks run from 0 to 254, 255 is none."""
    parts = [part for part in SENTENCES if part in discovery.evidence.column_names]
    ranks = np.array([_column_of(discovery.evidence, part, rows) for part in parts], dtype=np.float64).T
    sentences = [dict(zip(("strong", "weak"), SENTENCES[part], strict=True)) for part in parts]
    return {"parts": sentences, "ranks": pack(np.where(np.isnan(ranks), 255, ranks * 254))}


def _describe_classes(discovery: Discovery, ids: IdArray) -> Content:
    """Return how many classes were found and their descriptions; members and questions as rows of the page."""
    classes = []
    for each in discovery.classes:
        rows = find_rows(each.members[:TYPICAL], ids)
        classes.append({**as_content(replace(each, members=())), "members": rows[rows >= 0].tolist()})
    curve = tuple(point for point in discovery.count.curve if np.isfinite(point[1]))
    count = as_content(replace(discovery.count, curve=curve)) if discovery.has_number else None
    rows = find_rows(discovery.questions, ids)
    questions = rows[rows >= 0].tolist()
    return {"count": count, "classes": classes, "failed": not discovery.has_estimate, "questions": questions}


def _describe_rates(discovery: Discovery, rows: list[int]) -> Content:
    """Return bounds for every position of a slider, and lists at several error rates; `q` is that of each node."""
    sentence = discovery.new_nodes.sentence
    if not discovery.guarantee.holds:
        return {"holds": False, "sentence": sentence}
    probability = discovery.nodes.column("unseen_probability").to_numpy()
    places = [k / 100 for k in range(100)]
    lists = [discovery.select(fdr) for fdr in dict.fromkeys((0.05, discovery.fdr, 0.2))]
    return {
        "holds": True,
        "sentence": sentence,
        "above": [int((probability > place).sum()) for place in places],
        "at_most_false": [discovery.at_most_false(place) for place in places],
        "lists": [{"fdr": each.fdr, "sentence": each.sentence} for each in lists],
        "q": pack_probabilities(np.array(_column_of(discovery.evidence, "q_value", rows), dtype=np.float64)),
    }


def _describe_coverage(discovery: Discovery | None, labels: Labels | None) -> Content | None:
    """Return what the labels cover; without discovery, their counts alone."""
    if discovery is not None:
        coverage = discovery.coverage
        if not discovery.has_number:
            coverage = replace(coverage, expected_unseen=np.nan, expected_if_hard=np.nan)
    elif labels is not None:
        counts = tuple(zip(labels.classes, labels.counts.tolist(), strict=True))
        coverage = LabelCoverage(counts, labels.n_nodes, len(labels.labelled), None, None, None, np.nan, ())
    else:
        return None
    content: Content = as_content(coverage)
    return content
