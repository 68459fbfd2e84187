"""The map: vectors of many columns laid out in two by t-SNE (openTSNE), seeded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.errors import UnsupportedError
from unseen.linalg.svd import truncated_svd
from unseen.randomness import RandomState, as_generator, child_seed

COLUMNS = 50
"""Columns that t-SNE sees; neighbours hardly change with more, time does."""
PERPLEXITY = 30
EARLY, LATE = 125, 300
"""Iterations before and after the groups are let apart."""
THETA = 0.8
"""How coarsely far nodes are summed up; on debian, 0.5 kept neighbours no better and took a third longer."""
FEW = 8
"""Fewer nodes than this have no neighbourhoods to keep."""


def map_of(
    vectors: npt.NDArray[np.float32] | sp.csr_array,
    random_state: RandomState = 0,
    *,
    on_progress: Callable[[int, int], None] | None = None,
) -> npt.NDArray[np.float64]:
    """Return a place in the plane for every row; the same seed gives the same map.

    Parameters
    ----------
    vectors : ndarray or scipy sparse array, shape (n, d)
        What to lay out.
    random_state : None, int or Generator
        Seed.
    on_progress : callable or None
        Told the iteration and their number.

    Examples
    --------
    >>> import numpy as np
    >>> map_of(np.eye(5, dtype=np.float32)).shape
    (5, 2)
    """
    rng = as_generator(random_state)
    n = vectors.shape[0]
    reduced = _reduced(vectors, rng)
    if n < FEW or reduced.shape[1] == 0:
        return _circle(n)
    if reduced.shape[1] <= 2:
        flat: npt.NDArray[np.float64] = np.c_[reduced, np.zeros((n, 2 - reduced.shape[1]))]
        return flat
    tsne = require_tsne()(
        perplexity=min(PERPLEXITY, (n - 1) / 3),
        early_exaggeration_iter=EARLY,
        n_iter=LATE,
        theta=THETA,
        random_state=child_seed(rng),
        n_jobs=1,  # with more, sums come in another order, and the map differs from run to run
        callbacks=_teller(on_progress),
        callbacks_every_iters=25,
    )
    return np.asarray(tsne.fit(reduced), dtype=np.float64)


def require_tsne() -> Any:
    """Return openTSNE's estimator, or say how to install it."""
    try:
        from openTSNE import TSNE
    except ImportError:
        msg = "the map of the explorer page needs openTSNE: pip install 'unseen[viz]'"
        raise UnsupportedError(msg) from None
    return TSNE


def _teller(on_progress: Callable[[int, int], None] | None) -> Callable[..., None] | None:
    """Count iterations over both phases, of which openTSNE counts each from the start."""
    if on_progress is None:
        return None
    past = {"done": 0, "last": 0}

    def tell(iteration: int, error: float, embedding: Any) -> None:  # noqa: ARG001
        if iteration <= past["last"]:
            past["done"] = EARLY
        past["last"] = iteration
        on_progress(past["done"] + iteration, EARLY + LATE)

    return tell


def _reduced(
    vectors: npt.NDArray[np.float32] | sp.csr_array, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Return the leading principal components, without those that do not vary."""
    if not vectors.shape[0] or not vectors.shape[1]:
        return np.zeros((vectors.shape[0], 0))
    if sp.issparse(vectors):
        matrix: Any = vectors  # centring would fill it up; the first component takes the mean
    else:
        matrix = np.asarray(vectors, dtype=np.float64)
        matrix = matrix - matrix.mean(axis=0)
    k = min(COLUMNS, *matrix.shape)
    scores = matrix if k == matrix.shape[1] and not sp.issparse(matrix) else truncated_svd(matrix, k, rng)[0]
    scores = np.asarray(scores, dtype=np.float64)
    spread = scores.std(axis=0)
    largest = float(spread.max(initial=0.0))
    return np.ascontiguousarray(scores[:, spread > 1e-9 * max(largest, 1e-30)])


def _circle(n: int) -> npt.NDArray[np.float64]:
    angle = 2 * np.pi * np.arange(n) / max(n, 1)
    places: npt.NDArray[np.float64] = np.c_[np.cos(angle), np.sin(angle)]
    return places
