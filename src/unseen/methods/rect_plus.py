"""RECT+: views of the graph that serve the seen classes, in closed form.

RECT's idea, what the seen classes say about features beside the structure of the graph, without its training:

1. *Views without labels.* Features after SVD, weighted and plain, smoothed over the graph at three depths; a
   factorisation of the logarithm of the walk matrix. Depth and weighting that serve differ from graph to graph.
2. *Choice inside the seen labels.* Ridge regression on every view, tested by leaving one labelled node out. Views of
   the kind of the best (features or walk) within a standard error of it are put side by side; the best of the other
   kind joins them where it finds more labels, by over a standard error. The columns are reduced to `n_components`.

What was tried and measured is in `paper/docs/notes/rect-plus.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from unseen.engine.run import Run
from unseen.errors import InputError, UnsupportedError, logger, unknown_name
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.linalg.dense import times
from unseen.linalg.keyed import node_keys
from unseen.linalg.svd import truncated_svd
from unseen.methods.base import Method, Vectors
from unseen.methods.selection import as_good_as_the_best, leave_one_out_hits
from unseen.methods.views import DEFAULT, NARROW, Reduction, all_views, is_walk, smoothed_views
from unseen.methods.vocabulary import Columns, Views
from unseen.randomness import child_seed

if TYPE_CHECKING:
    from unseen.engine.estimate import Resources, Sizes

MOST_LABELLED = 2000
"""Labelled nodes that choices look at; of more, as many are drawn."""
ROUNDS = 3
"""Rounds of the SVD that reduces the chosen views."""
ROW_BYTES, ROW_SECONDS = 35_000, 7e-4
"""What a row takes: logarithms of walks to its landmarks, and views side by side."""
FEWEST_LABELLED = 10
"""Below this many labelled nodes nothing is chosen."""


class RECTPlus(Method):
    """The recommended vectors for graphs whose labels miss whole classes; no training, linear in the graph.

    Attributes
    ----------
    views_ : list of str
        The views that were taken.
    view_scores_ : dict of str to float
        Share of labels found by ridge regression on each view, leaving one labelled node out at a time. Empty where
        there were too few labels to choose by.
    class_descriptions_ : dict of str to list of (str, float)
        Strongest words of each seen class, where the features have names; see :class:`RECTL`.

    Notes
    -----
    Without labels, or with fewer than ten labelled nodes or one class, the default views are taken: weighted
    features at middle depth, or the smoothed walk where there are no features. New nodes can be embedded where
    all views are of features.
    """

    name: ClassVar[str] = "rect-plus"
    summary: ClassVar[str] = "views of features and structure, chosen inside the seen labels; recommended"
    uses_features: ClassVar[bool] = True
    reference: ClassVar[str] = (
        "this library, after Wang et al., Network Embedding with Completely-imbalanced Labels, IEEE TKDE 2020"
    )
    uses_labels: ClassVar[bool] = True
    can_be_saved: ClassVar[bool] = True
    default_components: ClassVar[int] = 400
    removed: ClassVar[dict[str, str]] = {
        "strength": "the step towards class descriptions that it steered never acted; leave it out"
    }

    n_components: Columns = None
    views: Views = "auto"

    @classmethod
    def resources(cls, sizes: Sizes) -> Resources:
        """Return the memory and the time that a fit takes; see :mod:`unseen.engine.estimate`."""
        from unseen.engine.estimate import Resources

        return Resources(ROW_BYTES * sizes.nodes, 0.0, ROW_SECONDS * sizes.nodes, 0.0)

    @classmethod
    def smaller(cls) -> type[Method]:
        """Return a method that trains on parts."""
        from unseen.methods.registry import method_class

        return method_class("rect-n")

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        seed = child_seed(run.rng)
        ways, views = run.once((all_views, seed), lambda: all_views(graph, seed, run))
        rows = _some(labels, graph, seed)
        truth = labels.indicator[rows].toarray()
        self.views_, self.view_scores_ = self._choose(views, rows, truth)
        self._keep(ways)
        self.class_descriptions_ = _words(graph, labels, ways, run)
        joined = np.hstack([views[name] for name in self.views_])
        most = joined.shape[1]
        width = self._components(self.n_components, most, f"the chosen views have {most} columns together")
        vectors, self.mix_ = _reduced(joined, width, np.random.default_rng(seed), run)
        return vectors

    def chosen_params(self) -> dict[str, Any]:
        """Return the views: another fit on fewer labels may take others, whose columns have another scale."""
        return {"views": tuple(self.views_)}

    def _choose(
        self, views: dict[str, Any], rows: npt.NDArray[np.int64], truth: npt.NDArray[np.bool_]
    ) -> tuple[list[str], dict[str, float]]:
        if isinstance(self.views, tuple):
            return list(_checked_names(self.views, views)), {}
        if not _enough(truth):
            usual = DEFAULT[self.n_features_in_ is not None]
            default = [name for name in usual if name in views] or list(views)[:1]
            logger.info("%s: too few labels to choose views by, so %s", self.name, ", ".join(default))
            return default, {}
        hits = {name: leave_one_out_hits(vectors[rows], truth) for name, vectors in views.items()}
        names = _side_by_side(views, hits, rows, truth)
        scores = {name: round(float(each.mean()), 4) for name, each in hits.items()}
        logger.info("%s: views chosen inside the seen labels: %s", self.name, ", ".join(names))
        return names, scores

    def _keep(self, ways: dict[str, Reduction]) -> None:
        """Keep what new nodes need: the axes, which are rows of one matrix, and the weights of the columns."""
        if self.n_features_in_ is None:
            return
        self.axes_ = ways["weighted-wide"].axes
        self.plain_axes_ = ways["plain"].axes
        weights = ways["weighted-wide"].weights
        assert weights is not None
        self.column_weights_ = weights

    def _transform(self, graph: Graph, run: Run) -> Vectors:
        self._new_features(graph)
        if any(is_walk(name) for name in self.views_):
            msg = (
                f"{self.name} took a view of the structure alone ({', '.join(self.views_)}), which new nodes do not "
                "have; fit it again on the larger graph, or with `views` of features"
            )
            raise UnsupportedError(msg)
        ways = {
            "weighted-wide": Reduction(self.column_weights_, self.axes_, True),
            "weighted": Reduction(self.column_weights_, self.axes_[:NARROW], True),
            "plain": Reduction(None, self.plain_axes_, False),
        }
        parts = []
        for name in self.views_:
            way, depth = name.split("/")
            parts.append(smoothed_views(graph, {way: ways[way]}, run, [depth])[name])
        return times(np.hstack(parts), self.mix_, run)


def _enough(truth: npt.NDArray[np.bool_]) -> bool:
    """Whether these labels can choose anything."""
    return len(truth) >= FEWEST_LABELLED and int(truth.any(axis=0).sum()) >= 2


def _checked_names(names: tuple[str, ...], views: dict[str, Any]) -> tuple[str, ...]:
    if not names:
        msg = f"`views` of RECTPlus is empty; name some of {', '.join(views)}, or take 'auto'"
        raise InputError(msg)
    fitting: dict[str, None] = {}
    for name in names:  # of few features `weighted` has all columns, as `weighted-wide` has
        view = name if name in views else name.replace("weighted/", "weighted-wide/")
        if view not in views:
            raise unknown_name("view in `views`", name, views)
        fitting[view] = None
    return tuple(fitting)


def _side_by_side(
    views: dict[str, Any],
    hits: dict[str, npt.NDArray[np.float64]],
    rows: npt.NDArray[np.int64],
    truth: npt.NDArray[np.bool_],
) -> list[str]:
    """Return the views that serve the labels: the best kind's, one of the other if that is clearly better."""
    best = max(hits, key=lambda name: float(hits[name].mean()))
    alone = as_good_as_the_best({name: hits[name] for name in hits if is_walk(name) == is_walk(best)})
    others = [name for name in hits if is_walk(name) != is_walk(best)]
    if not others:
        return alone
    joined = [*alone, max(others, key=lambda name: float(hits[name].mean()))]
    compared = {
        title: leave_one_out_hits(np.hstack([views[name][rows] for name in names]), truth)
        for title, names in (("alone", alone), ("joined", joined))
    }
    return alone if "alone" in as_good_as_the_best(compared) else joined


def _some(labels: Labels, graph: Graph, seed: int) -> npt.NDArray[np.int64]:
    """Return the labelled rows, or as many as choices look at, drawn by node."""
    rows = labels.labelled
    if len(rows) <= MOST_LABELLED:
        return rows
    keys = node_keys(graph.node_ids, seed)[rows]
    return np.sort(rows[np.argsort(keys, kind="stable")[:MOST_LABELLED]])


def _reduced(
    vectors: npt.NDArray[np.float32], k: int, rng: np.random.Generator, run: Run
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return vectors along their `k` strongest directions, and the map that led there."""
    if k == vectors.shape[1]:
        return vectors, np.eye(k, dtype=np.float32)
    scores, axes = truncated_svd(vectors, k, rng, run, n_iter=ROUNDS)
    return scores, np.ascontiguousarray(axes.T)


def _words(
    graph: Graph, labels: Labels, ways: dict[str, Reduction], run: Run
) -> dict[str, list[tuple[str, float]]]:
    if graph.features is None or graph.feature_names is None or not len(labels.labelled):
        return {}
    from unseen.methods.semantics import describe_classes, words_of

    plain = ways["plain"]
    reduced = plain.apply(graph.features, run)
    descriptions = describe_classes(reduced, labels, "mean", run)
    return words_of(graph, "features", labels, descriptions, reduced, plain.axes)
