"""One meaning of `random_state` for the whole package."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from unseen.errors import InputError

RandomState = int | np.random.Generator | None


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Return a Generator: a fresh one for None, a seeded one for an int, or the one given.

    Examples
    --------
    >>> as_generator(0).integers(100) == as_generator(0).integers(100)
    np.True_
    """
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    if isinstance(random_state, Integral) and not isinstance(random_state, bool) and random_state >= 0:
        return np.random.default_rng(int(random_state))
    msg = f"`random_state` must be None, an integer of at least 0 or a numpy Generator, got {random_state!r}"
    raise InputError(msg)


def seed_of(random_state: RandomState) -> int | None:
    """Return the seed to report for `random_state`, None where there is none."""
    return int(random_state) if isinstance(random_state, (int, np.integer)) else None


def child_seed(rng: np.random.Generator) -> int:
    """Draw a seed for a library that wants an integer (torch, scikit-learn)."""
    return int(rng.integers(2**31 - 1))
