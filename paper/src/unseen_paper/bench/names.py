"""Missing classes that are known by name only: `unseen bench names`.

By words: names and descriptions as they are. By meaning: no node has a word of them, because these features are taken
out, and an encoder knows them; its word vectors are learned from which words the nodes' texts have together, names
included. Every draw is a row of `names.csv` in the working folder; a second start takes up where the first one ended.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.data.datasets import Dataset
from unseen.data.words import StaticEncoder
from unseen.discovery.discover import discover
from unseen.discovery.result import Discovery
from unseen.discovery.truth import compare
from unseen.discovery.words import find_stems, weigh_features
from unseen.errors import InputError
from unseen.graph import Graph
from unseen.ids import as_ids, match_ids
from unseen.linalg.normalize import l1_rows
from unseen.splits import completely_imbalanced_split
from unseen_paper.bench.draws import Row, cells_of, kept_draws
from unseen_paper.bench.report import Table
from unseen_paper.data.folders import load_texts

DEBIAN_SECTIONS = {
    "database": "Database servers and clients.",
    "editors": "Software to edit files. Programming environments.",
    "electronics": "Electronics utilities.",
    "fonts": "Font packages.",
    "games": "Programs to spend a nice time with after all this setting up.",
    "graphics": "Editors, viewers, converters... Everything to become an artist.",
    "mail": "Programs to route, read, and compose E-mail messages.",
    "math": "Math software.",
    "science": "Basic tools for scientific work.",
    "sound": "Utilities to deal with sound: mixers, players, recorders, CD players, etc.",
    "video": "Video viewers, editors, recording, streaming.",
    "web": "Web servers, browsers, proxies, download tools etc.",
}
"""Debian's own texts of its sections."""
SPELLED_OUT = {
    "NLP": "natural language processing",
    "HCI": "human computer interaction",
    "theoretical_cs": "theoretical computer science",
}
"""Abbreviations among the class names of coauthor-cs; its other classes are described by their names."""
ABSURD = {
    "dentistry": "teeth, dentist, dental care",
    "railways": "trains, stations, timetables, railway tracks",
    "cooking": "food, recipes, kitchen, cooking",
    "weather": "rain, clouds, weather forecast, temperature",
    "law": "courts, law, judges, contracts",
}
"""Classes that none of the graphs has."""

GRAPHS = ("debian", "coauthor-cs", "m10")
WORD_COLUMNS = 100
"""Size of the word vectors."""
RATE, HIDDEN = 0.3, (2, 3)
FIRST_SEED = 9500
FILE = Path("names.csv")
FIGURES = (
    "nodes",
    "right",
    "named",
    "wrongly_absent",
    "seen",
    "unseen",
    "harmonic",
    "unseen_by_meaning",
    "harmonic_by_meaning",
    "auroc",
    "auroc_without",
    "invented",
    "invented_absent",
)
ACCURACIES = FIGURES[4:9]


def run(*, repeats: int = 20, methods: Sequence[str] | None = None, file: Path = FILE) -> list[Table]:
    """Return the table of `repeats` draws of each graph (all, or `methods`), measured where `file` lacks them."""
    draws = [(seed,) for seed in range(FIRST_SEED, FIRST_SEED + repeats)]
    return [table(kept_draws(methods or GRAPHS, draws, measure, ("seed",), FIGURES, file, load_texts))]


def make_encoder(graph: Graph) -> StaticEncoder:
    """Return word vectors by which features nodes have together: of a word the mean of the features that have it."""
    has = sp.csr_array(sp.csr_array(graph.features) != 0, dtype=np.float64)
    together = (has.T @ has).tocoo()
    often = np.asarray(has.sum(axis=0)).ravel()
    information = np.log(together.data * graph.n_nodes / (often[together.row] * often[together.col]))
    positive = sp.csr_array((np.maximum(information, 0), (together.row, together.col)), together.shape)
    left, sizes, _ = sp.linalg.svds(positive, k=min(WORD_COLUMNS, positive.shape[0] - 1), random_state=0)
    features = [re.findall(r"[^\W_]+", str(name).lower()) for name in graph.feature_names or ()]
    words = {word: k for k, word in enumerate(dict.fromkeys(word for own in features for word in own))}
    rows = [words[word] for own in features for word in own]
    columns = np.repeat(np.arange(len(features)), [len(own) for own in features])
    mean = l1_rows(sp.csr_array((np.ones(len(rows)), (rows, columns)), (len(words), len(features))))
    return StaticEncoder(words, mean @ (left * np.sqrt(sizes)))


def hide_words(graph: Graph, names: Mapping[str, str]) -> Graph:
    """Return the graph without the features that have a word of the names or their descriptions."""
    words = {word for entry in names.items() for text in entry for word in find_stems(text)}
    features = graph.feature_names or ()
    kept = [k for k, feature in enumerate(features) if words.isdisjoint(find_stems(feature))]
    return graph.with_features(
        sp.csr_array(graph.features)[:, kept], tuple(features[k] for k in kept), graph.texts
    )


def accuracies(found: Discovery, data: Dataset, unseen: Sequence[str]) -> tuple[float, float, float]:
    """Return the accuracy on nodes of labelled classes and of hidden ones, and their harmonic mean.

    All classes are possible answers: a node is of the class of its name where it has one, else of its likely class.
    """
    truth = _classes(found, data)
    names, likely = (found.nodes.column(column).to_pylist() for column in ("name", "likely_class"))
    answers = np.array([name or other for name, other in zip(names, likely, strict=True)], dtype=object)
    hidden = np.isin(truth, unseen)
    seen, new = (float((answers == truth)[rows].mean()) for rows in (~hidden, hidden))
    return seen, new, 2 * seen * new / (seen + new) if seen + new else 0.0


def description(graph: str, name: str) -> str:
    """Return the words that a class of a graph is described by.

    Examples
    --------
    >>> description("debian", "fonts"), description("coauthor-cs", "NLP"), description("coauthor-cs", "graphics")
    ('Font packages.', 'natural language processing', 'graphics')
    """
    return (DEBIAN_SECTIONS if graph == "debian" else SPELLED_OUT).get(name, name.replace("_", " "))


def measure(data: Dataset, seed: int) -> dict[str, float]:
    """Hide two or three classes, name them, and return how right the names of nodes are; then name invented ones."""
    hidden = HIDDEN[seed % len(HIDDEN)]
    split = completely_imbalanced_split(data.labels, label_rate=RATE, unseen=hidden, random_state=seed)
    labels = split.seen_labels
    without = discover(data.graph, labels, random_state=seed)
    names = {name: description(data.name, name) for name in split.unseen}
    named = discover(data.graph, labels, names=names, random_state=seed)
    truth = _classes(named, data)
    nodes = np.isin(truth, split.unseen)
    seen, new, harmonic = accuracies(named, data, split.unseen)
    graph = hide_words(data.graph, names)
    by_meaning = discover(graph, labels, names=names, encoder=make_encoder(data.graph), random_state=seed)
    _, new_by_meaning, harmonic_by_meaning = accuracies(by_meaning, data, split.unseen)
    invented = {}
    for name, text in ABSURD.items():
        with suppress(InputError):  # no feature has a word of it
            weigh_features({name: text}, data.graph, labels)
            invented[name] = text
    found = discover(data.graph, labels, names=invented, random_state=seed)  # each name is judged alone
    return {
        "nodes": int(nodes.sum()),
        "right": int((np.array(named.nodes.column("name").to_pylist(), dtype=object) == truth)[nodes].sum()),
        "named": len(split.unseen),
        "wrongly_absent": len(named.absent),
        "seen": round(seen, 4),
        "unseen": round(new, 4),
        "harmonic": round(harmonic, 4),
        "unseen_by_meaning": round(new_by_meaning, 4),
        "harmonic_by_meaning": round(harmonic_by_meaning, 4),
        "auroc": compare(named, data.labels).auroc or 0.0,
        "auroc_without": compare(without, data.labels).auroc or 0.0,
        "invented": len(invented),
        "invented_absent": len(found.absent),
    }


def _classes(found: Discovery, data: Dataset) -> npt.NDArray[np.object_]:
    """Return the true classes of the nodes that a discovery lists."""
    rows = match_ids(as_ids(found.nodes.column("node").to_pylist()), data.graph.node_ids)
    return np.array(data.labels.classes, dtype=object)[data.labels.codes[rows]]


def table(rows: Sequence[Row]) -> Table:
    """Return the means over the draws of each graph."""
    lines = []
    for (graph,), draws, value in cells_of(rows, ("graph",), FIGURES):
        change = value["auroc"] - value["auroc_without"]
        lines.append(
            (
                graph,
                str(len(draws)),
                *(f"{value[name].mean():.3f}" for name in ACCURACIES),
                f"{value['wrongly_absent'].sum():.0f} of {value['named'].sum():.0f}",
                f"{change.mean():+.3f}",
                f"{change.min():+.3f}",
                f"{value['invented_absent'].sum():.0f} of {value['invented'].sum():.0f}",
            )
        )
    words = "graph,draws,seen,unseen,harmonic,unseen by meaning,harmonic by meaning"
    header = (*words.split(","), "wrongly absent", "change", "worst", "invented ones absent")
    notes = (
        f"{RATE:.0%} of the labels, 2 or 3 classes hidden and named. seen, unseen, harmonic: accuracy on unlabelled "
        "nodes of labelled and of hidden classes, where all classes are possible answers, and their harmonic mean. by "
        "meaning: no feature has a word of the names. change: of the AUROC by names.",
    )
    return Table("Names", header, lines, notes)
