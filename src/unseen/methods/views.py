"""Views of a graph: ways to turn its features or its structure into vectors, all without labels.

A view is a base and what the graph does to it, ``base/operator``. Bases are features after SVD (weighted, the first
columns of these, and plain), rows of the adjacency after SVD, factorisations of the logarithm of the walk matrix,
eigenvectors of the normalised adjacency, and degrees. Operators are nothing (``raw``), the mean over neighbours without
the node itself, the mean over their neighbours, the difference to the neighbours, personalised smoothing at three
depths. ``weighted/twice`` is two steps of smoothing and nothing else, and the one view whose rows keep their lengths.
Which views serve differs from graph to graph; :mod:`unseen.methods.selection` chooses.

Only the bases of the structure and the axes of features are kept. Views are made when they are asked for, some columns
at a time: at the labelled rows for the choice, and whole for those that were chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from unseen.engine.run import Run
from unseen.graph import Graph
from unseen.linalg.lanczos import leading_eigenvectors
from unseen.linalg.normalize import l2_rows, to_unit_rows
from unseen.linalg.reduction import Reduction, column_weights
from unseen.linalg.smoothing import GraphSmoother, smoothing_filter
from unseen.linalg.svd import truncated_svd
from unseen.linalg.walk import log_walk_vectors
from unseen.methods.joined import JoinedViews
from unseen.randomness import node_keys

Vectors = npt.NDArray[np.float32]

DEPTHS = {"near": (0.2, 0.4, 0.7), "middle": (0.05, 0.1, 0.2), "far": (0.02, 0.05, 0.1)}
"""Teleport rates that a depth of smoothing averages over."""
SPREAD = ("raw", "neighbours", "second", "difference", *DEPTHS)
"""What the graph can do to features and to rows of the adjacency."""
STEPS = 20
LEADING = 32
"""Columns of the view ``eigen/leading``; there is also one of all eigenvectors."""
WALKS = {"walk": 0.2, "sharp-walk": 1.0}
"""Views of the walk matrix, and their negatives: the fewer, the more of the small entries is kept."""
FEATURES = ("weighted", "narrow", "plain")
"""Bases that new nodes have too."""
LARGE = 30_000
"""Above this many nodes the structure gets fewer columns, the choice looks at the first columns of each base, and the
walk is left out: through a fixed number of landmarks it fades as a graph grows."""
BLOCK = 64
"""Columns that operators work on at a time."""
NARROW_ROWS = 2_000_000
"""Above this many rows, half as many."""
TWO_STEPS = np.array([0.5, 0.0, 0.5], dtype=np.float32)
"""Ahat^2 as a sum of Chebyshev polynomials."""


@dataclass(frozen=True)
class Widths:
    """Columns of the bases, and how many of them the choice looks at."""

    weighted: int = 400
    narrow: int = 200
    plain: int = 200
    rows: int = 200
    walk: int = 256
    eigen: int = 128
    choice: int | None = None


SMALL_GRAPH, LARGE_GRAPH = Widths(), Widths(narrow=0, rows=64, walk=0, eigen=64, choice=128)


def reductions(graph: Graph, seed: int, run: Run) -> dict[str, Reduction]:
    """Learn how features become dimensions: weighted, the first columns of these, and plain."""
    if graph.features is None:
        return {}
    widths, features = widths_of(graph.n_nodes), graph.features
    most = min(run.count(features.shape[0]), features.shape[1])
    ways = {
        "weighted": Reduction.learn(
            features, column_weights(features, run), min(widths.weighted, most), seed, run
        ),
        "plain": Reduction.learn(features, None, min(widths.plain, most), seed, run),
    }
    return with_narrow(ways, widths.narrow)


def with_narrow(ways: dict[str, Reduction], columns: int) -> dict[str, Reduction]:
    """Return the ways and one of the first columns of ``weighted`` beside it, where it has more."""
    wide = ways["weighted"]
    if not 0 < columns < len(wide.axes):
        return ways
    return {**ways, "narrow": Reduction(wide.weights, wide.axes[:columns], wide.unit)}


def widths_of(n_nodes: int) -> Widths:
    """Return how many columns the bases of a graph have."""
    return LARGE_GRAPH if n_nodes > LARGE else SMALL_GRAPH


def structure_bases(graph: Graph, seed: int, run: Run) -> dict[str, Vectors]:
    """Return the bases that edges give: rows of the adjacency, walks, eigenvectors and degrees."""
    adjacency, n = run.matrix(graph.adjacency, symmetric=True), graph.n_nodes
    widths = widths_of(n)
    rng, keys = np.random.default_rng(seed), node_keys(graph.node_ids, seed)
    rounds = 2 if n > LARGE else 7
    k = min(widths.rows, n)
    bases = {}
    if run.processes == 1 and widths.walk:
        bases = {"rows": _unit(truncated_svd(l2_rows(graph.adjacency), k, rng, run, n_iter=rounds)[0])}
    if not run.count(graph.adjacency.nnz) or n < 3:
        return bases
    if widths.walk:
        negatives = tuple(WALKS.values())
        k = min(widths.walk, n - 1)
        walks = log_walk_vectors(adjacency, k, keys, np.random.default_rng(seed), negatives=negatives)
        bases |= {name: _unit(vectors) for name, vectors in zip(WALKS, walks, strict=True)}
    bases["eigen"] = to_unit_rows(
        leading_eigenvectors(GraphSmoother(adjacency).step, min(widths.eigen, n - 2), keys, run), run
    )
    degree = adjacency.row_sums()
    bases["degree"] = _unit(np.column_stack([np.log1p(degree), np.ones(len(degree))]))
    return bases


def _unit(vectors: npt.NDArray[Any]) -> Vectors:
    return l2_rows(vectors).astype(np.float32, copy=False)


def operators_of(base: str) -> tuple[str, ...]:
    """Return what is done with a base.

    Examples
    --------
    >>> operators_of("walk"), operators_of("eigen"), len(operators_of("plain"))
    (('raw', 'near'), ('raw', 'leading'), 7)
    """
    if base in WALKS:
        return ("raw", "near")
    others = {"eigen": ("raw", "leading"), "degree": ("raw",), "weighted": (*SPREAD, "twice")}
    return others.get(base, SPREAD)


def needs_structure(name: str) -> bool:
    """Return whether a view is of the structure alone, which new nodes do not have.

    Examples
    --------
    >>> needs_structure("sharp-walk/near"), needs_structure("plain/near")
    (True, False)
    """
    return name.split("/")[0] not in FEATURES


def kind_of(name: str) -> tuple[str, str]:
    """Return the kind of a view: its base, and its operator, where all depths of smoothing are one.

    Examples
    --------
    >>> kind_of("plain/near"), kind_of("plain/second")
    (('plain', 'smooth'), ('plain', 'second'))
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
    bases : mapping of str to ndarray, shape (n, k)
        Those of the structure; rows of length 1.
    run : Run
        Does the work.
    """

    graph: Graph
    ways: Mapping[str, Reduction]
    bases: Mapping[str, Vectors]
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
        bases = {base: operators_of(base) if spread else ("raw",) for base in (*self.ways, *self.bases)}
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
        Z = self.base("weighted", slice(BLOCK))
        Z -= (run.total([(degree * Z).sum(axis=0)]) / run.total([degree.sum()])).astype(np.float32)
        spread = float(run.total([(degree * Z**2).sum()]))
        shared = float(run.total([(degree * Z * self.smoother.mean(Z)).sum()]))
        return shared / spread if spread > 0 else 1.0

    def _columns(self, name: str) -> int:
        """Return how many columns a view has."""
        base = name.split("/")[0]
        columns = len(self.ways[base].axes) if base in self.ways else int(self.bases[base].shape[1])
        return min(LEADING, columns) if name.endswith("/leading") else columns

    def at(self, rows: npt.NDArray[np.int64], names: Iterable[str]) -> dict[str, Vectors]:
        """Return the given rows of some views, of few columns where the graph is large; rows of length 1."""
        few, smoother = widths_of(self.graph.n_nodes).choice, self.smoother
        views: dict[str, Vectors] = {}
        for base, of_base in _by_base(names).items():
            made: dict[str, list[Vectors]] = {name: [] for name in of_base}
            columns = min(few or self._columns(f"{base}/raw"), self._columns(f"{base}/raw"))
            for block in self._blocks(columns):
                for name, part in self._make(
                    smoother, self.base(base, block), {n: (n,) for n in of_base}, rows
                ):
                    made[name].append(part)
            views |= {name: self._join(name, parts) for name, parts in made.items()}
        return views

    def _join(self, name: str, parts: list[Vectors]) -> Vectors:
        view = np.hstack(parts)[:, : self._columns(name)]
        return view if name.endswith("/twice") else to_unit_rows(view, self.run)

    def side_by_side(self, names: Iterable[str], further: Sequence[int] = ()) -> JoinedViews:
        """Return some views, whole, with room for `further` ones; depths of smoothing of one base become their mean."""
        kinds = _by_kind(names)
        widths = [self._columns(of_kind[0]) for of_kind in kinds.values()]
        joined = JoinedViews(self.n_rows, [*widths, *further], self.run)
        smoother = self.smoother
        for (base, operator), of_kind in kinds.items():
            blocks = (
                part
                for columns in self._blocks(self._columns(of_kind[0]))
                for _, part in self._make(smoother, self.base(base, columns), {0: of_kind}, slice(None))
            )
            joined.add(blocks, unit=operator != "twice")
        return joined

    @property
    def n_rows(self) -> int:
        """Rows of this process."""
        return len(self.graph.node_ids)

    def _blocks(self, columns: int) -> list[slice]:
        width = BLOCK if self.n_rows <= NARROW_ROWS else BLOCK // 2
        return [slice(first, min(first + width, columns)) for first in range(0, columns, width)]

    def _make(
        self, smoother: GraphSmoother, Z: Vectors, wanted: Mapping[Any, Sequence[str]], rows: Any
    ) -> Iterator[tuple[Any, Vectors]]:
        """Give for each key what the operators of its names make of some columns of a base, at these rows."""
        operators = {key: [name.split("/")[1] for name in names] for key, names in wanted.items()}
        filters = {
            key: TWO_STEPS
            if depths[0] == "twice"
            else smoothing_filter([rate for depth in depths for rate in DEPTHS[depth]], STEPS)
            for key, depths in operators.items()
            if depths[0] in (*DEPTHS, "twice")
        }
        smooth = smoother.smooth(Z, filters, rows) if filters else {}
        yield from smooth.items()
        neighbours = Z
        if any(names[0] in ("neighbours", "second", "difference") for names in operators.values()):
            neighbours = smoother.mean(Z)
        for key, (operator, *_) in operators.items():
            if operator == "neighbours":
                yield key, neighbours[rows]
            elif operator == "second":
                yield key, smoother.mean(neighbours)[rows]
            elif operator == "difference":
                yield key, Z[rows] - neighbours[rows]
            elif key not in smooth:
                yield key, Z[rows]


def _by_kind(names: Iterable[str]) -> dict[tuple[str, str], list[str]]:
    grouped: dict[tuple[str, str], list[str]] = {}
    for name in names:
        grouped.setdefault(kind_of(name), []).append(name)
    return grouped


def _by_base(names: Iterable[str]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name in names:
        grouped.setdefault(name.split("/")[0], []).append(name)
    return grouped
