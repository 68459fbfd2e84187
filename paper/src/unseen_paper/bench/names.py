"""Missing classes that are known by name only: `unseen bench names`.

Every draw is a row of `names.csv` in the working folder; a second start takes up where the first one ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from unseen.data.datasets import Dataset, load_dataset
from unseen.discovery.discover import discover
from unseen.discovery.names import check_names
from unseen.discovery.result import Discovery
from unseen.discovery.truth import compare
from unseen.errors import InputError
from unseen.ids import as_ids, match_ids
from unseen.labels import Labels
from unseen.splits import completely_imbalanced_split
from unseen_paper.bench.draws import Row, kept_draws
from unseen_paper.bench.report import Table

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

GRAPHS = ("debian", "coauthor-cs")
RATE, HIDDEN = 0.3, (2, 3)
FIRST_SEED = 9500
FILE = Path("names.csv")
FIGURES = (
    "nodes",
    "right",
    "named",
    "wrongly_absent",
    "auroc",
    "auroc_without",
    "invented",
    "invented_absent",
)


def run(*, repeats: int = 20, methods: Sequence[str] | None = None, file: Path = FILE) -> list[Table]:
    """Return the table of `repeats` draws of each graph (all, or `methods`), measured where `file` lacks them."""
    draws = [(seed,) for seed in range(FIRST_SEED, FIRST_SEED + repeats)]
    return [table(kept_draws(methods or GRAPHS, draws, measure, ("seed",), FIGURES, file, load_dataset))]


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
    invented = {name: text for name, text in ABSURD.items() if _has_words(data, labels, name)}
    found = discover(data.graph, labels, names=invented, random_state=seed)  # each name is judged alone
    return {
        "nodes": int(nodes.sum()),
        "right": int((np.array(named.nodes.column("name").to_pylist(), dtype=object) == truth)[nodes].sum()),
        "named": len(split.unseen),
        "wrongly_absent": len(named.absent),
        "auroc": compare(named, data.labels).auroc or 0.0,
        "auroc_without": compare(without, data.labels).auroc or 0.0,
        "invented": len(invented),
        "invented_absent": len(found.absent),
    }


def _has_words(data: Dataset, labels: Labels, name: str) -> bool:
    """Return whether a feature has a word of an invented class; that there is none is said by an error."""
    try:
        check_names({name: ABSURD[name]}, data.graph, labels)
    except InputError:
        return False
    return True


def _classes(found: Discovery, data: Dataset) -> npt.NDArray[np.object_]:
    """Return the true classes of the nodes that a discovery lists."""
    rows = match_ids(as_ids(found.nodes.column("node").to_pylist()), data.graph.node_ids)
    return np.array(data.labels.classes, dtype=object)[data.labels.codes[rows]]


def table(rows: Sequence[Row]) -> Table:
    """Return the means over the draws of each graph."""
    lines = []
    for graph in dict.fromkeys(str(row["graph"]) for row in rows):
        draws = [row for row in rows if row["graph"] == graph]
        value = {name: np.array([float(str(row[name])) for row in draws]) for name in FIGURES}
        change = value["auroc"] - value["auroc_without"]
        lines.append(
            (
                graph,
                str(len(draws)),
                f"{np.mean(value['right'] / value['nodes']):.3f}",
                f"{value['wrongly_absent'].sum():.0f} of {value['named'].sum():.0f}",
                f"{change.mean():+.3f}",
                f"{change.min():+.3f}",
                f"{value['invented_absent'].sum():.0f} of {value['invented'].sum():.0f}",
            )
        )
    header = ("graph", "draws", "accuracy", "wrongly absent", "change", "worst", "invented ones absent")
    notes = (
        f"{RATE:.0%} of the labels, 2 or 3 classes hidden and named. accuracy: share of their nodes with the right "
        "name, mean over draws. change: of the AUROC by names.",
    )
    return Table("Names", header, lines, notes)
