"""The vectors that discovery works in, factorised once so that every question about them is cheap.

Hiding each labelled class in turn asks the same questions many times with other labels. The eigenvectors of the
vectors' covariance and a few clusterings do not depend on labels: they are computed once, and a further set of
labels costs a few products of n x d.
"""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.embedding import Embedding
from unseen.engine.run import Run, libraries_on_one_thread
from unseen.engine.scratch import release_pages, return_memory, scratch_zeros
from unseen.engine.sparse import inverse
from unseen.errors import InputError, OutputError, logger, unknown_type
from unseen.graph import Graph
from unseen.ids import Floats, Ints, Singles, mapped_file
from unseen.labels import Labels
from unseen.linalg.normalize import encode_numbers, l2_rows
from unseen.linalg.smoothing import GraphSmoother
from unseen.linalg.svd import times, truncated_svd
from unseen.methods.base import Method
from unseen.methods.registry import find_method, make_method
from unseen.methods.smoothfeats import SmoothFeats
from unseen.randomness import child_seed

HUGE, HUGE_COLUMNS = 2_000_000, 64
"""On graphs of more nodes, vectors have fewer columns, so that ten million nodes fit into 20 GB."""
GRAINS = (10, 16, 25, 40)
"""Numbers of clusters, fine to coarse: classes have different sizes, and nobody knows which."""
NARROW = 50
"""With fewer features, the links are used as features as well (homophily), or numbers are encoded by their quantiles
(heterophily)."""


def searched(
    graph: Graph, labels: Labels | None, method: Any, target: str | None, seed: int | None
) -> tuple[Graph, Labels | None, Any]:
    """Return the nodes of the types with labels (or of `target`), their labels, and vectors of the whole graph.

    A venue is no author of an unknown class. Vectors come from `method`, `rect-plus` where that is None, which knows
    relations. A graph of one type, and one without labels and `target`, comes back as it is.
    """
    types = graph.node_types
    if types is None:
        if target is not None:
            raise unknown_type(target, (), "leave out `target` (--target)")
        return graph, labels, method
    own = None if labels is None else labels.align_to(graph)
    wanted = set(types[own.labelled]) if target is None and own is not None else {target} - {None}
    if not wanted:
        return graph, labels, method
    if not wanted <= set(types):
        raise unknown_type(target, dict.fromkeys(types))
    rows = np.flatnonzero([each in wanted for each in types])
    if own is not None and not np.isin(own.labelled, rows).any():
        labelled = ", ".join(sorted(map(repr, set(types[own.labelled])))) or "none"
        msg = f"no node of type {target!r} has a label (types with labels: {labelled}); label some of them first"
        raise InputError(msg)
    if not isinstance(method, Embedding):
        source = source_of(graph, "rect-plus" if method is None else method, seed)
        method = vectors_of(graph, own, source)
    part = graph.subgraph(rows)  # with its types, which end the guarantee
    vectors = Embedding(method.rows(part.node_ids), part.node_ids, method.method, method.params)
    return part, None if own is None else own.of_nodes(part.node_ids), vectors


def source_of(
    graph: Graph, method: Any, seed: int | None, *, is_homophilous: bool = True
) -> Method | Embedding:
    """Return where vectors come from, as :func:`discover` takes it."""
    if isinstance(method, str):
        return make_method(method, random_state=seed)
    if isinstance(method, (Method, Embedding)):
        return method
    if method is not None:
        msg = f"`method` must be a method's name, a method or an Embedding, got {type(method).__name__}"
        raise InputError(msg)

    def smooth(
        part: Graph,
    ) -> SmoothFeats:  # as many columns as a small graph allows, so that no notice is needed
        most = HUGE_COLUMNS if part.n_nodes > HUGE else SmoothFeats._traits.default_components
        shape = part.adjacency.shape if part.features is None else part.features.shape
        steps = 10 if is_homophilous else 0
        return SmoothFeats(n_components=min(most, *shape), steps=steps, random_state=seed)

    if graph.features is None or graph.features.shape[1] >= NARROW:
        return smooth(graph)
    if not is_homophilous:
        encoded = encode_few(graph)
        return smooth(encoded).fit_transform(encoded)
    parts = (graph, graph.plain.with_features(None))
    features, links = (smooth(part).fit_transform(part) for part in parts)
    both = np.hstack([features.vectors, links.vectors])
    return Embedding(both, graph.node_ids, features.method, features.params)


def encode_few(graph: Graph) -> Graph:
    """Return the graph with few numeric features encoded by their quantiles, since they have to tell classes alone."""
    if graph.features is None or graph.features.shape[1] >= NARROW:
        return graph
    return graph.plain.with_features(encode_numbers(graph.features))


def vectors_of(graph: Graph, labels: Labels | None, source: Method | Embedding) -> Embedding:
    """Return the vectors of the nodes of the graph."""
    if isinstance(source, Embedding):
        if np.array_equal(source.node_ids, graph.node_ids):
            return source  # a copy may be gigabytes
        return Embedding(source.rows(graph.node_ids), graph.node_ids, source.method, source.params)
    embedding = source.fit_transform(graph, labels)
    logger.debug("discovery works with %r", embedding)
    return embedding


def uses_labels(source: Method | Embedding) -> bool:
    """Return whether these vectors were, or will be, learned from labels."""
    method = find_method(source.method) if isinstance(source, Embedding) else source
    return method is not None and method._traits.uses_labels


class Space:
    """Vectors of all nodes minus their mean, along their principal axes, the strongest first.

    Parameters
    ----------
    vectors : ndarray, shape (n, d)
        The vectors; they are written over.
    """

    clusters: tuple[Ints, ...] = ()
    """Cluster numbers of every node, one array per clustering."""

    def __init__(self, vectors: Singles) -> None:
        vectors -= vectors.mean(axis=0)
        squares, axes = np.linalg.eigh((vectors.T @ vectors).astype(np.float64))
        self.centred: Singles = times(vectors, axes[:, ::-1], Run(), out=vectors)
        self.variances: Floats = np.maximum(squares[::-1], 0.0)  # sums of squares along the axes

    @cached_property
    def inverse_lengths(self) -> Singles:
        """One over the length of each row, shape (n, 1)."""
        lengths = [np.linalg.norm(self.centred[rows], axis=1) for rows in blocks(len(self.centred))]
        return inverse(np.concatenate(lengths))[:, None]

    def cosines(self, means: Singles) -> Singles:
        """Return the cosine of every node to each of some unit means."""
        found = np.empty((len(self.centred), len(means)), dtype=np.float32)
        for rows in blocks(len(found)):
            found[rows] = (self.centred[rows] * self.inverse_lengths[rows]) @ means.T
        return found


def make_space(embedding: Embedding, rng: np.random.Generator) -> Space:
    """Return the space of an embedding with four clusterings of each grain, learned from at most 10,000 nodes."""
    space, most = Space(unit_vectors(embedding.vectors, rng)), 10_000
    vectors = np.ascontiguousarray(space.centred[:, :50])
    n, clusters = len(vectors), []
    distinct = len(np.unique(vectors[:most], axis=0)) if n else 0
    for grain in (g for g in GRAINS for _ in range(4)):
        k = min(grain, max(1, n // 10), distinct)
        rows = rng.choice(n, most, replace=False) if n > most else np.arange(n)
        machine = k_means(vectors[rows], k, child_seed(rng), init="random", n_init=1, max_iter=50)
        clusters.append(machine.predict(vectors).astype(np.uint8))
    space.clusters = tuple(clusters)
    return_memory()
    return space


def put_aside(embedding: Embedding) -> Embedding:
    """Return the same vectors; large ones are in a file, where the system's folder for temporary files has room."""
    if sp.issparse(embedding.vectors) or mapped_file(embedding.vectors) is not None:
        return embedding
    try:
        stored = scratch_zeros(embedding.vectors.shape, Path(tempfile.gettempdir()))
    except OutputError:
        return embedding
    if mapped_file(stored) is None:
        return embedding
    for rows in blocks(len(stored)):
        stored[rows] = embedding.vectors[rows]
        release_pages(stored, rows.start * stored.shape[1], min(rows.stop, len(stored)) * stored.shape[1])
    stored.setflags(write=False)  # so that the embedding need not copy it
    return replace(embedding, vectors=stored)


def make_surroundings(graph: Graph, rng: np.random.Generator) -> Space:
    """Return every node's features, its neighbours' and its second neighbours', side by side: what is linked to what.

    Unlike a smoothed space it does not take for granted that neighbours are alike. The number of features and of
    neighbours is added, which rows of length 1 do not show.
    """
    features = graph.adjacency if graph.features is None else graph.features
    columns = HUGE_COLUMNS // 2 if graph.n_nodes > HUGE else 100
    method = SmoothFeats(n_components=min(columns, *features.shape), steps=0, random_state=child_seed(rng))
    block = method.fit_transform(graph).vectors
    n, width = block.shape
    counts = [np.diff(graph.adjacency.indptr), np.asarray((features != 0).sum(axis=1)).ravel()]
    sizes = np.log1p(np.column_stack(counts), dtype=np.float64)
    sizes = (sizes - sizes.mean(axis=0)) / np.maximum(sizes.std(axis=0), 1e-9)
    table = np.empty((n, 3 * width + 2), dtype=np.float32)
    smoother = GraphSmoother(Run().matrix(graph.adjacency))
    for first in range(0, 3 * width, width):  # the own ones, and means over neighbours once and twice
        block = smoother.mean(block) if first else block
        np.divide(l2_rows(block), np.sqrt(np.float32(3)), out=table[:, first : first + width])
    table[:, -2:] = 0.3 * sizes
    return_memory()
    return Space(table)


def blocks(n: int, n_rows: int = 1 << 16) -> list[slice]:
    """Return slices that cover `n` rows, so that what is as tall as the graph is held once."""
    return [slice(first, first + n_rows) for first in range(0, n, n_rows)]


def unit_vectors(vectors: Singles | sp.csr_array, rng: np.random.Generator) -> Singles:
    """Return vectors of length 1 and at most 200 columns, so that the cost stays linear in the nodes alone."""
    if vectors.shape[1] > 200 or sp.issparse(vectors):
        vectors = truncated_svd(vectors, min(200, *vectors.shape), rng)[0]
    unit = np.empty(vectors.shape, dtype=np.float32)
    for rows in blocks(len(unit)):
        unit[rows] = l2_rows(np.asarray(vectors[rows], dtype=np.float32))
        release_pages(vectors, rows.start * unit.shape[1], min(rows.stop, len(unit)) * unit.shape[1])
    return unit


def k_means(vectors: Singles, k: int, seed: int, weights: Floats | None = None, **options: Any) -> Any:
    """Return scikit-learn's k-means, fitted; fewer different vectors than clusters make fewer clusters."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(), libraries_on_one_thread():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(k, random_state=seed, **options).fit(vectors, sample_weight=weights)
