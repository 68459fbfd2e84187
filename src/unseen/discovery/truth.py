"""How right a discovery was, where the hidden labels are known after all."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.discovery.calibration import calibration_error
from unseen.discovery.result import Discovery
from unseen.errors import InputError
from unseen.ids import as_ids, match_ids
from unseen.labels import Labels


@dataclass(frozen=True)
class Agreement:
    """How right a sorting of nodes into classes is.

    Every node has one prediction: its group where it has one, else its likely class. Groups are matched one to
    one with the hidden classes (Hungarian algorithm, most hidden nodes right). A hidden node is right in the
    group matched with its class and wrong anywhere else, also in a labelled class; a node of a labelled class is
    right in that class and wrong in any group. A group without a match is always wrong.

    Parameters
    ----------
    accuracy_seen, accuracy_unseen, accuracy_all : float or None
        Share of right predictions among nodes of labelled classes, of hidden classes, and of all; None where
        nodes have several labels.
    nmi, ari : float or None
        Agreement of predictions and classes over the nodes of hidden classes.
    matches : tuple of (str, str, int)
        Group, hidden class, and how many of its nodes the group holds.
    """

    accuracy_seen: float | None = None
    accuracy_unseen: float | None = None
    accuracy_all: float | None = None
    nmi: float | None = None
    ari: float | None = None
    matches: tuple[tuple[str, str, int], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Truth(Agreement):
    """How a discovery compares with the truth, over the unlabelled nodes whose classes are known after all.

    Parameters
    ----------
    auroc, ece : float or None
        Of the probability of belonging to a hidden class; None where all nodes are of one kind.
    n_hidden, n_nodes : int
        Nodes of hidden classes, and all that were compared.
    n_classes : int
        Hidden classes among them.

    Examples
    --------
    >>> truth = Truth(matches=(("new-1", "mail", 7),), auroc=0.9, ece=0.05, n_hidden=10, n_nodes=50, n_classes=1)
    >>> truth.to_dict()["matches"]
    {'new-1': ['mail', 7]}
    """

    auroc: float | None
    ece: float | None
    n_hidden: int
    n_nodes: int
    n_classes: int

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {**asdict(self), "matches": {group: [name, n] for group, name, n in self.matches}}


def compare(discovery: Discovery, labels: Labels) -> Truth:
    """Return how right a discovery was by `labels`, which include the classes that were hidden from it.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.planted_partition(300, 5, random_state=0)
    >>> split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c4"], random_state=0)
    >>> truth = compare(unseen.discover(data.graph, split.seen_labels, random_state=0), data.labels)
    >>> truth.auroc > 0.9, truth.matches[0][1]
    (True, 'c4')
    """
    from sklearn.metrics import roc_auc_score

    ids = as_ids(discovery.nodes.column("node").to_pylist())
    rows = match_ids(ids, labels.node_ids)
    compared = np.flatnonzero((rows >= 0) & (np.diff(labels.indicator.indptr)[rows] > 0))
    if not len(compared):
        msg = "the labels name no node that was unlabelled, so there is nothing to compare with"
        raise InputError(msg)
    labelled = {name for name, count in discovery.audit.classes if count}
    hidden_columns = np.array([name not in labelled for name in labels.classes])
    indicator = labels.indicator[rows[compared]].toarray()
    new = ~(indicator & ~hidden_columns).any(axis=1)
    p = discovery.nodes.column("unseen_probability").to_numpy()[compared]
    figures: dict[str, Any] = {
        "auroc": float(roc_auc_score(new, p)) if new.any() and not new.all() else None,
        "ece": calibration_error(p, new),
        "n_hidden": int(new.sum()),
        "n_nodes": len(compared),
        "n_classes": int((indicator.any(axis=0) & hidden_columns).sum()),
    }
    if labels.is_multilabel:
        return Truth(**figures)
    group = np.array(discovery.nodes.column("group").to_pylist(), dtype=object)[compared]
    likely = np.array(discovery.nodes.column("likely_class").to_pylist(), dtype=object)[compared]
    guess = np.where(group == None, likely, group)  # noqa: E711  # elementwise
    truth = np.array(labels.classes, dtype=object)[indicator.argmax(axis=1)]
    names = [each.name for each in discovery.classes]
    return Truth(**vars(agreement_of(guess, truth, new, names)), **figures)


def agreement_of(
    guess: npt.NDArray[Any], truth: npt.NDArray[Any], new: npt.NDArray[np.bool_], names: list[str]
) -> Agreement:
    """Return how right predictions are; `names` are those that can be matched with hidden classes.

    Examples
    --------
    >>> guess, truth = np.array(["new-1", "a", "a"], dtype=object), np.array(["b", "b", "a"], dtype=object)
    >>> agreement_of(guess, truth, truth == "b", ["new-1"]).accuracy_unseen
    0.5
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    classes = sorted(set(truth[new]))
    table = np.array([[int(((guess == g) & (truth == c) & new).sum()) for c in classes] for g in names])
    match: dict[str, tuple[str, int]] = {}
    if table.size:
        for a, b in zip(*linear_sum_assignment(-table), strict=True):
            if table[a, b]:
                match[names[a]] = (classes[b], int(table[a, b]))
    prediction = np.array([match[g][0] if g in match else g for g in guess], dtype=object)
    right = np.asarray(prediction == truth)
    right[~new & np.isin(guess.astype(str), names)] = False
    guess_codes, truth_codes = _numbered(guess[new]), _numbered(truth[new])
    return Agreement(
        _share(right[~new]),
        _share(right[new]),
        _share(right),
        float(normalized_mutual_info_score(truth_codes, guess_codes)) if new.any() else None,
        float(adjusted_rand_score(truth_codes, guess_codes)) if new.any() else None,
        tuple((g, *match[g]) for g in match),
    )


def _share(right: npt.NDArray[np.bool_]) -> float | None:
    return float(right.mean()) if len(right) else None


def _numbered(names: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    return np.unique(names.astype(str), return_inverse=True)[1]
