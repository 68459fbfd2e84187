"""Words of classes, and which words of hidden classes the seen ones have too (the paper's figure 3).

The paper shows words of Citeseer, whose public files have no names of features. `debian` has them, and M10 has titles
of papers from ten disciplines.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import unseen
from unseen.errors import InputError
from unseen.graph import Graph
from unseen.labels import Labels
from unseen_paper.csv_files import write_csv
from unseen_paper.data.folders import load_texts
from unseen_paper.experiments.catalog import Choice
from unseen_paper.experiments.plan import hidden_sets
from unseen_paper.report.tables import render

DATASETS = ("debian", "m10")
LABEL_RATE = 0.5
Row = dict[str, Any]
HEADER = {
    "dataset": "data set",
    "class": "class",
    "hidden": "hidden",
    "words": "words",
    "shared": "also of seen classes",
}


def word_rows(datasets: Sequence[str] | None = None) -> list[Row]:
    """Return one row a class: its words and, of a hidden class, those that a seen class has more of than the average.

    The hidden classes are those of the first split of the protocol.
    """
    rows = []
    for dataset in datasets or DATASETS:
        data = load_texts(dataset)
        graph, labels = data.graph, data.labels
        if graph.feature_names is None:
            msg = f"the features of {dataset} have no names, so its classes have no words; try debian or m10"
            raise InputError(msg)
        hidden = hidden_sets(dataset, labels, 1)[0]
        split = unseen.completely_imbalanced_split(
            labels, label_rate=LABEL_RATE, unseen=hidden, random_state=0
        )
        known = labels.keep(split.train)
        words = unseen.RECTL(epochs=0, random_state=0).fit(graph, known).class_descriptions_
        others = _common_words(graph, split.seen_labels)
        for name in labels.classes:
            own = [word for word, _ in words.get(name, [])]
            shared = [f"{word} ({others[word]})" for word in own if word in others]
            rows.append(
                {
                    "dataset": dataset,
                    "class": name,
                    "hidden": "yes" if name in hidden else "",
                    "words": ", ".join(own),
                    "shared": ", ".join(shared) if name in hidden else "",
                }
            )
    return rows


def _common_words(graph: Graph, seen: Labels) -> dict[str, str]:
    """Return the words that labelled nodes of a seen class have more often than all nodes, with the class most so."""
    assert graph.features is not None
    assert graph.feature_names is not None
    features = sp.csr_array(graph.features)
    sums = (seen.indicator.T.astype(np.float64) @ features).toarray()
    excess = sums / np.maximum(seen.counts, 1)[:, None] - np.asarray(features.mean(axis=0)).ravel()
    most = excess.argmax(axis=0)
    return {
        word: seen.classes[most[k]] for k, word in enumerate(graph.feature_names) if excess[most[k], k] > 0
    }


def write_words(choice: Choice, out: Path, *, style: str = "text") -> tuple[list[Row], str]:
    """Write ``words.csv``; return the rows and their table."""
    rows = word_rows(choice.datasets)
    write_csv(rows, out / "words.csv")
    return rows, words_table(rows, style=style)


def words_table(rows: list[Row], *, style: str = "text") -> str:
    """Return the rows as a table to read."""
    cells = [[str(row[name]) for name in HEADER] for row in rows]
    return render(list(HEADER.values()), cells, style=style, left=len(HEADER))
