"""A user who answers what `unseen suggest` asks, ten questions at a time: `unseen bench loop`.

The user is an oracle that knows the classes. Beside it stands one who is asked about nodes drawn at random. The first
draw of every graph is run through the requests of `unseen label`, too. Every draw is a row of `loop.csv` in the working
folder; a second start takes up where the first one ended. Ids of nodes are texts, as the app reads them from files.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from unseen.data.build import compact
from unseen.data.datasets import Dataset, load_dataset
from unseen.discovery.discover import discover
from unseen.discovery.result import Discovery, Node
from unseen.discovery.suggest import suggest
from unseen.graph import Graph
from unseen.ids import as_ids, match_ids
from unseen.labels import CONFIRMED, Labels
from unseen.splits import completely_imbalanced_split
from unseen_paper.bench.draws import Row, cells_of, kept_draws
from unseen_paper.bench.loop_app import LabelApp
from unseen_paper.bench.report import Table

GRAPHS = ("debian", "citeseer", "cora", "photo", "coauthor-cs")
RATE = 0.3
HIDDEN = (2, 3, 4)
"""Classes without a label at the start, one number after the other."""
BATCH, MOST = 10, 100
CHOICES = ("suggest", "random")
APP = "app"
"""What is asked by `suggest`, through the requests of the app."""
RANDOM_RUNS = 200
"""Runs over which the questions that random choice needs are averaged; they cost nothing."""
FIRST_SEED = 8500
FILE = Path("loop.csv")
KEYS = ("choice", "seed")
FIGURES = ("hidden", "questions", "number", "accuracy", "settled")

Ask = Callable[[], Sequence[Node]]
Answer = Callable[[Mapping[Node, str]], None]


def ask_and_answer(ask: Ask, answer: Answer, truth: Labels, most: int = MOST) -> list[Node]:
    """Answer all questions from the truth until `most` are answered or none is asked; return the nodes in order.

    Parameters
    ----------
    ask : callable
        Returns the nodes of the next questions.
    answer : callable
        Takes their classes.
    truth : Labels
        Knows the class of every node.
    most : int
        Number of answers after which the user stops.

    Examples
    --------
    >>> truth = Labels.from_values(["a", "b", "b"])
    >>> answers = {}
    >>> ask_and_answer(lambda: [n for n in (2, 0) if n not in answers], answers.update, truth)
    [2, 0]
    >>> answers
    {2: 'b', 0: 'a'}
    """
    asked: list[Node] = []
    while len(asked) < most and (nodes := list(ask())[: most - len(asked)]):
        rows = match_ids(as_ids(nodes), truth.node_ids)
        names = [truth.classes[code] for code in truth.codes[rows]]
        answer(dict(zip(nodes, names, strict=True)))
        asked += nodes
    return asked


class Library:
    """The tool that is asked: labels as they are, and what is asked next by `suggest` or at random."""

    def __init__(self, data: Dataset, labels: Labels, choice: str, seed: int) -> None:
        self.data, self.choice, self.seed = data, choice, seed
        self.rows, self.asked = labels.labelled, list[Node]()
        self.rng = np.random.default_rng(seed)
        self.numbers: list[int] = []

    def found(self) -> Discovery:
        """Return what is found with the labels as they are."""
        labels = self.data.labels.keep(self.rows)
        labels = replace(labels, answers=dict.fromkeys(self.asked, CONFIRMED))
        result = discover(self.data.graph, labels, random_state=self.seed)
        self.numbers.append(result.count.best)
        return result

    def ask(self) -> list[Node]:
        """Return the nodes to be labelled next."""
        if self.choice == "suggest":
            graph, result = self.data.graph, self.found()
            return [one.node for one in suggest(graph, result.labels, budget=BATCH, discovery=result)]
        others = np.setdiff1d(np.arange(self.data.graph.n_nodes), self.rows)
        drawn = self.rng.choice(others, min(BATCH, len(others)), replace=False)
        nodes: list[Node] = self.data.graph.node_ids[drawn].tolist()
        return nodes

    def answer(self, answers: Mapping[Node, str]) -> None:
        """Add labels; what was asked is not asked again."""
        self.asked += answers
        self.rows = np.union1d(self.rows, match_ids(as_ids(list(answers)), self.data.graph.node_ids))


def run(*, repeats: int = 10, methods: Sequence[str] | None = None, file: Path = FILE) -> list[Table]:
    """Return the table of `repeats` draws of each graph (all, or `methods`), measured where `file` lacks them."""
    draws = [*itertools.product(CHOICES, range(FIRST_SEED, FIRST_SEED + repeats)), (APP, FIRST_SEED)]
    rows = kept_draws(methods or GRAPHS, draws, measure, KEYS, FIGURES, file, _with_texts)
    return [table(rows), app_table(rows)]


def _with_texts(name: str) -> Dataset:
    """Return a data set whose node ids are texts, and whose features are as they are read from a table."""
    data = load_dataset(name)
    ids = as_ids([str(node) for node in data.graph.node_ids.tolist()])
    features = None if data.graph.features is None else compact(sp.csr_array(data.graph.features).toarray())
    graph = Graph(data.graph.adjacency, features, ids, data.graph.feature_names)
    return replace(data, graph=graph, labels=replace(data.labels, node_ids=ids))


def measure(data: Dataset, choice: str, seed: int) -> dict[str, object]:
    """Return what a hundred answers gave.

    `questions`: how many until every hidden class has a label (the mean of many runs for random choice); `number`: new
    classes reported at the end; `accuracy`: share of right classes among the nodes without a label at the start, those
    asked included; `settled`: answers after which no new class is reported any more.
    """
    hidden = HIDDEN[seed % len(HIDDEN)]
    split = completely_imbalanced_split(data.labels, label_rate=RATE, unseen=hidden, random_state=seed)
    tool = Library(data, split.seen_labels, choice, seed)
    start = np.setdiff1d(np.arange(data.graph.n_nodes), tool.rows)
    columns = data.labels.class_numbers(split.unseen)
    if choice == APP:
        nodes = _ask_the_app(tool, split.seen_labels)
    else:
        nodes = ask_and_answer(tool.ask, tool.answer, data.labels, MOST)
    asked = match_ids(as_ids(nodes), data.graph.node_ids)
    orders = [asked]
    if choice == "random":
        orders = [tool.rng.permutation(start) for _ in range(RANDOM_RUNS)]
    result = tool.found()
    rows = match_ids(as_ids(result.nodes.column("node").to_pylist()), data.graph.node_ids)
    names = np.array(data.labels.classes, dtype=object)[data.labels.codes[rows]]
    right = np.array(result.nodes.column("likely_class").to_pylist(), dtype=object) == names
    open_rounds = [k for k, number in enumerate(tool.numbers) if number]
    return {
        "hidden": hidden,
        "questions": round(
            float(np.mean([needed(data.labels.codes[o], columns.tolist()) for o in orders])), 1
        ),
        "number": result.count.best,
        "accuracy": round((int(right.sum()) + int(np.isin(asked, start).sum())) / len(start), 4),
        "settled": BATCH * (max(open_rounds, default=-1) + 1) if choice != "random" else "",
    }


def _ask_the_app(tool: Library, labels: Labels) -> list[Node]:
    """Let the app ask; `tool` gets the labels that the app has written in the end, and the numbers it showed."""
    graph = tool.data.graph
    with tempfile.TemporaryDirectory() as folder:
        with LabelApp(graph, labels, tool.seed, BATCH, folder) as app:
            nodes = ask_and_answer(app.ask_next, app.answer, tool.data.labels, MOST)
        tool.rows = app.written().labelled
    tool.numbers = app.numbers
    return nodes


def needed(codes: np.ndarray[tuple[int], np.dtype[np.int64]], columns: Sequence[int]) -> int:
    """Return after how many answers every one of the classes was named; one more than there are where some was not.

    Examples
    --------
    >>> needed(np.array([0, 2, 2, 1]), [2, 1])
    4
    """
    first = [np.flatnonzero(codes == column)[:1] for column in columns]
    return max(int(place[0]) + 1 if len(place) else len(codes) + 1 for place in first)


def table(rows: Sequence[Row]) -> Table:
    """Return the means over the draws of each graph."""
    lines = []
    judged = [row for row in rows if row["choice"] in CHOICES]
    figures = ("questions", "number", "accuracy")
    cells = {key: value for key, _, value in cells_of(judged, ("graph", "choice"), figures)}
    asked = [row for row in rows if row["choice"] == CHOICES[0]]
    for (graph,), draws, value in cells_of(asked, ("graph",), ("settled",)):
        own = [cells[graph, choice] for choice in CHOICES]
        lines.append(
            (
                graph,
                str(len(draws)),
                *(f"{each['questions'].mean():.1f}" for each in own),
                *(f"{np.mean(each['number'] == 0):.2f}" for each in own),
                f"{np.median(value['settled']):.0f}",
                *(f"{each['accuracy'].mean():.3f}" for each in own),
            )
        )
    words = (
        "graph,draws,questions,at random,no new class at the end,at random,settled after,accuracy,at random"
    )
    notes = (
        f"{RATE:.0%} of the labels, 2 to 4 classes hidden, {MOST} answers, {BATCH} at a time. questions: until every "
        "hidden class has a label. accuracy: of all nodes without a label at the start.",
    )
    return Table("The loop", tuple(words.split(",")), lines, notes)


def app_table(rows: Sequence[Row]) -> Table:
    """Return the draws that were run through the app beside the same draws of the library."""
    shown = []
    for row in sorted(rows, key=lambda row: str(row["choice"])):
        if row["choice"] in (APP, CHOICES[0]) and int(str(row["seed"])) == FIRST_SEED:
            by = "the app" if row["choice"] == APP else "the library"
            figures = (str(row[name]) for name in ("questions", "settled", "number", "accuracy"))
            shown.append((str(row["graph"]), by, *figures))
    header = ("graph", "asked by", "questions", "settled after", "new classes at the end", "accuracy")
    return Table("Through the app's requests", header, sorted(shown, key=lambda line: line[0]))
