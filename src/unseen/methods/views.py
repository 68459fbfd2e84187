"""Views of a graph: ways to turn its features or its structure into vectors, all without labels.

A view is a base and what the graph does to it, ``base/operator``. Bases are features after SVD, weighted and plain,
and of the structure degrees, eigenvectors of the normalised adjacency, and unless the graph is large rows of the
adjacency after SVD and factorisations of the logarithm of the walk matrix. Operators are nothing
(``raw``), personalised smoothing (``near``, ``middle``, ``far``), and the mean over second neighbours (``second``).
Where labels say that neighbours differ, there are also two steps of smoothing and nothing else (``weighted/twice``).
Rows have length 1, but for ``weighted/twice`` and ``degree/raw``: their lengths say how many neighbours a node has.
Which views serve differs from graph to graph; :mod:`unseen.methods.selection` chooses.

Only the bases of the structure and the axes of features are kept. Views are made when they are asked for, some columns
at a time: at the labelled rows for the choice, and whole for those that were chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from unseen.engine.run import Run
from unseen.engine.sparse import Matrix, inverse
from unseen.graph import Graph
from unseen.ids import Ints
from unseen.ids import Singles as Vectors
from unseen.linalg.normalize import l2_rows, to_unit_rows
from unseen.linalg.reduction import Reduction, column_weights
from unseen.linalg.smoothing import GraphSmoother, smoothing_filter
from unseen.linalg.svd import leading_eigenvectors, truncated_svd
from unseen.linalg.walk import log_walk_vectors
from unseen.methods.joined import JoinedViews
from unseen.randomness import node_keys

COLUMNS = {"weighted": 400, "plain": 200, "rows": 200, "walk": 256, "eigen": 32}
"""Columns of the bases, at most."""
DEPTHS = {"near": (0.2, 0.4, 0.7), "middle": (0.05, 0.1, 0.2), "far": (0.02, 0.05, 0.1)}
"""Teleport rates that a depth of smoothing averages over."""
STEPS = 20
TWO_STEPS = np.array([0.5, 0.0, 0.5], dtype=np.float32)
"""Ahat^2 as a sum of Chebyshev polynomials."""
OPERATORS = {
    "weighted": ("raw", *DEPTHS, "second", "twice"),
    "plain": ("raw", *DEPTHS, "second"),
    "rows": ("raw",),
    "walk": ("raw", "near"),
    "sharp-walk": ("raw", "near"),
    "eigen": ("raw",),
    "degree": ("raw",),
}
"""What is done with each base; ``twice`` where the labels say that neighbours differ."""
KEEP_LENGTHS = ("weighted/twice", "degree/raw")
"""Views whose rows are not scaled to length 1."""
WALKS = {"walk": 0.2, "sharp-walk": 1.0}
"""Views of the walk matrix, and their negatives: the fewer, the more of the small entries is kept."""
LARGE, CHOICE_COLUMNS = 30_000, 128
"""Above this many nodes there are no rows and no walks, which fade with a fixed number of landmarks as a graph grows,
and the choice looks at the first columns of each base."""


def is_large(n_nodes: int) -> bool:
    """Return whether a graph has no views of rows and walks."""
    return n_nodes > LARGE


def columns_at_once(n_rows: int) -> int:
    """Return how many columns operators work on at a time."""
    return 64 if n_rows <= 2_000_000 else 32


def reductions(graph: Graph, seed: int, run: Run) -> dict[str, Reduction]:
    """Learn how features become dimensions: weighted and plain."""
    features = graph.features
    if features is None:
        return {}
    most = min(run.count(features.shape[0]), features.shape[1])
    weights = {"weighted": column_weights(features, run), "plain": None}
    return {
        base: Reduction.learn(features, of_base, min(COLUMNS[base], most), seed, run)
        for base, of_base in weights.items()
    }


def structure_bases(graph: Graph, seed: int, run: Run) -> dict[str, Vectors]:
    """Return the bases that edges give; rows of the adjacency and walks where the graph is not large."""
    adjacency, n = run.matrix(graph.adjacency, symmetric=True), graph.n_nodes
    bases = {"degree": degree_columns(adjacency, run)}
    if not run.count(graph.adjacency.nnz) or n < 3:
        return bases
    keys = node_keys(graph.node_ids, seed)
    k = min(COLUMNS["eigen"], n - 2)
    vectors = leading_eigenvectors(GraphSmoother(adjacency).step, k, keys, run)
    bases["eigen"] = to_unit_rows(vectors, run)
    if is_large(n):
        return bases
    rng, k = np.random.default_rng(seed), min(COLUMNS["rows"], n)
    tables = {"rows": truncated_svd(l2_rows(graph.adjacency), k, rng, run)[0]}
    rng, k = np.random.default_rng(seed), min(COLUMNS["walk"], n - 1)
    walks = log_walk_vectors(adjacency, k, keys, rng, negatives=tuple(WALKS.values()))
    tables |= dict(zip(WALKS, walks, strict=True))
    return {**{name: l2_rows(table).astype(np.float32) for name, table in tables.items()}, **bases}


def degree_columns(adjacency: Matrix, run: Run) -> Vectors:
    """Return what degrees say of each node, in columns of mean 0 and deviation 1.

    They are the logarithm of its degree and the square of that, the means of both over its neighbours and over theirs,
    and the logarithm of the sum of its neighbours' degrees.
    """
    degree, smoother = adjacency.row_sums().astype(np.float32), GraphSmoother(adjacency)
    log = np.log1p(degree)
    own = np.column_stack([log, log**2])
    near = smoother.mean(own)
    together = np.log1p(degree * smoother.mean(degree[:, None])[:, 0])
    columns = np.column_stack([own, near, smoother.mean(near), together])
    n = run.count(len(columns))
    columns -= (run.total([columns.sum(axis=0, dtype=np.float64)]) / n).astype(np.float32)
    deviation = np.sqrt(run.total([np.square(columns).sum(axis=0, dtype=np.float64)]) / n)
    columns *= inverse(np.where(deviation > 1e-5, deviation, 0.0)).astype(np.float32)
    return columns


def needs_structure(name: str) -> bool:
    """Return whether a view is of the structure alone, which new nodes do not have.

    Examples
    --------
    >>> needs_structure("sharp-walk/near"), needs_structure("plain/near")
    (True, False)
    """
    return name.split("/")[0] not in ("weighted", "plain")


def kind_of(name: str) -> tuple[str, str]:
    """Return the kind of a view: its base, and its operator, where all depths of smoothing are one.

    Examples
    --------
    >>> kind_of("plain/near"), kind_of("plain/raw")
    (('plain', 'smooth'), ('plain', 'raw'))
    """
    base, operator = name.split("/")
    return base, "smooth" if operator in DEPTHS else operator


@dataclass(frozen=True, eq=False)
class Pool:
    """The bases of a graph, and the views that are made of them.

    Parameters
    ----------
    graph : Graph
        Its edges make views of bases.
    ways : mapping of str to Reduction
        How features become bases, also those of new nodes.
    bases : dict of str to ndarray, shape (n, k)
        Those of the structure; rows of length 1.
    run : Run
        Does the work.
    """

    graph: Graph
    ways: Mapping[str, Reduction]
    bases: dict[str, Vectors]
    run: Run
    _inverse_lengths: dict[str, Vectors] = field(init=False, default_factory=dict)
    takes_all: ClassVar[bool] = False
    parts: ClassVar[tuple[str, ...]] = ()
    signs: ClassVar[tuple[str, ...]] = ()
    target: ClassVar[None] = None
    """As in :class:`unseen.methods.paths.PathPool`."""

    @staticmethod
    def keep(names: Iterable[str]) -> dict[str, Any]:  # noqa: ARG004
        """Return nothing: how features are reduced is enough for new nodes."""
        return {}

    def forget(self) -> None:
        """Make room for the result: forget the bases, unless other fits share them, and what was freed before."""
        from unseen.engine.scratch import return_memory

        if self.run.shared is None:
            self.bases.clear()
        return_memory()

    @staticmethod
    def weights(names: Sequence[str]) -> float:  # noqa: ARG004
        """Return the weight of views: all are alike."""
        return 1.0

    @staticmethod
    def everywhere(vectors: Vectors) -> Vectors:
        """Return vectors of all nodes."""
        return vectors

    @property
    def names(self) -> list[str]:
        """Names of all views; without edges there is nothing to smooth over."""
        spread = bool(self.run.count(self.graph.adjacency.nnz))
        bases = {base: OPERATORS[base] if spread else ("raw",) for base in (*self.ways, *self.bases)}
        return [f"{base}/{operator}" for base, operators in bases.items() for operator in operators]

    @property
    def smoother(self) -> GraphSmoother:
        """Means over neighbours; made when it is needed, so that its matrix is forgotten in between."""
        return GraphSmoother(self.run.matrix(self.graph.adjacency, symmetric=True))

    def base(self, name: str, columns: slice = slice(None)) -> Vectors:
        """Return some columns of a base; those of features are made again each time, which is cheap beside views."""
        if name not in self.ways:
            return self.bases[name][:, columns]
        way, features = self.ways[name], self.graph.features
        if name not in self._inverse_lengths:
            self._inverse_lengths[name] = way.inverse_lengths(features, self.run)
        return way.unit_columns(features, columns, self._inverse_lengths[name], self.run)

    @property
    def likeness(self) -> float:
        """How alike the features of neighbours are: 0 as any two nodes', 1 the same; 1 where there is no telling."""
        run, degree = self.run, self.run.matrix(self.graph.adjacency).row_sums()[:, None]
        if "weighted" not in self.ways or not run.total([degree.sum()]):
            return 1.0
        Z = self.base("weighted", slice(64))
        Z -= (run.total([(degree * Z).sum(axis=0)]) / run.total([degree.sum()])).astype(np.float32)
        spread = float(run.total([(degree * Z**2).sum()]))
        shared = float(run.total([(degree * Z * self.smoother.mean(Z)).sum()]))
        return shared / spread if spread > 0 else 1.0

    def _columns(self, name: str) -> int:
        """Return how many columns a view has."""
        base = name.split("/")[0]
        return len(self.ways[base].axes) if base in self.ways else int(self.bases[base].shape[1])

    def at(self, rows: Ints, names: Iterable[str]) -> dict[str, Vectors]:
        """Return the given rows of some views, of few columns where the graph is large; rows of length 1."""
        most, smoother = (
            CHOICE_COLUMNS if is_large(self.graph.n_nodes) else max(COLUMNS.values()),
            self.smoother,
        )
        views: dict[str, Vectors] = {}
        for base, of_base in _group(names, lambda name: name.split("/")[0]).items():
            made: dict[str, list[Vectors]] = {name: [] for name in of_base}
            wanted = {name: (name,) for name in of_base}
            for block in self._blocks(min(most, self._columns(base))):
                for name, part in self._make(smoother, self.base(base, block), wanted, rows):
                    made[name].append(part)
            for name, parts in made.items():
                view = np.hstack(parts)
                views[name] = view if name in KEEP_LENGTHS else to_unit_rows(view, self.run)
        return views

    def side_by_side(self, names: Iterable[str], further: Sequence[int] = ()) -> JoinedViews:
        """Return some views, whole, with room for `further` ones; depths of smoothing of one base become their mean."""
        kinds = _group(names, kind_of)
        widths = [self._columns(of_kind[0]) for of_kind in kinds.values()]
        joined = JoinedViews(len(self.graph.node_ids), [*widths, *further], self.run)
        smoother = self.smoother
        for (base, _), of_kind in kinds.items():
            blocks = (
                part
                for columns in self._blocks(self._columns(of_kind[0]))
                for _, part in self._make(smoother, self.base(base, columns), {0: of_kind}, slice(None))
            )
            joined.add(blocks, unit=of_kind[0] not in KEEP_LENGTHS)
        return joined

    def _blocks(self, columns: int) -> list[slice]:
        width = columns_at_once(len(self.graph.node_ids))
        return [slice(first, min(first + width, columns)) for first in range(0, columns, width)]

    def _make(
        self, smoother: GraphSmoother, Z: Vectors, wanted: Mapping[Any, Sequence[str]], rows: Any
    ) -> Iterator[tuple[Any, Vectors]]:
        """Give for each key what the operators of its names make of some columns of a base, at these rows."""
        filters = {}
        for key, names in wanted.items():
            rates = [rate for name in names for rate in DEPTHS.get(name.split("/")[1], ())]
            if rates:
                filters[key] = smoothing_filter(rates, STEPS)
            elif names[0].endswith("/twice"):
                filters[key] = TWO_STEPS
        smooth = smoother.smooth(Z, filters, rows) if filters else {}
        for key, names in wanted.items():
            if names[0].endswith("/second"):
                yield key, smoother.mean(smoother.mean(Z))[rows]
            else:
                yield key, smooth[key] if key in smooth else Z[rows]


def _group(names: Iterable[str], key: Callable[[str], Any]) -> dict[Any, list[str]]:
    grouped: dict[Any, list[str]] = {}
    for name in names:
        grouped.setdefault(key(name), []).append(name)
    return grouped
