"""Which labels an embedding may see: drawing L, hiding whole classes of it, enumerating what to hide."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError, logger
from unseen.ids import Value, lock
from unseen.labels import Labels
from unseen.params import Limits, check_argument
from unseen.randomness import RandomState, as_generator, seed_of

MAX_DRAWS = 100
NO_LABELS = "there are no labels to split; label at least two nodes of every class"


@dataclass(frozen=True, eq=False)
class Split(Value):
    """One draw of the protocol: L for the classifier, the rest for the test, L' for the embedding.

    Parameters
    ----------
    train : ndarray of int64
        L: row numbers of the labelled nodes that the classifier learns from, all classes included.
    test : ndarray of int64
        Row numbers of the other labelled nodes.
    unseen : tuple of str
        The classes that the embedding must not know of.
    seen_labels : Labels
        L': the labels of L without the unseen classes, which is all an embedding may see.
    random_state : int or None
        The seed it was drawn with, where there is one.

    Examples
    --------
    >>> import unseen
    >>> labels = unseen.Labels.from_values(list("aaabbbccc"))
    >>> split = unseen.completely_imbalanced_split(labels, label_rate=0.5, unseen=["c"], random_state=0)
    >>> split.seen_labels.classes
    ('a', 'b')
    """

    train: npt.NDArray[np.int64]
    test: npt.NDArray[np.int64]
    unseen: tuple[str, ...]
    seen_labels: Labels
    random_state: int | None = None

    def __post_init__(self) -> None:
        for name in ("train", "test"):
            object.__setattr__(self, name, _check_row_numbers(getattr(self, name), name))
        if isinstance(self.unseen, str) or not isinstance(self.unseen, Iterable):
            msg = f"`unseen` must be a list of class names, got {self.unseen!r}"
            raise InputError(msg)
        check_labels(self.seen_labels, "seen_labels")
        object.__setattr__(self, "unseen", tuple(self.unseen))

    def __repr__(self) -> str:
        hidden = ", ".join(self.unseen) or "none"
        return f"Split({len(self.train)} train, {len(self.test)} test, unseen: {hidden})"


def completely_imbalanced_split(
    labels: Labels, *, label_rate: float, unseen: Sequence[str] | int, random_state: RandomState = None
) -> Split:
    """Draw the labelled set L and hide whole classes of it from the embedding.

    L is drawn uniformly from the labelled nodes. If a class is not covered it is redrawn, at most
    100 times; then one node of each missing class is added and a notice says so. Classes with one
    labelled node are set aside, with a warning that lists them. With several labels per node,
    unseen labels are dropped and nodes left without any become unlabelled.

    Parameters
    ----------
    labels : Labels
        Everything that is known.
    label_rate : float
        Share of the labelled nodes that goes into L, between 0 and 1, both excluded.
    unseen : sequence of str, or int
        Names of the classes to hide, or how many to draw at random.
    random_state : None, int or numpy Generator
        Same seed, same split.

    Returns
    -------
    Split
        With `train` (L), `test`, and `seen_labels` (L').

    Examples
    --------
    >>> import unseen
    >>> labels = unseen.load_dataset("debian").labels
    >>> split = unseen.completely_imbalanced_split(labels, label_rate=0.1, unseen=["mail"], random_state=0)
    >>> "mail" in split.seen_labels.classes
    False
    """
    check_labels(labels)
    rng = as_generator(random_state)
    everything, labels = labels, _drop_single_classes(labels)
    if isinstance(unseen, Integral) and not isinstance(unseen, bool):
        unseen = _draw_classes(labels, int(unseen), rng)
    elif isinstance(unseen, str) or not isinstance(unseen, Iterable):
        msg = f"`unseen` must be a list of class names, or how many to draw, got {unseen!r}"
        raise InputError(msg)
    hidden = {everything.classes[k] for k in everything.class_numbers(unseen)}
    inhabited = _list_used_classes(labels)
    if inhabited and hidden.issuperset(inhabited):
        msg = f"all {len(inhabited)} classes are unseen; leave at least one for the embedding to learn from"
        raise InputError(msg)
    train, test = _draw_train(labels, label_rate, rng)
    ordered = tuple(name for name in labels.classes if name in hidden)
    return Split(train, test, ordered, labels.keep(train, without=ordered), seed_of(random_state))


def describe_split(split: Split, label_rate: float) -> dict[str, Any]:
    """Return what it takes to draw a split again and to know it: vectors that saw its labels are saved with that."""
    listed = "\0".join(str(node) for node in split.seen_labels.node_ids[split.train])
    labelled = hashlib.sha256(listed.encode()).hexdigest()[:16]
    drawn = {"unseen": list(split.unseen), "label_rate": label_rate, "seed": split.random_state}
    return {**drawn, "labelled": labelled}


def redraw_split(labels: Labels, record: Mapping[str, Any]) -> Split:
    """Return the split of a record, drawn again; labels that give another one are refused."""
    types = {"unseen": list, "label_rate": float, "seed": int, "labelled": str}
    if not all(isinstance(record.get(key), kind) for key, kind in types.items()):
        msg = "the file says that its vectors were learned for a split, but not for which; embed the graph again"
        raise InputError(msg)
    rate, hidden = record["label_rate"], record["unseen"]
    split = completely_imbalanced_split(labels, label_rate=rate, unseen=hidden, random_state=record["seed"])
    if describe_split(split, rate)["labelled"] != record["labelled"]:
        msg = (
            "these vectors were learned with the labels of one split, and these labels give another one: test nodes "
            "would be among those the embedding learned from; give the labels that it was made with"
        )
        raise InputError(msg)
    return split


def balanced_split(labels: Labels, *, label_rate: float, random_state: RandomState = None) -> Split:
    """Draw the labelled set L and hide nothing: the embedding may see all of it.

    Parameters
    ----------
    labels, label_rate, random_state
        As for :func:`completely_imbalanced_split`.

    Examples
    --------
    >>> import unseen
    >>> split = unseen.balanced_split(unseen.Labels.from_values(list("aabb")), label_rate=0.5, random_state=0)
    >>> len(split.train), split.unseen
    (2, ())
    """
    return completely_imbalanced_split(labels, label_rate=label_rate, unseen=(), random_state=random_state)


def unseen_sets(labels: Labels, size: int) -> Iterator[tuple[str, ...]]:
    """Return every set of `size` classes that can be hidden, in a fixed order.

    Examples
    --------
    >>> import unseen
    >>> list(unseen.unseen_sets(unseen.Labels.from_values(list("abc")), 2))
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    _check_size(labels, size)
    return itertools.combinations(_list_used_classes(labels), size)


def random_unseen_sets(
    labels: Labels, size: int, n_sets: int, *, random_state: RandomState = None
) -> list[tuple[str, ...]]:
    """Return `n_sets` random sets of `size` classes to hide; sets repeat only when there are too few.

    Examples
    --------
    >>> import unseen
    >>> labels = unseen.Labels.from_values(list("abcdef"))
    >>> len(set(unseen.random_unseen_sets(labels, 2, 10, random_state=0)))
    10
    """
    _check_size(labels, size)
    check_argument("n_sets", n_sets, int, Limits(0))
    rng = as_generator(random_state)
    sets: list[tuple[str, ...]] = []
    taken: set[tuple[str, ...]] = set()
    possible = math.comb(len(_list_used_classes(labels)), size)
    for _ in range(n_sets):
        names = _draw_classes(labels, size, rng)
        for _ in range(MAX_DRAWS if len(taken) < possible else 0):
            if names not in taken:
                break
            names = _draw_classes(labels, size, rng)
        if names in taken and len(taken) < possible:  # few are left: luck would take too long
            left = [names for names in unseen_sets(labels, size) if names not in taken]
            names = left[rng.integers(len(left))]
        taken.add(names)
        sets.append(names)
    return sets


def _drop_single_classes(labels: Labels) -> Labels:
    """Return the labels without classes of one labelled node, which are listed in a warning."""
    single = [name for name, count in zip(labels.classes, labels.counts, strict=True) if count == 1]
    if not single:
        return labels
    why = "one labelled node cannot be both learned from and tested on"
    if len(single) == len(_list_used_classes(labels)):
        msg = f"every class has one labelled node, and {why}; label more nodes"
        raise InputError(msg)
    logger.warning("classes set aside, because %s: %s", why, ", ".join(single))
    return labels.keep(labels.labelled, without=single)


def _list_used_classes(labels: Labels) -> list[str]:
    return [name for name, count in zip(labels.classes, labels.counts, strict=True) if count]


def check_labels(labels: Labels, name: str = "labels") -> None:
    """Raise an `InputError` that names the parameter where `labels` is not a `Labels`."""
    if not isinstance(labels, Labels):
        msg = f"`{name}` must be unseen.Labels, got {type(labels).__name__}; see Labels.from_values and read_labels"
        raise InputError(msg)


def _check_row_numbers(rows: npt.ArrayLike, name: str) -> npt.NDArray[np.int64]:
    try:
        array = np.array(rows)
    except ValueError:  # rows of different lengths
        array = np.array(None)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        msg = f"`{name}` must be a list of row numbers, got {rows!r}"
        raise InputError(msg)
    numbers = array.astype(np.int64)
    lock(numbers)
    return numbers


def _check_size(labels: Labels, size: int) -> None:
    check_labels(labels)
    check_argument("size", size, int)
    n = len(_list_used_classes(labels))
    if not n:
        raise InputError(NO_LABELS)
    if not 0 <= size < n:
        msg = f"cannot hide {size} of {n} classes; hide at least 0 and at most {n - 1}"
        raise InputError(msg)


def _draw_classes(labels: Labels, size: int, rng: np.random.Generator) -> tuple[str, ...]:
    _check_size(labels, size)
    names = _list_used_classes(labels)
    return tuple(names[k] for k in sorted(rng.choice(len(names), size, replace=False)))


def _draw_train(
    labels: Labels, label_rate: float, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    labelled = labels.labelled
    number = isinstance(label_rate, Real) and not isinstance(label_rate, bool)
    if not number or not 0 < label_rate < 1:
        msg = f"`label_rate` must be between 0 and 1, both excluded, got {label_rate!r}"
        raise InputError(msg)
    if not len(labelled):
        raise InputError(NO_LABELS)
    present = labels.counts > 0
    size = max(1, min(len(labelled) - 1, round(label_rate * len(labelled))))
    for _ in range(MAX_DRAWS):
        train = np.sort(rng.choice(labelled, size, replace=False))
        covered = labels.indicator[train].sum(axis=0) > 0
        if covered[present].all():
            break
    else:
        missing = np.flatnonzero(present & ~covered)
        by_class = labels.indicator.tocsc()
        added: set[int] = set()
        for k in missing:
            members = by_class.indices[by_class.indptr[k] : by_class.indptr[k + 1]]
            if not added.intersection(members.tolist()):
                added.add(int(rng.choice(members)))
        train = np.sort(np.r_[train, sorted(added)])
        names = ", ".join(labels.classes[k] for k in missing)
        logger.info(
            "no draw of %d nodes covered every class; one node was added for each of: %s", size, names
        )
    return train, np.setdiff1d(labelled, train, assume_unique=True)
