"""The experiments of section 6, each as a plan of runs and the figure that shows what came of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from unseen.data.datasets import load_dataset
from unseen.labels import Labels
from unseen.methods.registry import find_method, method_class
from unseen.splits import unseen_sets
from unseen_paper.experiments.paper import DATASETS, MULTI, RATES, TITLES
from unseen_paper.experiments.plan import (
    CLASSIFIERS,
    Run,
    f1_runs,
    grid_runs,
    hidden_sets,
    numbered_sets,
)

ROWS = (
    *("nodefeats", "smoothfeats", "mfdw", "line", "lshm", "lde", "mmdw", "tadw", "dgi", "gcn", "appnp"),
    *("rsdne", "rsdne-light", "rect-n", "rect-l", "rect", "rect-dw", "rect-joint", "rect-plus"),
)
"""Methods in the order of the tables' rows: the baselines, the paper's, ours."""
OURS = ("smoothfeats", "rect-plus")
"""Methods that stand beside the paper's in its tables: features smoothed without training, and our own."""
BALANCED_SPLITS = 5
SEEN_CLASS_SPLITS = 6
ALPHAS = (0.01, 0.1, 1.0, 10.0, 100.0)
DIMENSIONS = (100, 200, 300, 400, 500)
ABLATIONS: dict[str, dict[str, Any]] = {
    "J_DW": {"intra": None, "inter": False},
    "J_DW + J_intra": {"inter": False},
    "J_DW + random(J_intra)": {"intra": "random", "inter": False},
    "J_DW + J_inter": {"intra": None},
    "RSDNE": {},
}
"""The settings of RSDNE that the paper compares, as parameters that differ from the defaults."""


PUBLISHED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("nodefeats", {}),
    ("mfdw", {}),
    ("line", {}),
    ("tadw", {}),
    ("dgi", {}),
    ("gcn", {}),
    ("appnp", {}),
    ("appnp", {"propagate": False}),
    ("rect-n", {"epochs": 50}),
    ("rect-l", {"epochs": 50}),
    ("rect", {"epochs": 50}),
)
"""Methods whose vectors are given to the classifiers of the paper and of its code: with the hidden layer of APPNP as it
is, which the paper's text says, and the epochs of the authors' code."""
WITHOUT_FEATURES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("rect-n", {}),
    ("rect-n", {"features": "identity"}),
    ("rect", {}),
    ("rect", {"features": "identity"}),
)
"""The same for graphs without features, with the classifier of the protocol: rows of the adjacency, or of identity."""


@dataclass(frozen=True)
class Choice:
    """What the user asked for; None means what the paper does, in tables of all methods with `OURS` beside its own."""

    datasets: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    rates: Sequence[float] | None = None
    splits: int | None = None


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper.

    Parameters
    ----------
    title : str
        What it shows.
    runs : callable
        From a `Choice` to the runs it takes.
    x : str
        The column along the horizontal axis of its figure, empty for a table.
    series : str
        The column that tells the lines of the figure apart.
    """

    title: str
    runs: Callable[[Choice], list[Run]]
    x: str = ""
    series: str = "method"


def _f1(choice: Choice) -> list[Run]:
    methods = choice.methods or _known([*TITLES, *OURS])
    runs = []
    for dataset in choice.datasets or DATASETS:
        labels = labels_of(dataset)
        runs += f1_runs(dataset, labels, able(methods, labels), choice.rates or RATES, choice.splits)
    return runs


def _decline(choice: Choice) -> list[Run]:
    """Hide no class, one class and two classes of the same L; the one is one of the two, each class about as often."""
    runs = []
    for dataset in choice.datasets or ["citeseer"]:
        labels = labels_of(dataset)
        pairs = numbered_sets(list(unseen_sets(labels, 2)), choice.splits)
        for size in (0, 1, 2):
            sets = []
            for seed, pair in pairs:
                first, second = labels.class_numbers(pair)
                one = pair[0] if (second - first) % 2 else pair[1]
                sets.append((seed, ((), (one,), pair)[size]))
            methods = able(choice.methods or _known(["lshm", "gcn"]), labels)
            runs += grid_runs(dataset, methods, choice.rates or RATES, sets)
    return runs


def _seen_classes(choice: Choice) -> list[Run]:
    """Hide 0, 1, 2, ... classes of the same L: more hidden classes include fewer, and each is hidden equally often."""
    runs = []
    methods = choice.methods or _known(["mfdw", "rsdne", "rsdne-light", "rect-n", "rect-l", "rect"])
    for dataset in choice.datasets or ["citeseer"]:
        labels = labels_of(dataset)
        n = len(labels.classes)
        starts = numbered_sets([(name,) for name in labels.classes], choice.splits or SEEN_CLASS_SPLITS)
        for size in range(n):
            hidden = [{(first + k) % n for k in range(size)} for first, _ in starts]
            sets = [
                (seed, tuple(name for k, name in enumerate(labels.classes) if k in numbers))
                for (seed, _), numbers in zip(starts, hidden, strict=True)
            ]
            runs += grid_runs(dataset, able(methods, labels), choice.rates or [0.5], sets)
    return runs


def _ablation(choice: Choice) -> list[Run]:
    methods = [name for name in choice.methods or ["rsdne"] if name == "rsdne"]
    return [run for params in ABLATIONS.values() for run in _varied(choice, methods, params)]


def _alpha(choice: Choice) -> list[Run]:
    both = ("rsdne", "rsdne-light")  # other methods call another weight alpha
    methods = [name for name in choice.methods or both if name in both]
    return [
        run for alpha in ALPHAS for run in _varied(choice, methods, {"alpha": alpha} if alpha != 1 else {})
    ]


def _dimension(choice: Choice) -> list[Run]:
    usual = _known(["mfdw", "rsdne", "rsdne-light", "rect-n", "rect-l", "rect"])
    methods = [
        name for name in choice.methods or usual if "n_components" in method_class(name)().get_params()
    ]
    narrowed = Choice(choice.datasets, methods, choice.rates or [0.3], choice.splits)
    return [run for columns in DIMENSIONS for run in _varied(narrowed, methods, {"n_components": columns})]


def _balanced(choice: Choice) -> list[Run]:
    methods = choice.methods or _known([*TITLES, *OURS])
    return [
        run
        for dataset in choice.datasets or DATASETS
        for run in grid_runs(
            dataset,
            able(methods, labels_of(dataset)),
            choice.rates or RATES,
            [(seed, ()) for seed in range(choice.splits or BALANCED_SPLITS)],
        )
    ]


def _published(choice: Choice) -> list[Run]:
    runs = []
    for dataset in choice.datasets or DATASETS:
        labels = labels_of(dataset)
        settings, classifiers = PUBLISHED, tuple(CLASSIFIERS)
        if dataset in MULTI:
            settings, classifiers = WITHOUT_FEATURES, ("",)
        for method in able(choice.methods or list(dict.fromkeys(name for name, _ in settings)), labels):
            for params in [params for name, params in settings if name == method] or [{}]:
                plain = f1_runs(dataset, labels, [method], choice.rates or RATES, choice.splits or 5, params)
                runs += [replace(run, classifier=name) for run in plain for name in classifiers]
    return runs


EXPERIMENTS: dict[str, Experiment] = {
    "decline": Experiment("how classifiers decline when classes have no labels (Table 1)", _decline),
    "f1": Experiment("micro and macro F1 with completely-imbalanced labels (Tables 3 and 4)", _f1),
    "seen-classes": Experiment("F1 against the number of seen classes", _seen_classes, x="seen_classes"),
    "ablation": Experiment("settings of RSDNE", _ablation, x="label_rate", series="params"),
    "alpha": Experiment("the weight alpha of RSDNE", _alpha, x="alpha"),
    "dimension": Experiment("the number of columns", _dimension, x="n_components"),
    "published-classifier": Experiment("the classifiers of the paper and of its code", _published),
    "balanced": Experiment("micro F1 with balanced labels, averaged over label rates", _balanced),
}


@cache
def labels_of(dataset: str) -> Labels:
    """Return all labels of a data set, read once."""
    return load_dataset(dataset).labels


def _known(names: Iterable[str]) -> list[str]:
    return [name for name in names if find_method(name) is not None]


def able(methods: Sequence[str], labels: Labels) -> list[str]:
    """Leave out the methods that take one label per node, where nodes have several."""
    return [name for name in methods if method_class(name)._traits.multilabel or not labels.is_multilabel]


def _varied(choice: Choice, methods: Sequence[str], params: dict[str, Any]) -> list[Run]:
    runs = []
    for dataset in choice.datasets or ["citeseer"]:
        labels = labels_of(dataset)
        splits = choice.splits or (5 if len(hidden_sets(dataset, labels)) > 5 else None)
        runs += f1_runs(dataset, labels, able(methods, labels), choice.rates or RATES, splits, params)
    return runs
