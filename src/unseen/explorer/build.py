"""From a graph, its labels, vectors and findings to the content of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from unseen.discovery.truth import compare
from unseen.embedding import Embedding
from unseen.errors import InputError, counted, install_hint, logger
from unseen.explorer import palette
from unseen.explorer.colourings import colour_by_label, colour_by_name, colour_by_probability, make_colourings
from unseen.explorer.content import (
    Content,
    category,
    colouring,
    pack_lists,
    pack_map,
    pack_probabilities,
    shorten_texts,
)
from unseen.explorer.edges import collect_edges, list_nearest, place_other_types
from unseen.explorer.findings import (
    TYPICAL,
    Verdicts,
    as_content,
    describe_classes,
    describe_coverage,
    error_rates,
    find_rows,
    locate_entries,
)
from unseen.explorer.layout import FEW, Progress, has_open_tsne, lay_out, leading_columns
from unseen.explorer.words import describe_features
from unseen.graph import Graph
from unseen.ids import IdArray, Ints, match_ids
from unseen.labels import Labels
from unseen.randomness import RandomState, as_generator

if TYPE_CHECKING:
    from unseen.discovery.result import Discovery
    from unseen.discovery.suggest import Suggestion

MAX_NODES = 1_000_000
"""Nodes drawn unless more are asked for."""
HUGE = 300_000
"""Of more nodes the page leaves out their features and why they got their probabilities."""
SLOW_LAYOUT = f"The map is computed by scikit-learn. For openTSNE, which is faster, {install_hint('viz')}"
"""What a page says where openTSNE is missing."""


@dataclass(frozen=True, eq=False)
class Subject:
    """What a page is about.

    Parameters
    ----------
    embedding : Embedding
        Vectors; nodes of the graph that it lacks are not drawn.
    graph : Graph or None
        Edges and features, where there are any.
    labels : Labels or None
        What the method saw.
    truth : Labels or None
        Labels that were kept from the method, for the reader alone.
    discovery : Discovery or None
        What was found.
    suggestions : sequence of Suggestion or None
        What to label next.
    doubts : pyarrow.Table or None
        Labels that are probably wrong, as :func:`unseen.audit` lists them.
    attributes : pyarrow.Table or None
        More to colour by: a column `node`, and any others.
    titles : mapping or None
        A title for each node id, which the page shows instead of the id.
    """

    embedding: Embedding
    graph: Graph | None = None
    labels: Labels | None = None
    truth: Labels | None = None
    discovery: Discovery | None = None
    suggestions: Sequence[Suggestion] | None = None
    doubts: pa.Table | None = None
    attributes: pa.Table | None = None
    titles: Mapping[str, str] | None = None


def build_page(
    subject: Subject,
    *,
    title: str,
    max_nodes: int = MAX_NODES,
    random_state: RandomState = 0,
    on_progress: Progress = None,
) -> Content:
    """Choose the nodes, lay them out, and gather what is known of them.

    Parameters
    ----------
    subject : Subject
        What the page is about.
    title : str
        Its heading.
    max_nodes : int
        Of more nodes than this a random sample is drawn, with all that the panel names.
    random_state : None, int or Generator
        Seed of the sample and of the map.
    on_progress : callable or None
        Called with the progress of the map.

    Returns
    -------
    dict
        All that the page shows, as its script reads it; a part is None where there is nothing to show. Rows are the
        nodes drawn; `edges` has each kind of edges once, `near` the nearest rows in vector space, `labels` what the
        method saw, `truth` what it did not.

    Examples
    --------
    >>> import numpy as np
    >>> page = build_page(Subject(Embedding(np.eye(4))), title="Four nodes")
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
    graph, types = subject.graph, None
    if graph is not None:
        ids, positions, types = place_other_types(graph, ids, positions, max_nodes, rng)
        graph = graph.subgraph(match_ids(ids, graph.node_ids))
    features = None if graph is None or len(ids) > HUGE else graph.features
    if len(ids) > HUGE:
        notes.append(f"Of more than {HUGE:,} nodes the page keeps neither features nor reasons.")
    return {
        "title": title,
        "subtitle": _subtitle(subject, len(ids)),
        "notes": notes,
        "ids": [str(node) for node in ids.tolist()],
        "texts": None if graph is None else shorten_texts(graph.texts, notes),
        "titles": None
        if subject.titles is None
        else [subject.titles.get(str(node), "") for node in ids.tolist()],
        **pack_map(positions),
        **findings(subject, ids),
        "attributes": [] if subject.attributes is None else make_colourings(subject.attributes, ids),
        "types": types,
        "near": near,
        "edges": None if graph is None else collect_edges(graph, notes),
        "features": None
        if graph is None or features is None
        else describe_features(features, graph.feature_names),
        "palette": {
            "classes": palette.CLASSES,
            "safe": palette.SAFE,
            "steps": palette.STEPS,
            "quiet": palette.QUIET,
            "map": palette.MAP,
        },
        "shapes": palette.SHAPES,
    }


def findings(subject: Subject, ids: IdArray) -> Content:
    """Return what changes on a page with the labels; `ids` are the nodes drawn."""
    labels = None if subject.labels is None else subject.labels.of_nodes(ids)
    truth = None if subject.truth is None else subject.truth.of_nodes(ids)
    discovery, suggestions = subject.discovery, subject.suggestions
    verdicts = None if discovery is None else Verdicts(discovery, ids, labels)
    colourings = _colourings(len(ids), labels, truth, verdicts)
    return {
        "start": colourings[0]["key"],
        "colourings": colourings,
        "labels": _label_lists(labels),
        "statuses": []
        if labels is None
        else [[str(node), status] for node, status in labels.answers.items()],
        "certificate": None if subject.labels is None else subject.labels.certificate().to_dict(),
        "truth": _label_lists(truth),
        "comparison": _compare_with_truth(subject),
        "probability": None if verdicts is None else pack_probabilities(verdicts.probability),
        "evidence": None if verdicts is None or len(ids) > HUGE else verdicts.evidence,
        "found": None if discovery is None else describe_classes(discovery, ids),
        "audit": describe_coverage(discovery, subject.labels),
        "selfTest": None if discovery is None else as_content(discovery.self_test),
        "rates": None if discovery is None else error_rates(discovery, ids),
        "suggestions": None
        if suggestions is None
        else locate_entries([asdict(each) for each in suggestions], ids),
        "doubts": None if subject.doubts is None else locate_entries(subject.doubts.to_pylist(), ids),
    }


def _compare_with_truth(subject: Subject) -> str | None:
    """Return how many of the flagged nodes belong to hidden classes; None if no unlabelled node has a true label."""
    if subject.discovery is None or subject.truth is None:
        return None
    try:
        return compare(subject.discovery, subject.truth).summary()
    except InputError:
        return None


def choose_rows(subject: Subject, max_nodes: int, rng: np.random.Generator, notes: list[str]) -> Ints:
    """Return the rows of the embedding that are drawn."""
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
    named = [s.node for s in subject.suggestions or ()]
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


def common_rows(embedding: Embedding, graph: Graph) -> Ints:
    """Return the rows of the embedding whose nodes the graph has; none at all is an error."""
    inside = match_ids(embedding.node_ids, graph.node_ids)
    if (inside < 0).all():
        msg = (
            f"no node of the embedding is in the graph: the first are {embedding.node_ids[0]!r} there and "
            f"{graph.node_ids[0]!r} here; give the graph that the vectors were made of"
        )
        raise InputError(msg)
    return np.flatnonzero(inside >= 0)


def _label_lists(labels: Labels | None) -> Content | None:
    if labels is None:
        return None
    return pack_lists(np.diff(labels.indicator.indptr), labels.indicator.indices, labels.classes)


def _colourings(
    n: int, labels: Labels | None, truth: Labels | None, verdicts: Verdicts | None
) -> list[Content]:
    """Return the ways to colour, the most telling first; a class looks the same in all of them."""
    classes = [*(labels.classes if labels else ()), *(truth.classes if truth else ())]
    number = {name: k for k, name in enumerate(dict.fromkeys(classes))}
    colourings: list[Content] = []
    if verdicts is not None:
        classes_seen = {name: category(name, number[name]) for name in (labels.classes if labels else ())}
        groups = {
            each.group: category(each.group, group=k, caption=", ".join(each.caption[:3]))
            for k, each in enumerate(verdicts.classes)
        }
        # faded, so that found groups stand out
        shared = {f"class {k}": {**v, "muted": bool(groups)} for k, v in classes_seen.items()}
        shared |= {f"group {k}": v for k, v in groups.items()}
        keys = [
            f"group {group}" if group else None if likely is None else f"class {likely}"
            for group, likely in zip(verdicts.group, verdicts.likely, strict=True)
        ]
        if groups:
            colourings.append(
                colour_by_name("overview", "Predicted or candidate class", keys, shared, "unknown")
            )
    if labels is not None:
        colourings.append(colour_by_label("label", "Label", labels, number))
    if verdicts is not None:
        colourings.append(
            colour_by_name("predicted", "Predicted class", verdicts.likely, classes_seen, "unknown")
        )
        colourings.append(colour_by_probability(verdicts.probability))
        if groups:
            colourings.append(
                colour_by_name("group", "Candidate class", verdicts.group, groups, "in no group")
            )
    if truth is not None:
        colourings.append(colour_by_label("truth", "True label", truth, number))
    if not colourings:  # nothing is known of the nodes: they look alike
        colourings.append(colouring("node", "Nothing", [category("node")], np.zeros(n, dtype=np.int64)))
    return colourings


def _subtitle(subject: Subject, drawn: int) -> str:
    graph, method = subject.graph, subject.embedding.method
    edges = "" if graph is None else f", {counted(graph.n_edges, 'edge')}"
    total = len(subject.embedding.node_ids) if graph is None else graph.n_nodes
    nodes = counted(total, "node") + ("" if drawn == total else f" ({drawn:,} of them drawn)")
    return f"{nodes}{edges}. Embedding by {method or 'another tool'}, map by t-SNE: close nodes are similar."
