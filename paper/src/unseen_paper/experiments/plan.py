"""What is to be run: the splits of the protocol and one `Run` for each thing measured."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unseen.labels import Labels
from unseen.splits import Split, completely_imbalanced_split, random_unseen_sets, unseen_sets

HIDDEN = {
    "citeseer": 2,
    "cora": 2,
    "wiki": 5,
    "ppi": 5,
    "blogcatalog": 5,
    "debian": 3,
    "m10": 3,
    "photo": 3,
    "coauthor-cs": 5,
    "facebook": 1,
    "actor": 2,
    "chameleon": 2,
}
"""How many classes the protocol hides; of graphs that the paper does not have, about a third."""
ALL_SETS = ("citeseer", "cora")
"""Data sets of which every set of that size is hidden once; the others get random draws."""
DRAWS = 20
GRIDS = {
    "lshm": {"lam": [0.01, 0.1, 1.0, 10.0, 100.0]},
    "lde": {"alpha": [0.01, 0.1, 1.0, 10.0, 100.0]},
    "mmdw": {"alpha": [0.01, 0.1, 1.0, 10.0, 100.0]},
}
"""Weights that the paper chooses from a grid; here inside L', with the fold's labels, and in each fold some of the
seen classes, hidden from the method."""
RECT_FAMILY = ("rect-n", "rect-l", "rect", "rect-dw", "rect-joint")
EPOCHS = {name: {"epochs": [50, 100]} for name in RECT_FAMILY}
"""RECT trains 100 epochs by the paper's text and 50 in the authors' code: which of the two is chosen inside L' too,
for all methods of the family by the same folds and the same score."""
RULE = "all candidates"
"""Name of the present rule: all candidates for C are tried, and every open setting is chosen inside L'. Results of
other rules are not published, and are run again; the notes on the search for C list the earlier rules."""
CLASSIFIERS: dict[str, dict[str, Any]] = {
    "": {},
    "linear, C = 1": {"classifier": "linear", "C": 1.0},
    "rbf": {"classifier": "rbf"},
}
"""Classifiers of runs, as options of `evaluate`: that of the protocol, the paper's linear SVM with the default C of
scikit-learn, and the one of the released code."""


@dataclass(frozen=True, order=True)
class Run:
    """One thing to measure; equal runs are the same row of the table of results.

    Parameters
    ----------
    dataset, method : str
        Registry names.
    label_rate : float
        Share of labelled nodes in L.
    seed : int
        Seed of the split, and of the choice of C; methods have one seed in all runs.
    unseen : tuple of str
        Hidden classes.
    params : str
        Parameters that differ from the method's defaults, as JSON with sorted keys.
    classifier : str
        One of `CLASSIFIERS`.
    """

    dataset: str
    method: str
    label_rate: float
    seed: int
    unseen: tuple[str, ...] = ()
    params: str = "{}"
    classifier: str = ""

    def split(self, labels: Labels) -> Split:
        """Draw the split of this run."""
        return completely_imbalanced_split(
            labels, label_rate=self.label_rate, unseen=self.unseen, random_state=self.seed
        )

    def keywords(self) -> dict[str, Any]:
        """Return the parameters as keyword arguments."""
        loaded: dict[str, Any] = json.loads(self.params)
        return loaded


def as_params(params: Mapping[str, Any]) -> str:
    """Return parameters in the one form that `Run` compares."""
    return json.dumps(dict(params), sort_keys=True)


def hidden_sets(dataset: str, labels: Labels, n_splits: int | None = None) -> list[tuple[str, ...]]:
    """Return the classes hidden in split 0, 1, 2, ...: all sets of the protocol, or `n_splits` of them.

    Examples
    --------
    >>> labels = Labels.from_values(list("abcdef"))
    >>> len(hidden_sets("citeseer", labels))
    15
    """
    size = HIDDEN.get(dataset, 2)
    if dataset not in ALL_SETS:
        return random_unseen_sets(labels, size, DRAWS if n_splits is None else n_splits, random_state=0)
    return [hidden for _, hidden in numbered_sets(list(unseen_sets(labels, size)), n_splits)]


def numbered_sets(sets: Sequence[tuple[str, ...]], most: int | None) -> list[tuple[int, tuple[str, ...]]]:
    """Return all sets, or `most` of them spread over the list, each with its place in it, which seeds its split.

    Few of many sets need not hide every class: five of Citeseer's fifteen pairs hide all but ML.

    Examples
    --------
    >>> numbered_sets([("a",), ("b",), ("c",), ("d",)], 2)
    [(0, ('a',)), (2, ('c',))]
    """
    numbered = list(enumerate(sets))
    if most is None or most >= len(numbered):
        return numbered
    return [numbered[int(k * len(numbered) / most)] for k in range(most)]


def f1_runs(
    dataset: str,
    labels: Labels,
    methods: Sequence[str],
    rates: Sequence[float],
    n_splits: int | None = None,
    params: Mapping[str, Any] | None = None,
) -> list[Run]:
    """Return the runs of Tables 3 and 4 for one data set; all methods of a split come together."""
    if dataset in ALL_SETS:
        numbered = numbered_sets(hidden_sets(dataset, labels), n_splits)
    else:  # random draws: fewer are the first of more
        numbered = list(enumerate(hidden_sets(dataset, labels, n_splits)))
    return grid_runs(dataset, methods, rates, numbered, params)


def grid_runs(
    dataset: str,
    methods: Sequence[str],
    rates: Sequence[float],
    sets: Sequence[tuple[int, tuple[str, ...]]],
    params: Mapping[str, Any] | None = None,
) -> list[Run]:
    """Return a run for each set of hidden classes, label rate and method, in this order."""
    return [
        Run(dataset, method, rate, seed, unseen, as_params(params or {}))
        for seed, unseen in sets
        for rate in rates
        for method in methods
    ]
