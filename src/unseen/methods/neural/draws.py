"""Random draws of a training, made on the device that trains, and random walks.

A GPU would wait for draws that are made on the processor and copied in every epoch. The bits depend on keys and on the
number of the draw alone, so that they are the same on every device.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from unseen.ids import Keys
from unseen.methods.neural import torch
from unseen.randomness import keyed_bits, mix_bits

NOISE_POWER = 0.75
"""A node is drawn as noise in proportion to its weighted degree to this power."""
WALK_BATCH = 65_536
"""Walks that are held in memory at a time."""
_SIGN = -(2**63)
"""Flips the sign, so that signed numbers have the order of their unsigned bits."""


class Draws:
    """Draws that belong to keys (of nodes, of entries), so that the order of rows does not matter.

    Parameters
    ----------
    keys : ndarray of uint64
        One key per row.
    device : torch.device
        Where the draws are made.
    use : int, optional
        Draws for different uses are independent although their keys are the same; None takes the keys as they are.
    """

    def __init__(self, keys: Keys, device: torch.device, use: int | None = 0) -> None:
        self.device, self.times = device, 0
        self._keys = keys if use is None else mix_bits(keys + np.uint64(use))
        self._on_device = torch.from_numpy(self._keys.view(np.int64)).to(device)

    def bits(self, columns: int) -> torch.Tensor:
        """Return 64 fresh bits in each of `columns` columns, one row per key."""
        self.times += 1
        if self.device.type == "cpu":  # numpy is faster there
            drawn = keyed_bits(self._keys, columns, stream=self.times)
            return torch.from_numpy(drawn.view(np.int64))
        first = self.times << 32
        counters = torch.arange(first, first + columns, device=self.device) * _signed(0x9E3779B97F4A7C15)
        return _mix_on_device(self._on_device[:, None] + counters[None, :])

    def keep(self, columns: int, share: float) -> tuple[torch.Tensor, float]:
        """Return which of `columns` entries per key survive dropout, and the factor that makes up for the others.

        Four 16-bit numbers are cut from each 64-bit draw, so the share is met to 1 in 65,536 (and the factor is that
        of the share that was met).
        """
        kept = max(1, round((1 - share) * 2**16))
        cut = self.bits(-(-columns // 4)).view(torch.int16).bitwise_xor_(-(2**15))
        return cut[:, :columns] <= kept - 1 - 2**15, 2**16 / kept

    def shuffle(self) -> torch.Tensor:
        """Return whose row every key gets: a permutation of keys that does not depend on their order."""
        order = torch.empty_like(self._ranked)
        order[self._ranked] = torch.argsort(self.bits(1)[:, 0] ^ _SIGN)
        return order

    @cached_property
    def _ranked(self) -> torch.Tensor:
        return torch.argsort(self._on_device ^ _SIGN)


class Numbers(Draws):
    """Uniform random numbers on a device, from one seed."""

    def __init__(self, seed: int, device: torch.device) -> None:
        super().__init__(np.array([seed], dtype=np.uint64), device)

    def uniform(self, count: int) -> torch.Tensor:
        """Return numbers in [0, 1), in float64 where the device has it."""
        digits, kind = (24, torch.float32) if self.device.type == "mps" else (53, torch.float64)
        return (self.bits(count)[0] >> (64 - digits) & (1 << digits) - 1).to(kind) * 2.0**-digits

    def integers(self, stop: int, count: int) -> torch.Tensor:
        """Return integers from 0 to `stop` - 1."""
        return (self.uniform(count) * stop).long()


def _signed(bits: int) -> int:
    return bits - 2**64 if bits >= 2**63 else bits


def _mix_on_device(z: torch.Tensor) -> torch.Tensor:
    """Scramble 64-bit numbers in place as :func:`unseen.randomness.mix_bits` does; torch shifts keep the sign."""
    z += _signed(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z ^= (z >> shift) & (1 << 64 - shift) - 1
        z *= _signed(factor)
    z ^= (z >> 31) & (1 << 33) - 1
    return z


class WalkSampler:
    """Walks whose steps follow the edges by their weights, and noise nodes by degree^0.75.

    Walks belong to nodes, not to row numbers: inside, the nodes stand in the order of their keys, so that a permuted
    graph gives the same walks.

    Parameters
    ----------
    adjacency : scipy CSR array, shape (n, n)
        Symmetric, not negative.
    keys : ndarray of uint64, shape (n,)
        One key per node, see :func:`unseen.randomness.node_keys`.
    numbers : Numbers
        Makes the draws.
    device : torch.device
        Where the walks are made.
    """

    def __init__(self, adjacency: sp.csr_array, keys: Keys, numbers: Numbers, device: torch.device) -> None:
        order = np.argsort(keys, kind="stable")
        ordered = sp.csr_array(adjacency[order][:, order])
        ordered.sort_indices()
        upto = np.concatenate(([0.0], np.cumsum(ordered.data)))
        degree = np.diff(upto[ordered.indptr])
        real = np.float32 if device.type == "mps" else np.float64

        def put(array: np.ndarray, kind: type) -> torch.Tensor:
            return torch.from_numpy(array.astype(kind)).to(device)

        self.numbers, self.device = numbers, device
        self.order, self.starts = put(order, np.int64), put(np.flatnonzero(degree > 0), np.int64)
        self._indptr, self._indices = put(ordered.indptr, np.int64), put(ordered.indices, np.int64)
        self._even = bool((ordered.data == ordered.data[:1]).all())
        self._upto, self._noise = put(upto, real), put(np.cumsum(degree**NOISE_POWER), real)

    def walk(self, starts: torch.Tensor, length: int) -> torch.Tensor:
        """Return one walk per row, of `length` nodes; `starts` and nodes are in the order of the keys."""
        walks = [starts]
        for _ in range(1, length):
            walks.append(self._next(walks[-1], self.numbers.uniform(len(starts))))
        return torch.stack(walks, dim=1)

    def noise(self, count: int) -> torch.Tensor:
        """Return nodes drawn by degree^0.75, as rows of the adjacency."""
        drawn = torch.searchsorted(self._noise, self.numbers.uniform(count) * self._noise[-1], right=True)
        return self.order[drawn.clamp_(max=len(self.order) - 1)]

    def pairs(
        self, walks: float, length: int, window: int, pairs: float
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Yield (centre, context) of `pairs` pairs per node on average, drawn evenly from `walks` walks per node.

        Walks are made and forgotten batch by batch. A pair of a node with itself is left out.
        """
        numbers, a_walk = self.numbers, pairs / walks
        times = (numbers.uniform(len(self.starts)) < walks % 1) + int(walks)
        starts = torch.repeat_interleave(self.starts, times)
        for first in range(0, len(starts), WALK_BATCH):
            batch = self.walk(starts[first : first + WALK_BATCH], length)
            count = (numbers.uniform(len(batch)) < a_walk % 1) + int(a_walk)
            row = torch.repeat_interleave(torch.arange(len(batch), device=self.device), count)
            position = numbers.integers(length, len(row))
            offset = (numbers.integers(window, len(row)) + 1) * (2 * numbers.integers(2, len(row)) - 1)
            other = position + offset
            inside = (other >= 0) & (other < length)
            row, position, other = row[inside], position[inside], other[inside]
            centre, context = batch[row, position], batch[row, other]
            differ = centre != context
            yield self.order[centre[differ]], self.order[context[differ]]

    def _next(self, nodes: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
        first, last = self._indptr[nodes], self._indptr[nodes + 1]
        if self._even:
            place = first + (uniform * (last - first)).long()
        else:
            low, high = self._upto[first], self._upto[last]
            place = torch.searchsorted(self._upto, low + uniform * (high - low), right=True) - 1
        return self._indices[torch.minimum(torch.maximum(place, first), last - 1)]
