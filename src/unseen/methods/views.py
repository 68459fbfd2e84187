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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.engine.sparse import Matrix, inverse
from unseen.graph import Features, Graph
from unseen.linalg.normalize import are_measured, l2_rows, smooth_over_graph, smoothing_filter
from unseen.linalg.svd import leading_eigenvectors, project, truncated_svd
from unseen.linalg.walk import log_walk_vectors
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
BLOCK_ROWS = 65_536
"""Rows whose features are reduced at a time."""


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


@dataclass(frozen=True)
class Reduction:
    """Features to dimensions: columns weighted, rows scaled to length 1 if `unit`, then projected on axes.

    Parameters
    ----------
    weights : ndarray, shape (m,), or None
        Factors of the feature columns.
    axes : ndarray, shape (k, m)
        Right singular vectors.
    unit : bool
        Whether rows are scaled to length 1 before the projection.
    """

    weights: npt.NDArray[np.float64] | None
    axes: npt.NDArray[np.float32]
    unit: bool

    def apply(self, features: Features, run: Run) -> npt.NDArray[np.float32]:
        """Return the reduced features of any nodes, new ones included."""
        return project(weighted(features, self.weights, unit=self.unit), self.axes, run)

    def base(
        self, features: Features, run: Run, most: int | None = None, out: Vectors | None = None
    ) -> Vectors:
        """Return the reduced features with rows of length 1, up to `most` columns of them, in `out` if it is given."""
        n = features.shape[0]
        base = np.empty((n, len(self.axes[:most])), dtype=np.float32) if out is None else out
        for first in range(0, n, BLOCK_ROWS):
            base[first : first + BLOCK_ROWS] = _unit(self.apply(features[first : first + BLOCK_ROWS], run))[
                :, :most
            ]
        return base


def column_weights(features: Features) -> npt.NDArray[np.float64]:
    """Return factors that make all columns count: inverse document frequencies of words, of others 1 / deviation.

    A column is taken as a word where none of it is negative and most are zero, however they are stored.

    Examples
    --------
    >>> column_weights(sp.csr_array([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])).round(3).tolist()
    [1.288, 1.693]
    >>> column_weights(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [1.0, 0.0]
    """
    used = np.asarray((features != 0).sum(axis=0)).ravel()
    weights = np.asarray(np.log((1 + features.shape[0]) / (1 + used)) + 1, dtype=np.float64)
    measured = are_measured(features)
    if measured.any():
        deviation = np.sqrt(np.maximum(_mean(features**2) - _mean(features) ** 2, 0.0))
        weights[measured] = inverse(deviation)[measured]
    return weights


def _mean(features: Features) -> npt.NDArray[np.float64]:
    total: npt.NDArray[np.float64] = np.asarray(features.sum(axis=0, dtype=np.float64)).ravel()
    return np.asarray(total / features.shape[0], dtype=np.float64)


def weighted(features: Features, weights: npt.NDArray[np.float64] | None, *, unit: bool) -> Features:
    """Return features with their columns weighted and, if `unit`, their rows scaled to length 1."""
    if isinstance(features, np.ndarray):
        table = features if weights is None else features * weights
        return l2_rows(np.asarray(table, dtype=np.float64)) if unit else table
    values = features.data.astype(np.float64)
    if weights is not None:
        values *= weights[features.indices]
    scaled = sp.csr_array((values, features.indices, features.indptr), shape=features.shape)
    return l2_rows(scaled) if unit else scaled


def reductions(graph: Graph, seed: int, run: Run) -> dict[str, Reduction]:
    """Learn how features become dimensions: weighted, the first columns of these, and plain."""
    if graph.features is None:
        return {}
    widths, ways = widths_of(graph.n_nodes), {}
    for name, weights, most in (
        ("weighted", column_weights(graph.features), widths.weighted),
        ("plain", None, widths.plain),
    ):
        unit = weights is not None
        matrix = weighted(graph.features, weights, unit=unit)
        k = min(most, *graph.features.shape)
        ways[name] = Reduction(weights, truncated_svd(matrix, k, np.random.default_rng(seed), run)[1], unit)
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
    bases = {"rows": _unit(truncated_svd(l2_rows(graph.adjacency), k, rng, run, n_iter=rounds)[0])}
    if not graph.adjacency.nnz or n < 3:
        return bases
    if widths.walk:
        negatives = tuple(WALKS.values())
        k = min(widths.walk, n - 1)
        walks = log_walk_vectors(adjacency, k, keys, np.random.default_rng(seed), negatives=negatives)
        bases |= {name: _unit(vectors) for name, vectors in zip(WALKS, walks, strict=True)}
    bases["eigen"] = leading_eigenvectors(adjacency.gcn_normalized(), min(widths.eigen, n - 2), keys)
    degree = adjacency.row_sums()
    bases["degree"] = _unit(np.column_stack([np.log1p(degree), np.ones(n)]))
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
    ahat: Matrix = field(init=False)
    mean: Matrix = field(init=False)
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

    def __post_init__(self) -> None:
        adjacency = self.run.matrix(self.graph.adjacency, symmetric=True)
        object.__setattr__(self, "ahat", adjacency.gcn_normalized())
        object.__setattr__(self, "mean", adjacency.row_normalized())

    @property
    def names(self) -> list[str]:
        """Names of all views; without edges there is nothing to smooth over."""
        spread = bool(self.graph.adjacency.nnz)
        bases = {base: operators_of(base) if spread else ("raw",) for base in (*self.ways, *self.bases)}
        return [f"{base}/{operator}" for base, operators in bases.items() for operator in operators]

    def base(self, name: str, most: int | None = None, out: Vectors | None = None) -> Vectors:
        """Return a base, up to `most` columns of it.

        Those of features are made again, which is cheap beside views, in `out` if it is given.
        """
        if name in self.ways:
            return self.ways[name].base(self.graph.features, self.run, most, out)
        return self.bases[name][:, :most]

    @property
    def likeness(self) -> float:
        """How alike the features of neighbours are: 0 as any two nodes', 1 the same; 1 where there is no telling."""
        degree = np.asarray(self.graph.adjacency.sum(axis=1), dtype=np.float64)[:, None]
        if "weighted" not in self.ways or not degree.any():
            return 1.0
        Z = self.base("weighted", BLOCK)
        Z -= ((degree * Z).sum(axis=0) / degree.sum()).astype(np.float32)
        spread = float((degree * Z**2).sum())
        return float((degree * Z * (self.mean @ Z)).sum()) / spread if spread > 0 else 1.0

    def _columns(self, name: str) -> int:
        """Return how many columns a view has."""
        base = name.split("/")[0]
        columns = len(self.ways[base].axes) if base in self.ways else int(self.bases[base].shape[1])
        return min(LEADING, columns) if name.endswith("/leading") else columns

    def at(self, rows: npt.NDArray[np.int64], names: Iterable[str]) -> dict[str, Vectors]:
        """Return the given rows of some views, of few columns where the graph is large."""
        few = widths_of(self.graph.n_nodes).choice
        views: dict[str, Vectors] = {}
        for base, of_base in _by_base(names).items():
            Z = self.base(base, few)
            widths = {name: min(self._columns(name), Z.shape[1]) for name in of_base}
            made = {name: np.empty((len(rows), widths[name]), dtype=np.float32) for name in of_base}
            self._make(Z, {name: (name,) for name in of_base}, rows, made)
            views |= made
        return views

    def side_by_side(self, names: Iterable[str]) -> tuple[Vectors, list[slice]]:
        """Return some views, whole, and the columns of each; depths of smoothing of one base become their mean."""
        grouped = {base: _by_kind(of_base) for base, of_base in _by_base(names).items()}
        widths = [self._columns(kind[0]) for kinds in grouped.values() for kind in kinds.values()]
        ends = np.cumsum(widths)
        places = [slice(int(end - width), int(end)) for end, width in zip(ends, widths, strict=True)]
        joined = np.empty((self.graph.n_nodes, int(ends[-1])), dtype=np.float32)
        left = iter(places)
        for base, wanted in grouped.items():
            out = {kind: joined[:, next(left)] for kind in wanted}
            Z = self.base(base, out=next(iter(out.values())))  # views take its place, block by block
            self._make(Z, wanted, slice(None), out)
        return joined, places

    def _make(
        self, Z: Vectors, wanted: Mapping[Any, Sequence[str]], rows: Any, out: Mapping[Any, Vectors]
    ) -> None:
        """Fill `out`: for each key, what the operators of its names make of `Z`; rows of length 1 unless `twice`."""
        operators = {key: [name.split("/")[1] for name in names] for key, names in wanted.items()}
        filters = {
            key: smoothing_filter([rate for depth in depths for rate in DEPTHS[depth]], STEPS)
            for key, depths in operators.items()
            if depths[0] in DEPTHS
        }
        averaged = any(names[0] in ("neighbours", "second", "difference") for names in operators.values())
        for first in range(0, Z.shape[1], BLOCK):
            part = Z[:, first : first + BLOCK].copy()
            smooth = smooth_over_graph(self.ahat, part, filters, rows) if filters else {}
            neighbours = self.mean @ part if averaged else part
            for key, (operator, *_) in operators.items():
                if key in smooth:
                    view = smooth[key]
                elif operator == "neighbours":
                    view = neighbours[rows]
                elif operator == "second":
                    view = (self.mean @ neighbours)[rows]
                elif operator == "twice":
                    view = (self.ahat @ (self.ahat @ part))[rows]
                elif operator == "difference":
                    view = part[rows] - neighbours[rows]
                else:
                    view = part[rows, : max(out[key].shape[1] - first, 0)]
                out[key][:, first : first + BLOCK] = view
        for key, vectors in out.items():
            if operators[key][0] != "twice":
                self.run.map_blocks(partial(_to_unit_rows, vectors), len(vectors))


def _to_unit_rows(vectors: Vectors, start: int, stop: int) -> None:
    """Scale some rows to length 1, in place."""
    part = vectors[start:stop]
    part *= inverse(np.linalg.norm(part, axis=1, keepdims=True)).astype(np.float32)


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
