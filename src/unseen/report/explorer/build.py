"""From a graph, its labels, vectors and findings to the values of a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.embedding import Embedding
from unseen.errors import InputError, logger
from unseen.graph import Graph
from unseen.ids import IdArray, match_ids
from unseen.labels import Labels
from unseen.randomness import RandomState, as_generator
from unseen.report.explorer.colourings import by_label, by_name, by_probability, plain
from unseen.report.explorer.content import Category, Colouring, Evidence, Ints, Lists, Page
from unseen.report.explorer.layout import map_of
from unseen.report.explorer.words import feature_words

if TYPE_CHECKING:
    from unseen.discovery.result import Discovery, Suggestion

MAX_NODES = 50_000
"""Nodes drawn unless more are asked for."""
MAX_EDGES = 1_000_000
"""Edges kept in a page; of more, each node keeps its strongest."""
TYPICAL = 10
"""Members told of a found class."""
SENTENCES = {
    "no_class_fits": ("no labelled class fits it", "a labelled class fits it well"),
    "unlike_labelled": ("labels are rare among nodes like it", "many nodes like it are labelled"),
    "neighbourhood": ("its neighbours look new too", "its neighbours look like labelled classes"),
}
"""What a high and a low rank of each part of the evidence mean."""


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
    """

    embedding: Embedding
    graph: Graph | None = None
    labels: Labels | None = None
    truth: Labels | None = None
    discovery: Discovery | None = None
    suggestions: Sequence[Suggestion] | None = None


def build_page(
    subject: Subject,
    *,
    title: str,
    max_nodes: int = MAX_NODES,
    random_state: RandomState = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> Page:
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
        Told how far the map is.

    Examples
    --------
    >>> import numpy as np
    >>> page = build_page(Subject(Embedding(np.eye(4))), title="Four nodes")
    >>> page.node_ids
    ['0', '1', '2', '3']
    """
    rng = as_generator(random_state)
    notes: list[str] = []
    rows = _drawn(subject, max_nodes, rng, notes)
    ids = subject.embedding.node_ids[rows]
    labels = None if subject.labels is None else _restricted(subject.labels, ids)
    truth = None if subject.truth is None else _restricted(subject.truth, ids)
    graph = None if subject.graph is None else _subgraph(subject.graph, ids)
    found = subject.discovery
    judged = None if found is None else _Judged(found, ids, labels)
    return Page(
        title,
        _subtitle(subject, len(ids)),
        [str(node) for node in ids.tolist()],
        map_of(subject.embedding.vectors[rows], rng, on_progress=on_progress),
        _colourings(len(ids), labels, truth, judged),
        edges=None if graph is None else _edges(graph.adjacency, notes),
        labels=None if labels is None else _label_lists(labels),
        truth=None if truth is None else _label_lists(truth),
        features=None
        if graph is None or graph.features is None
        else feature_words(graph.features, graph.feature_names),
        probability=None if judged is None else judged.probability,
        evidence=None if judged is None else judged.evidence,
        found=None if found is None else _found(found, ids),
        audit=_audit(subject),
        self_test=None if found is None else _self_test(found),
        suggestions=None if subject.suggestions is None else _suggested(subject.suggestions, ids),
        notes=notes,
    )


class _Judged:
    """What discovery says of the nodes drawn, in their order."""

    def __init__(self, found: Discovery, ids: IdArray, labels: Labels | None) -> None:
        rows = match_ids(ids, found.nodes.column("node").to_numpy(zero_copy_only=False))
        inside = rows >= 0

        def column(name: str) -> list[Any]:
            values = found.nodes.column(name).to_pylist()
            return [values[row] if row >= 0 else None for row in rows.tolist()]

        self.classes = found.classes
        self.probability = np.array([np.nan if p is None else p for p in column("unseen_probability")])
        self.likely: list[str | None] = column("likely_class")
        self.group: list[str | None] = column("group")
        if labels is not None:
            for row in labels.labelled.tolist():  # what is known needs no guess
                self.likely[row] = labels.classes[labels.indicator.indices[labels.indicator.indptr[row]]]
        parts = [part for part in SENTENCES if part in found.evidence.column_names]
        ranks = np.full((len(ids), len(parts)), np.nan)
        for k, part in enumerate(parts):
            values = np.array([np.nan if v is None else v for v in found.evidence.column(part).to_pylist()])
            ranks[inside, k] = values[rows[inside]]
        self.evidence = Evidence(tuple(SENTENCES[part] for part in parts), ranks)


def _drawn(subject: Subject, max_nodes: int, rng: np.random.Generator, notes: list[str]) -> Ints:
    """Return the rows of the embedding that are drawn."""
    embedding, graph = subject.embedding, subject.graph
    if max_nodes < 1:
        msg = f"`max_nodes` must be at least 1, got {max_nodes}"
        raise InputError(msg)
    rows = np.arange(len(embedding.node_ids))
    if graph is not None:
        inside = match_ids(embedding.node_ids, graph.node_ids)
        if (inside < 0).all():
            msg = (
                f"no node of the embedding is in the graph: the first are {embedding.node_ids[0]!r} there and "
                f"{graph.node_ids[0]!r} here; give the graph that the vectors were made of"
            )
            raise InputError(msg)
        rows = rows[inside >= 0]
        for missing, where in (((inside < 0).sum(), "graph"), (graph.n_nodes - len(rows), "embedding")):
            if missing:
                notes.append(f"{missing:,} nodes are not in the {where} and so not on the map.")
                logger.warning("%s", notes[-1])
    if len(rows) <= max_nodes:
        return rows
    wanted = [s.node for s in subject.suggestions or ()]
    if subject.discovery is not None:
        wanted += [node for each in subject.discovery.classes for node in each.members[:TYPICAL]]
    must = _rows_of(wanted, embedding.node_ids)
    rest = np.setdiff1d(rows, must)
    chosen = np.sort(np.r_[must, rng.choice(rest, max(max_nodes - len(must), 0), replace=False)])
    notes.append(
        f"The map shows {len(chosen):,} of {len(rows):,} nodes, drawn at random, and the edges between them."
    )
    logger.warning("%s --max-nodes %d draws all of them.", notes[-1], len(rows))
    return chosen


def _rows_of(nodes: Sequence[Any], ids: IdArray) -> Ints:
    if not nodes:
        return np.zeros(0, dtype=np.int64)
    wanted = np.empty(len(nodes), dtype=object)
    wanted[:] = [str(node) for node in nodes]
    found = match_ids(wanted, ids)
    return np.unique(found[found >= 0])


def _restricted(labels: Labels, ids: IdArray) -> Labels:
    rows = match_ids(ids, labels.node_ids)
    padded = sp.vstack([labels.indicator, sp.csr_array((1, len(labels.classes)), dtype=bool)], format="csr")
    return Labels(padded[rows], labels.classes, ids)


def _subgraph(graph: Graph, ids: IdArray) -> Graph:
    rows = match_ids(ids, graph.node_ids)
    if np.array_equal(rows, np.arange(graph.n_nodes)):
        return graph
    features = None if graph.features is None else graph.features[rows]
    return Graph(graph.adjacency[rows][:, rows], features, ids, graph.feature_names)


def _edges(adjacency: sp.csr_array, notes: list[str]) -> Lists:
    """Return each edge once, at its lower end; of too many, the strongest of each node."""
    n = adjacency.shape[0]
    upper = sp.triu(adjacency, 1, format="csr")
    if upper.nnz > MAX_EDGES:
        most = max(1, MAX_EDGES // n)
        rows = np.repeat(np.arange(n), np.diff(adjacency.indptr))
        order = np.lexsort((-adjacency.data, rows))
        place = np.arange(adjacency.nnz) - np.repeat(adjacency.indptr[:-1], np.diff(adjacency.indptr))
        kept = order[place < most]
        strongest = sp.csr_array((adjacency.data[kept], (rows[kept], adjacency.indices[kept])), (n, n))
        total = upper.nnz
        upper = sp.triu(strongest.maximum(strongest.T), 1, format="csr")
        notes.append(
            f"Of {total:,} edges the page keeps {upper.nnz:,}: the {most} strongest of each node."
        )
        logger.warning("%s", notes[-1])
    upper.sort_indices()
    return Lists(np.diff(upper.indptr), upper.indices)


def _label_lists(labels: Labels) -> Lists:
    return Lists(np.diff(labels.indicator.indptr), labels.indicator.indices, labels.classes)


def _colourings(
    n: int, labels: Labels | None, truth: Labels | None, judged: _Judged | None
) -> list[Colouring]:
    """Return the ways to colour, the most telling first; a class looks the same in all of them."""
    classes = [*(labels.classes if labels else ()), *(truth.classes if truth else ())]
    number = {name: k for k, name in enumerate(dict.fromkeys(classes))}
    found: list[Colouring] = []
    if judged is not None:
        known = {name: Category(name, number[name]) for name in (labels.classes if labels else ())}
        groups = {
            each.name: Category(each.name, len(number) + k, ", ".join(each.caption[:3]))
            for k, each in enumerate(judged.classes)
        }
        shared = {**{f"class {k}": v for k, v in known.items()}, **{f"group {k}": v for k, v in groups.items()}}
        keys = [
            f"group {group}" if group else None if likely is None else f"class {likely}"
            for group, likely in zip(judged.group, judged.likely, strict=True)
        ]
        if groups:
            found.append(by_name("overview", "Predicted or new class", keys, shared, "unknown"))
    if labels is not None:
        found.append(by_label("label", "Label", labels, number))
    if judged is not None:
        found.append(by_name("predicted", "Predicted class", judged.likely, known, "unknown"))
        found.append(by_probability(judged.probability))
        if groups:
            found.append(by_name("group", "Discovered group", judged.group, groups, "in no group"))
    if truth is not None:
        found.append(by_label("truth", "Label, also those kept back", truth, number))
    return found or [plain(n)]


def _subtitle(subject: Subject, drawn: int) -> str:
    graph, made = subject.graph, subject.embedding.method
    edges = "" if graph is None else f", {graph.n_edges:,} edges"
    total = len(subject.embedding.node_ids) if graph is None else graph.n_nodes
    shown = "" if drawn == total else f" ({drawn:,} of them drawn)"
    return f"{total:,} nodes{shown}{edges}. Vectors by {made or 'another tool'}, map by t-SNE: near means alike."


def _found(found: Discovery, ids: IdArray) -> dict[str, Any]:
    classes = []
    for each in found.classes:
        typical = np.empty(len(each.members[:TYPICAL]), dtype=object)
        typical[:] = [str(node) for node in each.members[:TYPICAL]]
        rows = match_ids(typical, ids)
        classes.append(
            {
                "name": each.name,
                "size": each.size,
                "caption": list(each.caption),
                "captionKind": each.caption_kind,
                "members": rows[rows >= 0].tolist(),
                "nearest": each.nearest_seen,
                "edgeRatio": _number(each.edge_ratio),
                "probability": _number(each.probability),
            }
        )
    count = found.count
    curve = [[int(k), float(score)] for k, score in count.curve if np.isfinite(score)]
    return {
        "count": {"best": count.best, "low": count.low, "high": count.high, "curve": curve},
        "classes": classes,
    }


def _audit(subject: Subject) -> dict[str, Any] | None:
    if subject.discovery is not None:
        audit = subject.discovery.audit
        return {
            "classes": [[name, int(count)] for name, count in audit.classes],
            "nodes": audit.n_nodes,
            "labelled": audit.n_labelled,
            "homophily": _number(audit.homophily),
            "expectedHomophily": _number(audit.expected_homophily),
            "expectedUnseen": _number(audit.expected_unseen),
            "warnings": list(audit.warnings),
        }
    labels = subject.labels
    if labels is None:
        return None
    return {
        "classes": [[name, count] for name, count in zip(labels.classes, labels.counts.tolist(), strict=True)],
        "nodes": labels.n_nodes,
        "labelled": len(labels.labelled),
        "homophily": None,
        "expectedHomophily": None,
        "expectedUnseen": None,
        "warnings": [],
    }


def _self_test(found: Discovery) -> dict[str, Any]:
    test = found.self_test
    classes = [{"name": c.name, "labels": c.n_labels, "auroc": float(c.auroc)} for c in test.classes]
    return {"verdict": test.verdict, "classes": [c for c in classes if np.isfinite(c["auroc"])]}


def _suggested(suggestions: Sequence[Suggestion], ids: IdArray) -> list[dict[str, Any]]:
    nodes = np.empty(len(suggestions), dtype=object)
    nodes[:] = [str(s.node) for s in suggestions]
    rows = match_ids(nodes, ids).tolist()
    return [
        {
            "node": str(s.node),
            "row": row if row >= 0 else None,
            "reason": s.reason,
            "probability": _number(s.unseen_probability) or 0.0,
            "likely": s.likely_class,
            "group": s.group,
        }
        for s, row in zip(suggestions, rows, strict=True)
    ]


def _number(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), 4)
