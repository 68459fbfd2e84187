"""One meaning of `random_state` for the whole package, and random numbers keyed by node.

The same node gets the same draw whatever its row number is. So a permuted graph starts from permuted vectors, and a row
can be drawn where it lives.
"""

from __future__ import annotations

import hashlib
from numbers import Integral

import numpy as np

from unseen.errors import InputError
from unseen.ids import Array, Floats, Keys

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


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def node_keys(node_ids: Array, seed: int) -> Keys:
    """Return a 64-bit key of every id, which depends on the id and `seed` alone.

    Examples
    --------
    >>> forward, backward = node_keys(np.array(["a", "b"]), 0), node_keys(np.array(["b", "a"]), 0)
    >>> bool((forward == backward[::-1]).all())
    True
    """
    start = mix_bits(np.array([seed], dtype=np.uint64))[0]
    if node_ids.dtype.kind in "iu":
        return mix_bits(node_ids.astype(np.int64).view(np.uint64) ^ start)
    strings = [text if len(text) <= 64 else _shorten(text) for text in map(str, node_ids.tolist())]
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    # all letters one after the other: as a table, a single long id would make every row as long
    letters = np.frombuffer("".join(strings).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    order = np.argsort(-lengths, kind="stable")
    starts = (np.cumsum(lengths) - lengths)[order]
    left = len(order) - np.searchsorted(lengths[order][::-1], np.arange(1, lengths.max(initial=0) + 1))
    keys = np.full(len(strings), start, dtype=np.uint64)
    for column, count in enumerate(left.tolist()):  # the longest `count` ids have a letter here
        letter = letters[starts[:count] + column].astype(np.uint64)
        # zeros leave a key alone, as at the end of numpy's fixed-width strings
        keys[:count] = np.where(letter == 0, keys[:count], mix_bits(keys[:count] ^ letter))
    scattered = np.empty_like(keys)
    scattered[order] = keys
    return scattered


def _shorten(text: str) -> str:
    """Return the 64 letters of the hash of a longer text: every letter costs a pass over all ids."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()


def keyed_uniform(keys: Keys, columns: int, *, stream: int = 0) -> Floats:
    """Return numbers in [0, 1), one row per key; different streams are independent.

    Examples
    --------
    >>> keyed_uniform(node_keys(np.arange(3), 0), 4).shape
    (3, 4)
    """
    bits = keyed_bits(keys, columns, stream=stream)
    return np.asarray((bits >> np.uint64(11)) * (1.0 / (1 << 53)), dtype=np.float64)


def keyed_bits(keys: Keys, columns: int, *, stream: int = 0) -> Keys:
    """Return 64 random bits in each of `columns` columns, one row per key; different streams are independent."""
    counters = np.arange(stream << 32, (stream << 32) + columns, dtype=np.uint64) * _GOLDEN
    return mix_bits(keys[:, None] + counters[None, :])


def mix_bits(values: Keys) -> Keys:
    """Scramble 64-bit numbers one to one (the finalizer of the splitmix64 generator)."""
    z = values + _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
