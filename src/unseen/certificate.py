"""Answers to questions: the order in which they were given, and what the random ones prove."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unseen.errors import InputError, counted
from unseen.labels import CONFIRMED, GROUP, RANDOM, Labels, Status

ROUND_SHARES = (0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005, 0.003, 0.002, 0.001)
"""Shares of the nodes that a certificate aims at, one after the other."""


def order_answers(
    rows: Iterable[tuple[Any, str]], classes: Mapping[Any, Sequence[str]]
) -> tuple[dict[Any, str], set[Any]]:
    """Return the answers in the order in which they were given, and the nodes that were labelled with their group.

    That is the order of the rows, if questions have the last ones. If other rows stand between or after them, answers
    were written into rows that were there before, such as those of a file that lists all its nodes. Then the pools,
    which shrink with every answer, say in which order random questions were asked, and answers to other questions do
    not make a class known to them: a random answer counts as the first one that names a class unless it surely is not.

    Parameters
    ----------
    rows : iterable of (node, status)
        The rows of a label file; the status is a `Status` where a question was asked.
    classes : mapping
        The classes of the nodes that have any.
    """
    asked, others, guesses, is_appended = dict[Any, Status](), dict[Any, str](), set[Any](), True
    for node, status in rows:
        drawn = status.drawn if isinstance(status, Status) else ""
        if drawn == GROUP:
            guesses.add(node)
        elif isinstance(status, Status):
            if node not in asked or asked[node].drawn != RANDOM:
                asked.pop(node, None)
                asked[node] = status
        else:
            is_appended = is_appended and not asked
            others[node] = status or others.get(node, "")
    guesses.difference_update(asked, others)
    before = {name for node in others.keys() - asked.keys() for name in classes.get(node, ())}
    parts = [asked]
    if not is_appended:
        by_pool = sorted(asked.items(), key=lambda entry: -entry[1].pool)
        parts = [{node: status for node, status in by_pool if status.drawn == RANDOM}]
        parts += [{node: status for node, status in asked.items() if status.drawn != RANDOM}]
    answers: dict[Any, str] = {
        node: status
        for node, status in others.items()
        if status and (status == CONFIRMED) == (node in classes) and node not in asked
    }
    for part in parts:
        answers |= date_answers(part, classes, before)
    return answers, guesses


def date_answers(
    statuses: Mapping[Any, Status], classes: Mapping[Any, Sequence[str]], before: Collection[str]
) -> dict[Any, Status]:
    """Return the answers to questions, in their order, with whether each named a class that had no label before it.

    Parameters
    ----------
    statuses : mapping
        The answers, in their order.
    classes : mapping
        The classes of the nodes.
    before : collection of str
        The classes that had a label before the first of the questions.
    """
    named, answers = set(before), dict[Any, Status]()
    for node, status in statuses.items():
        own = set(classes.get(node, ()))
        answer = CONFIRMED if own and status == CONFIRMED else "" if own else str(status)
        # another question without an answer is nothing to remember
        if own or answer or status.drawn == RANDOM:
            answers[node] = Status(answer, drawn=status.drawn, pool=status.pool, is_new=not own <= named)
        named |= own
    return answers


@dataclass(frozen=True)
class Certificate:
    """How many nodes at most belong to classes without a label, proven by answers to random questions.

    Parameters
    ----------
    at_most : int
        With probability 1 - `alpha`, and at all times at once, no more nodes belong to classes without a label.
    share : float
        That as a share of all nodes.
    alpha : float
        Probability of a mistake.
    n_answers : int
        Random questions so far.
    n_new : int
        Those that named a class without a label, or that were skipped.
    run : int
        Random answers since the last of those.
    target : float or None
        The next round share below `share`; None where it is 0.
    n_more : int or None
        Random answers without a new class that make it `target`.
    n_skipped : int
        Nodes without a label that somebody looked at without naming a class; they are not in `at_most`.
    expected_share : float or None
        Share of the nodes without a label or answer that belong to classes without a label, by Good and Turing: the
        share of the random answers whose class was named by no other one. None without a random answer.
    missing_classes : int
        Chao's lower bound of the number of classes that still have no label.

    Examples
    --------
    >>> answers = {k: Status(drawn="random", pool=1000 - k) for k in range(67)}
    >>> from dataclasses import replace
    >>> certificate = replace(Labels.from_values(["red"] * 67 + [None] * 933), answers=answers).certificate()
    >>> certificate.sentence[:48], certificate.at_most, certificate.n_more
    ('95 % sure: at most 4.7 % of the nodes belong to ', 47, 36)
    """

    at_most: int
    share: float
    alpha: float
    n_answers: int
    n_new: int
    run: int
    target: float | None
    n_more: int | None
    n_skipped: int = 0
    expected_share: float | None = None
    missing_classes: int = 0

    @property
    def sentence(self) -> str:
        """The certificate in words."""
        if not self.n_answers:
            return "No random question was answered, so it is open how many nodes belong to classes without a label"
        nodes = (
            f"at most {format_share(self.share)} of the nodes belong" if self.at_most else "no node belongs"
        )
        words = f"{100 * (1 - self.alpha):.4g} % sure: {nodes} to classes without a label"
        if self.n_skipped:
            words += f" (not counting {counted(self.n_skipped, 'skipped node')})"
        if self.target is None or self.n_more is None:
            return words
        makes = "makes" if self.n_more == 1 else "make"
        more = counted(self.n_more, "more random answer")
        return f"{words}; {more} without a new class {makes} it {format_share(self.target)}"

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON, the sentence included."""
        return {**asdict(self), "sentence": self.sentence}


def format_share(share: float) -> str:
    """Return a share in percent, rounded up to two digits: it is a bound.

    Examples
    --------
    >>> [format_share(share) for share in (0.0401, 0.95, 0.005, 0.123, 1.0)]
    ['4.1 %', '95 %', '0.5 %', '13 %', '100 %']
    """
    percent = 100 * share
    digits = 0 if percent >= 10 else 1 if percent >= 1 else 2
    return f"{math.ceil(round(percent * 10**digits, 6)) / 10**digits:g} %"


def certify(labels: Labels, alpha: float = 0.05) -> Certificate:
    """Return what the answers to random questions prove (Ville's inequality); see `docs/explanation/guarantees.md`.

    While d nodes of a pool of P belong to classes without a label, a random answer names none of them with probability
    1 - d/P. The product of 1 / (1 - d/P) over the random answers is lost when one names such a class, and begins again
    with a third of the capital before, 2/3 at first. It is a nonnegative supermartingale that starts at 2/3 + 2/9 + ...
    = 1, so with probability 1 - `alpha` it never reaches 1 / `alpha`: every d that makes it larger is refused.
    """
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float)) or not 0 < alpha < 1:
        msg = f"`alpha` is a probability, a number between 0 and 1, got {alpha!r}"
        raise InputError(msg)
    classes = labels.to_lists()
    drawn = [
        (node, status)
        for node, status in labels.answers.items()
        if isinstance(status, Status) and status.drawn == RANDOM
    ]
    while drawn and not drawn[-1][1] and drawn[-1][0] not in classes:
        drawn.pop()  # the next questions, which have no answer yet
    is_new = np.array([status.is_new or node not in classes for node, status in drawn], dtype=np.bool_)
    start = int(np.flatnonzero(is_new)[-1]) + 1 if is_new.any() else 0
    pools = np.array([status.pool for _, status in drawn[start:]], dtype=np.float64)
    bar = math.log(3.0 ** (int(is_new.sum()) + 1) / (2 * alpha))
    unanswered = [node for node, status in labels.answers.items() if status and node not in classes]
    pool = labels.n_nodes - len(classes) - len(unanswered) + len(labels.guesses)
    most = int(min([pool + 1, *pools.tolist()]))
    # before the first number of nodes that random answers from these pools would hardly all have missed
    at_most = bisect_left(range(1, most), True, key=lambda d: -np.log1p(-d / pools).sum() >= bar)
    at_most = min(at_most, pool)
    n = max(labels.n_nodes, 1)
    target = next((share for share in ROUND_SHARES if math.floor(share * n + 1e-9) < at_most), None)
    n_more = None
    if target is not None:
        refused = math.floor(target * n + 1e-9) + 1
        left = bar + np.log1p(-np.minimum(refused / pools, 1 - 1e-15)).sum()
        coming = -np.log1p(-refused / np.arange(pool, refused, -1, dtype=np.float64)).cumsum()
        n_more = int(np.searchsorted(coming, left)) + 1
    expected_share, missing_classes = _estimate_missing(labels, classes, [node for node, _ in drawn])
    return Certificate(
        at_most=at_most,
        share=at_most / n,
        alpha=float(alpha),
        n_answers=len(drawn),
        n_new=int(is_new.sum()),
        run=len(pools),
        target=target,
        n_more=n_more,
        n_skipped=len(unanswered),
        expected_share=expected_share,
        missing_classes=missing_classes,
    )


def _estimate_missing(
    labels: Labels, classes: Mapping[Any, Sequence[str]], drawn: Sequence[Any]
) -> tuple[float | None, int]:
    """Return the share of nodes and the number of classes without a label, estimated from the random answers.

    Both look at the classes that questions found, and count those that one or two random answers named. An answer that
    is not there counts as a class of its own.
    """
    if not drawn:
        return None, 0
    asked = {node for node, status in labels.answers.items() if isinstance(status, Status)}
    guesses = set(labels.guesses)
    known = {name for node, names in classes.items() if node not in asked | guesses for name in names}
    found = {name for node in asked for name in classes.get(node, ())} - known
    times = Counter(
        name for node in drawn for name in classes.get(node, [node]) if name in found or node not in classes
    )
    once, twice = (sum(count == n for count in times.values()) for n in (1, 2))
    only_by_score = len(found - times.keys())
    return once / len(drawn), max(once * (once - 1) // (2 * (twice + 1)) - only_by_score, 0)
