"""How right a discovery was, where the hidden labels are known after all."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.discovery.result import Discovery
from unseen.discovery.validation import reliability
from unseen.errors import InputError, counted
from unseen.ids import Mask, as_ids, match_ids
from unseen.labels import Labels


@dataclass(frozen=True)
class Truth:
    """How a discovery, or another sorting of nodes into classes, compares with the truth.

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
    auroc, ece : float or None
        Of the probability of belonging to a hidden class; None where all nodes are of one kind or have none.
    n_hidden, n_nodes : int
        Nodes of hidden classes, and all that were compared: unlabelled nodes whose classes are known after all.
    n_classes : int
        Hidden classes among them.
    n_flagged, n_flagged_hidden : int
        Compared nodes in candidate classes, and those of them that belong to hidden classes.

    Examples
    --------
    >>> Truth(matches=(("new-1", "mail", 7),), n_hidden=10, n_nodes=50, n_classes=1).to_dict()["matches"]
    {'new-1': ['mail', 7]}
    """

    accuracy_seen: float | None = None
    accuracy_unseen: float | None = None
    accuracy_all: float | None = None
    nmi: float | None = None
    ari: float | None = None
    matches: tuple[tuple[str, str, int], ...] = ()
    auroc: float | None = None
    ece: float | None = None
    n_hidden: int = 0
    n_nodes: int = 0
    n_classes: int = 0
    n_flagged: int = 0
    n_flagged_hidden: int = 0

    def summary(self) -> str:
        """Return how many nodes belong to hidden classes, and how many of the flagged ones do.

        Examples
        --------
        >>> print(Truth(n_hidden=10, n_nodes=50, n_flagged=8, n_flagged_hidden=6).summary())
        In truth, 10 of 50 unlabelled nodes belong to hidden classes.
        Of the 8 nodes in candidate classes, 6 do (75 %).
        """
        nodes, flagged = counted(self.n_nodes, "unlabelled node"), counted(self.n_flagged, "node")
        share = self.n_flagged_hidden / max(self.n_flagged, 1)
        return (
            f"In truth, {self.n_hidden:,} of {nodes} belong to hidden classes.\n"
            f"Of the {flagged} in candidate classes, {self.n_flagged_hidden:,} do ({100 * share:.0f} %)."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {**asdict(self), "matches": {group: [name, n] for group, name, n in self.matches}}


def compare(discovery: Discovery, labels: Labels) -> Truth:
    """Return how right a discovery was by `labels`, which include the classes that were hidden from it."""
    from sklearn.metrics import roc_auc_score

    rows = match_ids(as_ids(discovery.nodes.column("node").to_pylist()), labels.node_ids)
    compared = np.flatnonzero((rows >= 0) & (np.diff(labels.indicator.indptr)[rows] > 0))
    if not len(compared):
        msg = "the labels name no node that was unlabelled, so there is nothing to compare with"
        raise InputError(msg)
    labelled = {name for name, count in discovery.coverage.classes if count}
    hidden_columns = np.array([name not in labelled for name in labels.classes])
    indicator, nodes = labels.indicator[rows[compared]].toarray(), discovery.nodes.take(compared)
    new = ~(indicator & ~hidden_columns).any(axis=1)
    p = nodes.column("unseen_probability").to_numpy()
    flagged = nodes.column("group").is_valid().to_numpy()
    agreement = Truth()
    if not labels.is_multilabel:
        guess = (
            nodes.column("group").combine_chunks().fill_null(nodes.column("likely_class").combine_chunks())
        )
        truth = np.array(labels.classes, dtype=object)[indicator.argmax(axis=1)]
        names = [each.group for each in discovery.classes]
        agreement = agreement_of(np.array(guess.to_pylist(), dtype=object), truth, new, names)
    return replace(
        agreement,
        auroc=float(roc_auc_score(new, p)) if new.any() and not new.all() else None,
        ece=reliability(p, new)[1],
        n_hidden=int(new.sum()),
        n_nodes=len(compared),
        n_classes=int((indicator.any(axis=0) & hidden_columns).sum()),
        n_flagged=int(flagged.sum()),
        n_flagged_hidden=int(flagged[new].sum()),
    )


def agreement_of(guess: npt.NDArray[Any], truth: npt.NDArray[Any], new: Mask, names: list[str]) -> Truth:
    """Return how right predictions are; `names` are those that can be matched with hidden classes."""
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    classes = sorted(set(truth[new]))
    table = np.array([[int(((guess == g) & (truth == c) & new).sum()) for c in classes] for g in names])
    table = table.reshape(len(names), len(classes))
    pairs = zip(*linear_sum_assignment(-table), strict=True)
    matches = tuple((names[a], classes[b], int(table[a, b])) for a, b in pairs if table[a, b])
    meant = {group: name for group, name, _ in matches}
    right = np.array([meant.get(g, g) for g in guess], dtype=object) == truth
    right[~new & np.isin(guess.astype(str), names)] = False
    shares = [float(right[rows].mean()) if rows.any() else None for rows in (~new, new, new | ~new)]
    hidden = [np.unique(each[new].astype(str), return_inverse=True)[1] for each in (truth, guess)]
    scores = (normalized_mutual_info_score, adjusted_rand_score)
    nmi, ari = (float(score(*hidden)) if new.any() else None for score in scores)
    return Truth(shares[0], shares[1], shares[2], nmi, ari, matches)
