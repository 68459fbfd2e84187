"""The map: vectors of many columns laid out in two by t-SNE, seeded; openTSNE where there is one, else scikit-learn."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.data.objects_plain import as_labels
from unseen.embedding import Embedding
from unseen.engine.run import libraries_on_one_thread
from unseen.errors import need_library
from unseen.explorer.colours import PALETTE
from unseen.graph import Graph
from unseen.ids import Floats, IdArray, Ints, Singles
from unseen.linalg.svd import truncated_svd
from unseen.randomness import RandomState, as_generator, child_seed

Progress = Callable[[int, int], None] | None
"""Progress callback `(done, total)`, or None."""
COLUMNS = 50
"""Columns that t-SNE sees; neighbours hardly change with more, time does."""
PERPLEXITY = 30
EARLY, LATE, EVERY = 75, 150, 25
"""Iterations before and after the groups are let apart, and between calls of the progress callback.

100 and 200 kept .004 more of ten neighbours at most.
"""
SCIKIT_EARLY = 250
"""Iterations before the groups are let apart in scikit-learn, which does not let one choose."""
THETA = 1.0
"""How coarsely far nodes are summed up; 0.5 and 0.8 kept neighbours no better and took longer."""
EXACT = 20_000
"""Up to this many nodes, neighbours by all distances are found faster than by trees."""
FEW = 8
"""Fewer nodes than this have no neighbourhoods to keep."""
MANY, LANDMARKS = 30_000, 10_000
"""Of more nodes than the former t-SNE lays out as many as the latter, drawn at random; others lie beside them."""
BESIDE = 7
"""Landmarks that say where a node is placed."""
MARKERS = "o^sDPXv"
"""Shapes of classes in a plot, where there are more of these than colours."""


def lay_out(
    vectors: Singles | sp.csr_array, random_state: RandomState = 0, *, on_progress: Progress = None
) -> Floats:
    """Return a place in the plane for every row; the same seed gives the same map.

    Of many rows a sample is laid out; every other node is placed at the median of the landmarks nearest to it. (The
    mean would put a node between two groups into the empty space between them.) A little chance, as wide as these
    landmarks lie from their median, keeps nodes apart that have the same ones.

    Examples
    --------
    >>> import numpy as np
    >>> lay_out(np.eye(5, dtype=np.float32)).shape
    (5, 2)
    """
    rng = as_generator(random_state)
    n, reduced = vectors.shape[0], leading_columns(vectors, rng)
    if n < FEW or reduced.shape[1] == 0:
        angle = 2 * np.pi * np.arange(n) / max(n, 1)
        return np.column_stack([np.cos(angle), np.sin(angle)])
    if reduced.shape[1] <= 2:
        return np.column_stack([reduced, np.zeros((n, 2 - reduced.shape[1]))])
    if n <= MANY:
        return _run_tsne(reduced, child_seed(rng), on_progress)
    chosen = np.sort(rng.choice(n, LANDMARKS, replace=False))
    places = np.empty((n, 2))
    places[chosen] = _run_tsne(reduced[chosen], child_seed(rng), on_progress)
    others = np.setdiff1d(np.arange(n), chosen)
    beside = places[chosen[nearest(reduced[others], reduced[chosen], BESIDE)]]
    middle = np.median(beside, axis=1)
    width = np.median(np.abs(beside - middle[:, None]), axis=1)
    places[others] = middle + rng.normal(size=middle.shape) * width
    return places


def nearest(vectors: Floats, candidates: Floats, k: int) -> Ints:
    """Return the rows of the `k` nearest candidates of every vector, the nearest first.

    Examples
    --------
    >>> nearest(np.array([[0.0], [5.0]]), np.array([[9.5], [1.0], [4.0]]), 2).tolist()
    [[1, 2], [2, 1]]
    """
    from sklearn.neighbors import NearestNeighbors

    with libraries_on_one_thread():
        search = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(candidates)
        rows: Ints = search.kneighbors(vectors, return_distance=False)
    return rows


def has_open_tsne() -> bool:
    """Whether openTSNE is installed (the extra `viz`)."""
    try:
        return importlib.util.find_spec("openTSNE") is not None
    except (ImportError, ValueError):  # something keeps it from being imported
        return False


def _run_tsne(vectors: Floats, seed: int, on_progress: Progress) -> Floats:
    """Lay out by one thread: with more, sums come in another order, and the map differs from run to run."""
    perplexity = min(PERPLEXITY, (len(vectors) - 1) / 3)
    settings: dict[str, Any] = {"perplexity": perplexity, "random_state": seed, "n_jobs": 1}
    if has_open_tsne():
        from openTSNE import TSNE

        done = itertools.count(EVERY, EVERY)  # openTSNE itself counts each of the two phases from the start

        def tell(*_: object) -> None:
            if on_progress is not None:
                on_progress(next(done), EARLY + LATE)

        settings |= {"early_exaggeration_iter": EARLY, "n_iter": LATE, "theta": THETA}
        settings |= {"neighbors": "exact" if len(vectors) <= EXACT else "auto"}
        return np.asarray(
            TSNE(**settings, callbacks=tell, callbacks_every_iters=EVERY).fit(vectors), dtype=np.float64
        )
    from sklearn import manifold

    with libraries_on_one_thread():
        tsne = manifold.TSNE(**settings, angle=THETA, max_iter=SCIKIT_EARLY + LATE)
        return np.asarray(tsne.fit_transform(vectors), dtype=np.float64)


def leading_columns(vectors: Singles | sp.csr_array, rng: np.random.Generator) -> Floats:
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


def graph_without_edges(ids: IdArray) -> Graph:
    """Return the nodes of an embedding as a graph."""
    return Graph(sp.csr_array((len(ids), len(ids))), node_ids=ids)


def plot_map(embedding: Embedding, colour: Any = None, *, ax: Any = None, random_state: Any = 0) -> Any:
    """Draw the map of the nodes (t-SNE) and return matplotlib's axes; see :meth:`unseen.Embedding.plot`."""
    need_library("matplotlib", "a plot", "viz")
    if ax is None:
        import matplotlib.pyplot as plt  # so that a notebook shows the picture, as it does those of pandas

        ax = plt.subplots(figsize=(6, 5), layout="constrained")[1]
    places = lay_out(embedding.vectors, random_state)
    look: dict[str, Any] = {"s": float(np.clip(2e4 / max(len(places), 1), 2, 30)), "linewidths": 0}
    ax.set(xticks=[], yticks=[], aspect="equal")
    if isinstance(colour, np.ndarray) and colour.dtype.kind == "f":
        drawn = ax.scatter(*places.T, c=colour, cmap="viridis", **look)
        ax.figure.colorbar(drawn, ax=ax, shrink=0.7)
        return ax
    nodes = graph_without_edges(embedding.node_ids)
    labels = as_labels([None] * len(embedding) if colour is None else colour, nodes).align_to(nodes)
    unlabelled = np.flatnonzero(np.diff(labels.indicator.indptr) == 0)
    ax.scatter(*places[unlabelled].T, c=PALETTE["quiet"]["light"], alpha=0.4, **look)
    hues = PALETTE["classes"]["light"]
    for k, name in enumerate(labels.classes):
        rows = labels.indicator[:, [k]].nonzero()[0]
        marker = MARKERS[k // PALETTE["safe"] % len(MARKERS)]
        ax.scatter(*places[rows].T, c=hues[k % len(hues)], marker=marker, label=name, **look)
    if labels.classes:
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize="small")
    return ax
