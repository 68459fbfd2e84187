"""What an evaluation gives back: the score of one split, the mean over several, and the score of a clustering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from unseen.errors import InputError
from unseen.ids import Value

FIGURES = ("micro_f1", "macro_f1", "seen_f1", "unseen_f1", "micro_f1_no_oracle", "macro_f1_no_oracle")
"""The figures that are averaged over splits; those that do not apply are None."""


@dataclass(frozen=True)
class Score(Value):
    """How well a classifier trained on L names the classes of the test nodes.

    Parameters
    ----------
    micro_f1, macro_f1 : float
        Over all classes of the graph, also those absent from the test nodes. With several labels a
        node, the number of labels of each test node is given (DeepWalk's rule, as in the paper).
    per_class : mapping of str to float
        F1 of each class.
    seen_f1, unseen_f1 : float or None
        Mean of the per-class F1 over the classes the embedding knew of, and over those it did not;
        None where there is no such class.
    C : float
        The classifier's C, given or chosen inside L.
    classifier : str
        ``"linear"``, or ``"rbf"`` for the released code's.
    n_train, n_test : int
        Number of nodes of L, and of test nodes.
    micro_f1_no_oracle, macro_f1_no_oracle : float or None
        With several labels per node, the score when the classifier has to find their number itself:
        every class with a positive decision, and at least the best one. None for one label per node.
    params : mapping
        The setting of the method that was chosen inside L' (:func:`unseen.evaluate_method`).

    Examples
    --------
    >>> score = Score(0.5, 0.25, {"a": 0.5, "b": 0.0}, 0.5, 0.0, 1.0, "linear", 10, 90)
    >>> sorted(score.to_dict())[:3]
    ['C', 'classifier', 'macro_f1']
    """

    micro_f1: float
    macro_f1: float
    per_class: Mapping[str, float]
    seen_f1: float | None
    unseen_f1: float | None
    C: float
    classifier: str
    n_train: int
    n_test: int
    micro_f1_no_oracle: float | None = None
    macro_f1_no_oracle: float | None = None
    params: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "per_class", MappingProxyType(dict(self.per_class)))
        object.__setattr__(self, "params", MappingProxyType(dict(self.params)))

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, strings and dicts, for JSON."""
        return {**self.__dict__, "per_class": dict(self.per_class), "params": dict(self.params)}


@dataclass(frozen=True)
class ScoreSummary(Value):
    """Mean and standard deviation of the scores of several splits.

    Parameters
    ----------
    scores : tuple of Score
        One per split, in their order.

    Examples
    --------
    >>> one = Score(0.5, 0.25, {"a": 0.5, "b": 0.0}, 0.5, 0.0, 1.0, "linear", 10, 90)
    >>> two = Score(0.7, 0.35, {"a": 0.7, "b": 0.0}, 0.7, 0.0, 1.0, "linear", 10, 90)
    >>> summary = ScoreSummary((one, two))
    >>> round(summary.mean("micro_f1"), 3), round(summary.std("micro_f1"), 3)
    (0.6, 0.141)
    """

    scores: tuple[Score, ...]

    def __post_init__(self) -> None:
        if not self.scores:
            msg = "there is no split to evaluate; give at least one"
            raise InputError(msg)

    def mean(self, figure: str) -> float | None:
        """Return the mean of a figure over the splits it applies to, None where it applies to none."""
        values = self._values(figure)
        return float(np.mean(values)) if values else None

    def std(self, figure: str) -> float | None:
        """Return the standard deviation over the splits (n - 1 in the denominator), 0 for a single one."""
        values = self._values(figure)
        return float(np.std(values, ddof=min(len(values) - 1, 1))) if values else None

    def per_class(self) -> dict[str, float]:
        """Return the mean F1 of each class."""
        names = self.scores[0].per_class
        return {name: float(np.mean([score.per_class[name] for score in self.scores])) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return every figure as its mean and, under ``<figure>_std``, its deviation, for JSON."""
        figures: dict[str, Any] = {}
        for name in FIGURES:
            figures[name], figures[f"{name}_std"] = self.mean(name), self.std(name)
        return {
            **figures,
            "per_class": self.per_class(),
            "n_splits": len(self.scores),
            "classifier": self.scores[0].classifier,
            "C": [score.C for score in self.scores],
            "n_train": [score.n_train for score in self.scores],
            "n_test": [score.n_test for score in self.scores],
        }

    def _values(self, figure: str) -> list[float]:
        return [value for score in self.scores if (value := getattr(score, figure)) is not None]


@dataclass(frozen=True)
class ClusteringScore(Value):
    """Agreement of k-means clusters with classes; 1 is perfect.

    Parameters
    ----------
    nmi : float
        Normalised mutual information (arithmetic mean of the entropies).
    ari : float
        Adjusted Rand index, 0 for a random partition.
    n_clusters : int
        As many as there are classes among the test nodes.
    n_test : int
        Number of test nodes.

    Examples
    --------
    >>> ClusteringScore(0.5, 0.4, 3, 90).to_dict()
    {'nmi': 0.5, 'ari': 0.4, 'n_clusters': 3, 'n_test': 90}
    """

    nmi: float
    ari: float
    n_clusters: int
    n_test: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        return asdict(self)
