"""Views of relations: what is known of the nodes that the nodes with labels lead to.

A path begins at the type that has labels. Each of its steps is a relation, in its direction or against it (`~`), as a
matrix whose absolute rows sum to 1; so signs are kept, and in-links and out-links are two steps. The features of the
type at its end, after SVD, are carried back along the path, and so is the identity of a type without features, or of
one that the structure alone is asked about. ``paper/wrote`` is the mean of the features of an author's papers,
``venue-ids/wrote.in`` says in which venues these are. Products of relations are never formed, since a hub makes them
dense: a path is applied to blocks of vectors, from the right, and costs as much as its relations have edges.

A path knows its own relations only. Walks over the folded graph join what all of them say: ``walk/neighbours`` is the
mean of the vectors of walks over all neighbours of a node, whatever their types, and has half of the weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.engine.run import Run
from unseen.engine.sparse import Matrix
from unseen.errors import InputError
from unseen.graph import Graph
from unseen.ids import Ints
from unseen.ids import Singles as Vectors
from unseen.linalg.normalize import l1_rows, l2_rows
from unseen.linalg.reduction import Reduction, column_weights
from unseen.linalg.svd import orthonormal
from unseen.linalg.walk import log_walk_vectors
from unseen.methods.joined import JoinedViews
from unseen.methods.views import COLUMNS, LARGE, WALKS, Pool, is_large
from unseen.randomness import keyed_uniform, node_keys

Array = npt.NDArray[Any]
MOST_STEPS, MOST_PATHS = 4, 32
"""Paths between several types are as long as this, as long as there are no more than so many; inside one type, of two
steps: the single-type graph has views of more."""
WIDTH = 128
"""Columns of a view; a quarter where the type that has labels is large."""
WALK, WALK_SHARE = "walk/neighbours", 0.5
"""The view of walks over the folded graph, and its share of the weight beside paths."""
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

    def rows_of_product(self, rows: Ints, V: Vectors) -> Vectors:
        """Return some rows of the product: of its last step these alone are made."""
        if not self.steps:
            return V[rows]
        first, *others = self.steps
        return np.asarray(first.local[rows] @ (Path("", None, tuple(others)) @ V), dtype=np.float32)

    def back(self, V: Vectors) -> Vectors:
        """Return the product with the transpose."""
        for step in self.steps:
            V = step.T @ V
        return V


def paths_from(graph: Graph, target: str | None, run: Run) -> list[Path]:
    """Return the paths from a type, the shortest first; the first has no step."""
    steps: dict[str | None, list[Path]] = {key: [] for key in graph.types}
    rows = {key: graph.rows_of(key) for key in graph.types}
    for relation in graph.relations:
        source, end = relation.source_type, relation.target_type
        own, name = relation.matrix[rows[source]][:, rows[end]], relation.name.replace("/", "|")
        steps[source].append(Path(name, end, (run.matrix(l1_rows(own)),)))
        if source != end or relation.directed:
            steps[end].append(Path(f"~{name}", source, (run.matrix(l1_rows(own.T.tocsr())),)))
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


@dataclass(frozen=True, eq=False)
class View:
    """A path and the vectors at its end: reduced features (`way` says how), directions of the identity, or of walks."""

    path: Path
    base: Vectors
    way: Reduction | None = None

    def vectors(self, rows: Ints | None = None) -> Vectors:
        """Return the view, or some rows of it; rows have length 1."""
        made = self.path @ self.base if rows is None else self.path.rows_of_product(rows, self.base)
        return np.asarray(l2_rows(made), dtype=np.float32)


@dataclass(frozen=True, eq=False)
class PathPool:
    """The views of a graph of relations, at the nodes of the type that has labels.

    Parameters
    ----------
    graph : Graph
        With directions, signs or types.
    target : str or None
        The type that has labels.
    seed : int
        Draws starts, keyed by node.
    run : Run
        Does the work.
    plain : Pool, optional
        Views of the undirected, single-type graph, offered beside those of paths.
    kept : mapping of str to ndarray, optional
        What :meth:`keep` of another pool returned: then there are its views alone, for the nodes of this graph.
    """

    graph: Graph
    target: str | None
    seed: int
    run: Run
    plain: Pool | None = None
    kept: Mapping[str, Array] | None = None
    rows: Ints = field(init=False)
    parts: dict[str, View] = field(init=False)

    def __post_init__(self) -> None:
        parts: dict[str, View] = {}
        self.__dict__.update(rows=self.graph.rows_of(self.target), parts=parts)
        paths = paths_from(self.graph, self.target, self.run)
        of_features = {end: self._features(end) for end in dict.fromkeys(path.end for path in paths)}
        for path in paths:
            end, base = _text(path.end), of_features[path.end]
            if base is not None:
                parts[f"{end}/{path.name or 'own'}"] = View(path, *base)
            name = f"{end}-ids/{path.name}"
            if path.steps and (base is None or len(self.graph.types) == 1) and self._is_wanted(name):
                parts[name] = View(path, self._identity(path, name))
        walks = self._walks() if self.takes_all and self._is_wanted(WALK) else None
        if walks is not None:
            near = self.run.matrix(l1_rows(self.graph.plain.adjacency[self.rows]))
            parts[WALK] = View(Path("", None, (near,)), walks)

    @property
    def takes_all(self) -> bool:
        """Whether views serve best all together: those of several types tell different things."""
        return len(self.graph.types) > 1

    @property
    def signs(self) -> list[str]:
        """Views of the signed edges of one step: beside the positive part, they say what is unlike."""
        return [
            name
            for name, view in self.parts.items()
            if view.way is None and len(view.path.steps) == 1 and view.path.signed
        ]

    @property
    def names(self) -> list[str]:
        """Names of all views."""
        return [*([] if self.plain is None else self.plain.names), *self.parts]

    @property
    def width(self) -> int:
        """Columns of a view."""
        return WIDTH if len(self.rows) <= LARGE else WIDTH // 4

    def _is_wanted(self, name: str) -> bool:
        return self.kept is None or name in self.kept

    def _features(self, end: str | None) -> tuple[Vectors, Reduction] | None:
        """Return the features of a type after SVD, and how they became so."""
        features, text = self.graph.stored_features.get(end, (None, None))[0], _text(end)
        if features is None or not self._is_wanted(f"{text}/axes"):
            return None
        if self.kept is None:
            weights, k = column_weights(features, self.run), min(self.width, *features.shape)
            way = Reduction.learn(features, weights, k, self.seed, self.run)
        else:
            weights, axes = self.kept[f"{text}/weights"], self.kept[f"{text}/axes"]
            if features.shape[1] != len(weights):
                msg = f"{text!r} has {features.shape[1]} features, at fit time there were {len(weights)}"
                raise InputError(msg)
            way = Reduction(weights, axes, unit=True)
        return way.apply(features, self.run), way

    def _walks(self) -> Vectors | None:
        """Return vectors of walks over the folded graph; none where it is large or has no edges."""
        ids, links = self.graph.node_ids, self.graph.plain.adjacency
        if self.kept is not None:
            return _at_keys(self.kept[WALK], self.kept["walk/ids"], node_keys(ids, 0))
        if is_large(len(ids)) or not links.nnz or len(ids) < 3:
            return None
        width = min(COLUMNS["walk"], len(ids) - 1)
        matrix, rng = self.run.matrix(links, symmetric=True), np.random.default_rng(self.seed)
        (vectors,) = log_walk_vectors(
            matrix, width, node_keys(ids, self.seed), rng, negatives=(WALKS["walk"],)
        )
        return np.asarray(l2_rows(vectors), dtype=np.float32)

    def _identity(self, path: Path, name: str) -> Vectors:
        """Return directions at the end of a path that hold most of it; all, where there are few."""
        if self.kept is not None:
            return _at_keys(self.kept[name], self.kept[f"{_text(path.end)}-ids"], self._keys(path.end))
        keys = self._keys(path.end, self.seed)
        if len(keys) <= self.width:
            return np.eye(len(keys), dtype=np.float32)
        drawn = keyed_uniform(keys, min(self.width, len(self.rows)), stream=12)
        start = (drawn - 0.5).astype(np.float32)
        for _ in range(ROUNDS):
            start = orthonormal(path.back(orthonormal(path @ start, self.run)), self.run)
        return start

    def _keys(self, end: str | None, seed: int = 0) -> npt.NDArray[np.uint64]:
        return node_keys(self.graph.node_ids[self.graph.rows_of(end)], seed)

    def keep(self, names: Iterable[str]) -> dict[str, Array]:
        """Return what makes these views of paths for new nodes: axes of features, and directions at known nodes."""
        kept: dict[str, Array] = {}
        for name in names:
            if name in self.parts:
                view = self.parts[name]
                end = _text(view.path.end)
                if name == WALK:
                    kept |= {WALK: view.base, "walk/ids": node_keys(self.graph.node_ids, 0)}
                elif view.way is None:
                    kept |= {name: view.base, f"{end}-ids": self._keys(view.path.end)}
                else:
                    kept |= {f"{end}/weights": np.asarray(view.way.weights), f"{end}/axes": view.way.axes}
        return kept

    def at(self, rows: Ints, names: Iterable[str]) -> dict[str, Vectors]:
        """Return the given rows of some views."""
        places, listed = np.searchsorted(self.rows, rows), list(names)
        of_plain = [name for name in listed if name not in self.parts]
        views = {} if self.plain is None else self.plain.at(rows, of_plain)
        return views | {name: self.parts[name].vectors(places) for name in listed if name in self.parts}

    def weights(self, names: Sequence[str]) -> Vectors | float:
        """Return the weight of each view, or of all: that of walks has its share beside paths."""
        walks = np.array([name == WALK for name in names])
        if not self.takes_all or not walks.any() or walks.all():
            return 1.0
        shares = np.where(walks, WALK_SHARE, (1 - WALK_SHARE) / (len(walks) - 1))
        return np.asarray(np.sqrt(shares * len(walks)), dtype=np.float32)

    def side_by_side(self, names: Iterable[str]) -> JoinedViews:
        """Return some views, whole."""
        listed = list(names)
        of_paths = [self.parts[name] for name in listed if name in self.parts]
        widths = [view.base.shape[1] for view in of_paths]
        if self.plain is None:
            joined = JoinedViews(len(self.rows), widths, self.run)
        else:
            joined = self.plain.side_by_side((name for name in listed if name not in self.parts), widths)
        for view in of_paths:
            joined.add([view.vectors()])
        return joined

    def forget(self) -> None:
        """Make room for the result."""
        if self.plain is not None:
            self.plain.forget()

    def everywhere(self, vectors: Vectors) -> Vectors:
        """Return vectors of all nodes: other types have the mean of their neighbours', from the near to the far."""
        if len(self.rows) == self.graph.n_nodes:
            return vectors
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
            near = links[new]
            near.data *= reached[near.indices]
            joined[new] = self.run.matrix(l1_rows(near)) @ joined
            reached[new] = True


def _text(node_type: str | None) -> str:
    """Return the name of a type as it stands in the names of views."""
    return (node_type or "nodes").replace("/", "|")


def _at_keys(values: Vectors, keys: Array, wanted: Array) -> Vectors:
    """Return the row of each wanted key; zeros for those that have none."""
    order = np.argsort(keys)
    place = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
    return np.where((keys[place] == wanted)[:, None], values[place], np.float32(0))
