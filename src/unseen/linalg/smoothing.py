"""Vectors averaged over the graph at several depths at once, from one series of sparse products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.engine.sparse import Matrix
from unseen.linalg.normalize import l2_rows

Dense = npt.NDArray[Any]


def teleport_weights(teleport: float, steps: int) -> npt.NDArray[np.float64]:
    """Return c with sum_s c_s Ahat^s Z = `steps` rounds of Z <- (1 - teleport) Ahat Z + teleport Z_0.

    Examples
    --------
    >>> teleport_weights(0.5, 2).tolist()
    [0.5, 0.25, 0.25]
    """
    weights: npt.NDArray[np.float64] = teleport * (1 - teleport) ** np.arange(steps + 1, dtype=np.float64)
    weights[steps] = (1 - teleport) ** steps
    return weights


def smoothed(
    ahat: Matrix, Z: Dense, depths: Mapping[str, Sequence[float]], steps: int
) -> dict[str, npt.NDArray[np.float32]]:
    """Smooth l2-normalised rows at several depths; a depth is the mean over some teleport rates.

    All depths are combinations of the same powers Ahat^s Z, so they cost `steps` products together. The rows of
    every result have length 1.

    Parameters
    ----------
    ahat : Matrix, shape (n, n)
        The normalised adjacency.
    Z : ndarray, shape (n, d)
        Where to start.
    depths : mapping of str to sequence of float
        Teleport rates to average over: small ones reach far.
    steps : int
        Number of products.

    Examples
    --------
    >>> from unseen.engine.run import Run
    >>> from scipy.sparse import csr_array
    >>> ahat = Run().matrix(csr_array(np.full((2, 2), 0.5)))
    >>> depths = smoothed(ahat, np.eye(2, dtype=np.float32), {"far": [0.0], "near": [1.0]}, 3)
    >>> (depths["far"] ** 2).round(4).tolist(), depths["near"].tolist()
    ([[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]])
    """
    weights = {
        name: np.mean([teleport_weights(rate, steps) for rate in rates], axis=0).astype(np.float32)
        for name, rates in depths.items()
    }
    power = l2_rows(np.asarray(Z, dtype=np.float32)).astype(np.float32)
    sums = {name: c[0] * power for name, c in weights.items()}
    for step in range(1, steps + 1):
        power = ahat @ power
        for name, c in weights.items():
            sums[name] += c[step] * power
    return {name: l2_rows(total).astype(np.float32) for name, total in sums.items()}
