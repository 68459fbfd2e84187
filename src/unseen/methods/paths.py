"""Views of relations: what is known of the nodes that the nodes with labels lead to.

A path begins at the type that has labels. Each of its steps is a relation, in its direction or against it (`~`), as a
matrix whose absolute rows sum to 1; so signs are kept, and in-links and out-links are two steps. The features of the
type at its end, after SVD, are carried back along the path, and so is the identity of a type without features, or of
one that the structure alone is asked about. ``paper/wrote`` is the mean of the features of an author's papers,
``venue-ids/wrote.in`` says in which venues these are. Products of relations are never formed, since a hub makes them
dense: a path is applied to blocks of vectors, from the right, and costs as much as its relations have edges.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.engine.sparse import Matrix, inverse
from unseen.ids import Ints
from unseen.labels import Labels
from unseen.linalg.keyed import keyed_uniform, node_keys
from unseen.linalg.normalize import l2_rows
from unseen.linalg.svd import orthonormal, truncated_svd
from unseen.methods.views import Pool, Vectors, column_weights, weighted
from unseen.relation_graph import RelationGraph

MOST_STEPS, MOST_PATHS = 4, 32
"""Paths between several types are as long as this, as long as there are no more than so many; inside one type, of two
steps: the plain graph has views of more."""
WIDTH = 128
"""Columns of a view."""
ROUNDS = 4
"""Rounds of iteration for the identity of a type that has more nodes than a view has columns."""


@dataclass(frozen=True, eq=False)
class Path:
    """Some relations one after the other: ``path @ V`` and ``path.back(V)``."""

    name: str
    end: str | None
    steps: tuple[Matrix, ...] = ()

    @property
    def signed(self) -> bool:
        """Whether some weights are negative."""
        return any(bool((step.local.data < 0).any()) for step in self.steps)

    def __matmul__(self, V: Vectors) -> Vectors:
        """Return the product, from the right."""
        for step in reversed(self.steps):
            V = step @ V
        return V

    def back(self, V: Vectors) -> Vectors:
        """Return the product with the transpose."""
        for step in self.steps:
            V = step.T @ V
        return V


def paths_from(graph: RelationGraph, target: str | None, run: Run) -> list[Path]:
    """Return the paths from a type, the shortest first; the first has no step."""
    steps: dict[str | None, list[Path]] = {key: [] for key in graph.types}
    rows = {key: graph.rows_of(key) for key in graph.types}
    for relation in graph.relations:
        source, end = relation.source_type, relation.target_type
        own, name = relation.matrix[rows[source]][:, rows[end]], relation.name.replace("/", "|")
        steps[source].append(Path(name, end, (_normalized(own, run),)))
        if source != end or relation.directed:
            steps[end].append(Path(f"~{name}", source, (_normalized(own.T.tocsr(), run),)))
    paths = newest = [Path("", target)]
    for _ in range(MOST_STEPS if len(graph.types) > 1 else 2):
        newest = [
            Path(f"{path.name}.{step.name}".lstrip("."), step.end, (*path.steps, *step.steps))
            for path in newest
            for step in steps[path.end]
        ]
        if len(paths) + len(newest) > MOST_PATHS:
            break
        paths = [*paths, *newest]
    return paths


def _normalized(matrix: sp.csr_array, run: Run) -> Matrix:
    sums = np.asarray(abs(matrix).sum(axis=1), dtype=np.float64)
    data = matrix.data * np.repeat(inverse(sums), np.diff(matrix.indptr))
    return run.matrix(sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape))


@dataclass(frozen=True, eq=False)
class PathPool:
    """The views of a graph of relations, at the nodes of the type that has labels.

    Parameters
    ----------
    graph : RelationGraph
        With directions, signs or types.
    target : str or None
        The type that has labels.
    seed : int
        Draws starts, keyed by node.
    run : Run
        Does the work.
    plain : Pool, optional
        Views of the plain graph, offered beside those of paths.
    """

    graph: RelationGraph
    target: str | None
    seed: int
    run: Run
    plain: Pool | None = None
    rows: Ints = field(init=False)
    parts: dict[str, tuple[Path, Vectors]] = field(init=False)
    """Of each view the path, and the vectors at its end."""

    def __post_init__(self) -> None:
        paths = paths_from(self.graph, self.target, self.run)
        ends = dict.fromkeys(path.end for path in paths)
        bases = {end: self._features(end) for end in ends}
        parts: dict[str, tuple[Path, Vectors]] = {}
        for path in paths:
            end, base = (path.end or "nodes").replace("/", "|"), bases[path.end]
            if base is not None:
                parts[f"{end}/{path.name or 'own'}"] = (path, base)
            if path.steps and (base is None or len(self.graph.types) == 1):
                parts[f"{end}-ids/{path.name}"] = (path, self._identity(path))
        self.__dict__.update(rows=self.graph.rows_of(self.target), parts=parts)

    @property
    def together(self) -> bool:
        """Whether views serve best all together: those of several types tell different things."""
        return self.plain is None

    @property
    def signs(self) -> list[str]:
        """Views of the signed edges of one step: beside the positive part, they say what is unlike."""
        signed = [name for name, (path, _) in self.parts.items() if len(path.steps) == 1 and path.signed]
        return [name for name in signed if "-ids/" in name]

    @property
    def names(self) -> list[str]:
        """Names of all views."""
        return [*([] if self.plain is None else self.plain.names), *self.parts]

    def _features(self, end: str | None) -> Vectors | None:
        features = self.graph.stored_features.get(end, (None, None))[0]
        if features is None:
            return None
        matrix = weighted(features, column_weights(features), unit=True)
        rng = np.random.default_rng(self.seed)
        return truncated_svd(matrix, min(WIDTH, *matrix.shape), rng, self.run)[0]

    def _identity(self, path: Path) -> Vectors:
        """Return directions at the end of a path that hold most of it; all, where there are few."""
        rows = self.graph.rows_of(path.end)
        n, width = len(rows), min(WIDTH, len(rows), len(self.graph.rows_of(self.target)))
        if n <= WIDTH:
            return np.eye(n, dtype=np.float32)
        keys = node_keys(self.graph.node_ids[rows], self.seed)
        start = (keyed_uniform(keys, width, stream=12) - 0.5).astype(np.float32)
        for _ in range(ROUNDS):
            start = orthonormal(path.back(orthonormal(path @ start, self.run)), self.run)
        return start

    def at(self, rows: Ints) -> dict[str, Vectors]:
        """Return the given rows of every view."""
        places = np.searchsorted(self.rows, rows)
        views = {} if self.plain is None else self.plain.at(rows)
        return views | {name: self._view(name)[places] for name in self.parts}

    def side_by_side(self, names: Iterable[str]) -> tuple[Vectors, list[slice]]:
        """Return some views, whole, and the columns of each."""
        listed = list(names)
        of_plain = [name for name in listed if name not in self.parts]
        views, slices = [], list[slice]()
        if self.plain is not None and of_plain:
            joined, slices = self.plain.side_by_side(of_plain)
            views.append(joined)
        for name in listed:
            if name in self.parts:
                views.append(self._view(name))
                start = slices[-1].stop if slices else 0
                slices.append(slice(start, start + views[-1].shape[1]))
        return np.hstack(views), slices

    def _view(self, name: str) -> Vectors:
        path, base = self.parts[name]
        return np.asarray(l2_rows(path @ base), dtype=np.float32)

    def everywhere(self, vectors: Vectors) -> Vectors:
        """Return vectors of all nodes: other types have the mean of their neighbours', from the near to the far."""
        joined = np.zeros((self.graph.n_nodes, vectors.shape[1]), dtype=np.float32)
        joined[self.rows] = vectors
        reached = np.zeros(self.graph.n_nodes, dtype=bool)
        reached[self.rows] = True
        links = self.graph.plain.adjacency
        while True:
            counts = links @ reached.astype(np.float64)
            new = np.flatnonzero((counts > 0) & ~reached)
            if not len(new):
                return joined
            near = sp.csr_array(links[new] @ sp.diags_array(reached.astype(np.float64)))
            joined[new] = (near @ joined) * inverse(counts[new])[:, None]
            reached[new] = True


def labelled_types(graph: RelationGraph, labels: Labels) -> list[str | None]:
    """Return the types of nodes that have labels."""
    return [graph.types[code] for code in np.unique(graph.codes[labels.labelled])]
