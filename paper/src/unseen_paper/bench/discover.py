"""How well classes that nobody labelled are found: `unseen bench discover`.

Classes of fully labelled graphs are hidden, and what :func:`unseen.discover` says about unlabelled nodes is compared
with the truth: the AUROC and calibration of the probabilities where labels were drawn at random and where they come
from a corner, the number of classes, the groups beside k-means, how many questions it takes to find all classes,
and what all that costs.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.data.datasets import Dataset, load_dataset
from unseen.discovery.discover import discover
from unseen.discovery.result import ClassCount
from unseen.discovery.suggest import suggest_from
from unseen.discovery.truth import Truth, agreement_of, compare
from unseen.embedding import Embedding
from unseen.errors import DatasetError, logger, unknown_name
from unseen.ids import as_ids, match_ids
from unseen.labels import Labels
from unseen.methods.registry import make_method
from unseen.splits import random_unseen_sets
from unseen_paper.bench.discover_time import SIZES, time_table
from unseen_paper.bench.questions import STRATEGIES, questions
from unseen_paper.bench.report import Table
from unseen_paper.bench.worlds import WORLDS, draw_labels

FIRST_SEED = 1300
"""Seeds of the draws begin here; rules were developed on draws with other seeds."""
HIDDEN = {"cora": 2, "citeseer": 2, "debian": 3, "wiki": 5}
GOALS = {
    ("cora", 0.3): 0.96,
    ("citeseer", 0.3): 0.89,
    ("debian", 0.3): 0.96,
    ("cora", 0.05): 0.92,
    ("citeseer", 0.05): 0.85,
    ("debian", 0.05): 0.90,
}
RATES = (0.3, 0.05)
COUNTS = (1, 2, 3, 4, 5)
ANSWERS = (6, 12)
"""Answers after which hidden classes are counted that have a label."""
TABLES = ("probability", "number", "groups", "questions", "time")
QUESTIONS = {"citeseer": 3, "cora": 3, "debian": 6, "wiki": 8, "ppi": 5, "blogcatalog": 5}
"""Classes hidden at the start of the study of questions."""
MOST_QUESTIONS = 300
CLUSTER_DRAWS = 10
"""Draws on which clusterings are compared; the GCN is trained anew for each."""


@dataclass(frozen=True)
class Draw:
    """One draw: what the labels were, and what came of it."""

    labels: Labels
    rate: float
    seed: int
    truth: Truth
    self_auroc: float | None
    warned: bool
    count: ClassCount


def run(
    *,
    repeats: int = 10,
    methods: Sequence[str] | None = None,
    sizes: Sequence[int] = SIZES,
    graphs: Sequence[str] | None = None,
) -> list[Table]:
    """Measure and return the tables.

    Parameters
    ----------
    repeats : int
        Draws of each row (of each number of hidden classes, where these are counted).
    methods : sequence of str, optional
        Which of `TABLES`; all when not given.
    sizes : sequence of int
        Numbers of nodes of the graphs that are timed.
    graphs : sequence of str, optional
        Data sets; those of the tables that are present if not given.
    """
    for name in methods or ():
        if name not in TABLES:
            raise unknown_name("table of the benchmark", name, TABLES)
    tables = [name for name in TABLES if methods is None or name in methods]
    wanted = tuple(dict.fromkeys([*HIDDEN, *QUESTIONS])) if set(tables) - {"time"} else ()
    data = {name: graph for name in (graphs or wanted) if (graph := _loaded(name)) is not None}
    single = {name: graph for name, graph in data.items() if name in HIDDEN}
    vectors = {name: _vectors(graph) for name, graph in single.items()}
    make: dict[str, Callable[[], Table]] = {
        "probability": lambda: probability_table(single, vectors, repeats),
        "number": lambda: count_table(single, vectors, repeats),
        "groups": lambda: group_table(single, vectors, min(repeats, CLUSTER_DRAWS)),
        "questions": lambda: question_table(
            {name: graph for name, graph in data.items() if name in QUESTIONS}, repeats
        ),
        "time": lambda: time_table(sizes),
    }
    return [make[name]() for name in tables]


def probability_table(data: dict[str, Dataset], vectors: dict[str, Embedding], repeats: int) -> Table:
    """Return AUROC and calibration for each graph, way of labelling and label rate."""
    rows = []
    for name, world, rate in itertools.product(data, WORLDS, RATES):
        done = list(_draws(data[name], vectors[name], HIDDEN[name], world, rate, repeats))
        goal = GOALS.get((name, rate)) if world == "random" else None
        rows.append(
            (
                name,
                world,
                f"{rate:g}",
                str(HIDDEN[name]),
                _spread(d.truth.auroc for d in done),
                "" if goal is None else f"{goal:.2f}",
                _mean(d.truth.ece for d in done),
                _mean(d.self_auroc for d in done),
                f"{np.mean([d.warned for d in done]):.2f}",
            )
        )
        logger.info("%s, %s, %g: AUROC %s", name, world, rate, rows[-1][4])
    header = ("graph", "labels", "rate", "hidden", "AUROC", "goal", "ECE", "AUROC of the self-test", "warned")
    notes = ("warned: share of the draws in which the audit says that the labels come from one corner.",)
    return Table("Probability of belonging to a class nobody labelled", header, rows, notes)


def count_table(data: dict[str, Dataset], vectors: dict[str, Embedding], repeats: int) -> Table:
    """Return how right the number of new classes is, beside the answer 2, and how many classes answers name."""
    rows = []
    for name, hidden in itertools.product(data, COUNTS):
        given = (data[name], vectors[name], hidden, "random")
        done = [draw for rate in RATES for draw in _draws(*given, rate, repeats)]
        truth = np.array([draw.truth.n_classes for draw in done])
        miss = np.abs([draw.count.best for draw in done] - truth)
        named = np.array([_named(data[name], vectors[name], draw) for draw in done if draw.rate == RATES[0]])
        rows.append(
            (
                name,
                str(hidden),
                str(len(done)),
                *(f"{np.mean(miss <= most):.2f}" for most in (0, 1)),
                f"{miss.mean():.2f}",
                f"{np.abs(2 - truth).mean():.2f}",
                f"{np.mean([draw.count.low <= draw.truth.n_classes <= draw.count.high for draw in done]):.2f}",
                f"{np.mean([draw.count.high - draw.count.low + 1 for draw in done]):.1f}",
                *(f"{np.mean(named[:, k] == hidden):.2f}" for k in range(len(ANSWERS))),
                f"{named[:, 0].mean():.1f}",
            )
        )
        logger.info("%s, %s hidden: number exact in %s, within one in %s", *rows[-1][:2], *rows[-1][3:5])
    after = [f"named after {n}" for n in ANSWERS]
    words = ("exact", "within one", "off", "always 2", "in the interval", "width", *after, "classes after 6")
    notes = (
        f"{' and '.join(f'{rate:.0%}' for rate in RATES)} of the labels. off: mean absolute error; always 2: that of "
        f"the answer 2; width: numbers in the interval. named: every hidden class has a label after so many answers "
        f"({RATES[0]:.0%} of the labels).",
    )
    return Table("Number of classes nobody labelled", ("graph", "hidden", "draws", *words), rows, notes)


def _named(data: Dataset, vectors: Embedding, draw: Draw) -> list[int]:
    """Return how many of the hidden classes have a label after six answers, and so on."""
    known, named = draw.labels.labelled, []
    hidden = [k for k, name in enumerate(data.labels.classes) if name not in draw.labels.classes]
    for before, after in itertools.pairwise((0, *ANSWERS)):
        labels = data.labels.keep(known)
        found = discover(data.graph, labels, method=vectors, random_state=draw.seed)
        asked = as_ids([one.node for one in suggest_from(found, after - before)])
        known = np.union1d(known, match_ids(asked, data.graph.node_ids))
        named.append(int((data.labels.indicator[known].sum(axis=0)[hidden] > 0).sum()))
    return named


def group_table(data: dict[str, Dataset], vectors: dict[str, Embedding], repeats: int) -> Table:
    """Return the agreement of the found groups with the hidden classes, beside k-means."""
    rows = []
    for name in data:
        scores: dict[str, list[Any]] = {}
        for seed, hidden in _hidden_sets(data[name], HIDDEN[name], repeats):
            labels = draw_labels(data[name], "random", 0.3, hidden, seed)
            for title, k in (("discover", None), ("discover, number of classes given", HIDDEN[name])):
                discovery = discover(
                    data[name].graph, labels, method=vectors[name], n_classes=k, random_state=seed
                )
                scores.setdefault(title, []).append(compare(discovery, data[name].labels))
            for title, embedding in _baselines(data[name], labels, seed):
                scores.setdefault(title, []).append(_clustered(data[name], labels, embedding, seed))
        for title, done in scores.items():
            parts = ("accuracy_seen", "accuracy_unseen", "accuracy_all", "nmi", "ari")
            rows.append((name, title, *(_mean(getattr(one, part) for one in done) for part in parts)))
            logger.info("%s, %s: %s", name, title, " ".join(rows[-1][2:]))
    header = ("graph", "method", "seen", "unseen", "all", "NMI", "ARI")
    notes = (
        "k-means gets the true number of classes and is matched with all classes at once; accuracy is that of "
        "`unseen.discovery.truth`. NMI and ARI are over the nodes of hidden classes.",
    )
    return Table("Groups beside k-means (30 % of the labels)", header, rows, notes)


def question_table(data: dict[str, Dataset], repeats: int) -> Table:
    """Return how many nodes have to be labelled until every class has a label."""
    rows = []
    for name, dataset in data.items():
        for strategy in STRATEGIES:
            done = [
                questions(dataset, strategy, QUESTIONS[name], 0.05, MOST_QUESTIONS, FIRST_SEED + k)
                for k in range(repeats)
            ]
            counts = np.array([one.count for one in done])
            rows.append(
                (
                    name,
                    strategy,
                    str(QUESTIONS[name]),
                    f"{counts.mean():.1f}",
                    f"{np.median(counts):.0f}",
                    f"{np.mean([one.after_20 for one in done]):.2f}",
                    f"{np.mean([one.finished for one in done]):.2f}",
                )
            )
            logger.info("%s, %s: %s questions", name, strategy, rows[-1][3])
    header = ("graph", "choice", "hidden", "questions, mean", "median", "found after 20", "all found")
    notes = (
        f"5 % of the labels at the start, none of the hidden classes; at most {MOST_QUESTIONS} questions.",
    )
    return Table("Questions until every class has a label", header, rows, notes)


def _loaded(name: str) -> Dataset | None:
    try:
        return load_dataset(name)
    except DatasetError as error:
        logger.warning("%s is left out: %s", name, error)
        return None


def _vectors(data: Dataset) -> Embedding:
    return make_method("smoothfeats", random_state=0).fit_transform(data.graph)


def _hidden_sets(data: Dataset, hidden: int, repeats: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    sets = random_unseen_sets(data.labels, hidden, repeats, random_state=FIRST_SEED)
    return ((FIRST_SEED + k, names) for k, names in enumerate(sets))


def _draws(
    data: Dataset, vectors: Embedding, hidden: int, world: str, rate: float, repeats: int
) -> Iterator[Draw]:
    for seed, names in _hidden_sets(data, hidden, repeats):
        labels = draw_labels(data, world, rate, names, seed)
        discovery = discover(data.graph, labels, method=vectors, random_state=seed)
        truth = compare(discovery, data.labels)
        warned = discovery.coverage.corner > 0
        yield Draw(labels, rate, seed, truth, discovery.self_test.auroc, warned, discovery.count)


def _baselines(data: Dataset, labels: Labels, seed: int) -> Iterator[tuple[str, Embedding]]:
    if data.graph.features is not None:
        yield "k-means on the features", make_method("nodefeats").fit_transform(data.graph)
    yield "k-means on GCN vectors", make_method("gcn", random_state=seed).fit_transform(data.graph, labels)


def _clustered(data: Dataset, labels: Labels, embedding: Embedding, seed: int) -> Truth:
    """Cluster the unlabelled nodes by k-means and match the clusters with all classes at once."""
    from scipy.optimize import linear_sum_assignment
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    rows = np.setdiff1d(np.arange(data.graph.n_nodes), labels.labelled)
    vectors: Any = embedding.vectors[rows]
    if sp.issparse(vectors):  # scikit-learn takes 32-bit indices alone
        vectors.indices, vectors.indptr = vectors.indices.astype(np.int32), vectors.indptr.astype(np.int32)
    codes = data.labels.codes[rows]
    present = np.unique(codes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        place = KMeans(len(present), n_init=3, random_state=seed).fit_predict(vectors)
    table = np.array(
        [[int(((place == g) & (codes == c)).sum()) for c in present] for g in range(len(present))]
    )
    meant = dict(zip(*linear_sum_assignment(-table), strict=True))
    guess = np.array([data.labels.classes[present[meant[g]]] for g in place], dtype=object)
    truth = np.array(data.labels.classes, dtype=object)[codes]
    return agreement_of(guess, truth, ~np.isin(truth.astype(str), labels.classes), [])


def _numbers(values: Iterable[float | None]) -> npt.NDArray[np.float64]:
    return np.array([value for value in values if value is not None], dtype=np.float64)


def _mean(values: Iterable[float | None]) -> str:
    numbers = _numbers(values)
    return f"{numbers.mean():.3f}" if len(numbers) else ""


def _spread(values: Iterable[float | None]) -> str:
    numbers = _numbers(values)
    return f"{numbers.mean():.3f} ± {numbers.std():.3f}" if len(numbers) else ""
