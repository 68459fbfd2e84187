"""Random draws of a training, made on the device that trains.

A GPU would wait for draws that are made on the processor and copied in every epoch. The bits depend on keys and on the
number of the draw alone, so that they are the same on every device.
"""

from __future__ import annotations

import numpy as np

from unseen.ids import Keys
from unseen.methods.neural import torch
from unseen.randomness import mix_bits


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
        mixed = keys if use is None else mix_bits(keys + np.uint64(use))
        self.keys = torch.from_numpy(mixed.view(np.int64)).to(device)

    def bits(self, columns: int) -> torch.Tensor:
        """Return 64 fresh bits in each of `columns` columns, one row per key: those of `keyed_bits`.

        Torch has no unsigned numbers of 64 bits; products wrap around as they do, and shifts keep the sign.
        """
        self.times += 1
        golden, *factors = (
            0x9E3779B97F4A7C15 - 2**64,
            0xBF58476D1CE4E5B9 - 2**64,
            0x94D049BB133111EB - 2**64,
        )
        first = self.times << 32
        z = self.keys[:, None] + torch.arange(first, first + columns, device=self.device) * golden
        z += golden
        for shift, factor in zip((30, 27), factors, strict=True):
            z ^= (z >> shift) & (1 << 64 - shift) - 1
            z *= factor
        z ^= (z >> 31) & (1 << 33) - 1
        return z

    def keep(self, columns: int, share: float) -> tuple[torch.Tensor, float]:
        """Return which of `columns` entries per key survive dropout, and the factor that makes up for the others.

        Four 16-bit numbers are cut from each 64-bit draw, so the share is met to 1 in 65,536 (and the factor is that
        of the share that was met).
        """
        kept = max(1, round((1 - share) * 2**16))
        cut = self.bits(-(-columns // 4)).view(torch.int16).bitwise_xor_(-(2**15))
        return cut[:, :columns] <= kept - 1 - 2**15, 2**16 / kept

    def uniform(self, count: int) -> torch.Tensor:
        """Return numbers in [0, 1) of the first key, in float64 where the device has it."""
        digits, kind = (24, torch.float32) if self.device.type == "mps" else (53, torch.float64)
        return (self.bits(count)[0] >> (64 - digits) & (1 << digits) - 1).to(kind) * 2.0**-digits

    def integers(self, stop: int, count: int) -> torch.Tensor:
        """Return integers from 0 to `stop` - 1 of the first key."""
        return (self.uniform(count) * stop).long()
