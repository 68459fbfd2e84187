"""RECT+: views of the graph that serve the seen classes, in closed form.

RECT's idea, what the seen classes say about features beside the structure of the graph, without its training:

1. *Views without labels.* Features after SVD, weighted and plain, as they are and smoothed over the graph; rows of the
   adjacency, walks, eigenvectors and degrees. See :mod:`unseen.methods.views`.
2. *Choice inside the seen labels.* Ridge regression on every view, tested by leaving one labelled node out. All views
   that find as many labels as the best one, up to a standard error, are taken. See :mod:`unseen.methods.selection`.
3. *Together.* Depths of smoothing of one base become their mean, all views get one spread and stand side by side, and
   the columns are reduced to `n_components`.

What was tried and measured is in `paper/docs/notes/rect-plus.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unseen.engine.run import Run
from unseen.engine.sparse import GraphPart, gather_graph, gather_rows
from unseen.errors import InputError, UnsupportedError, first_of, logger, unknown_name
from unseen.graph import Graph, Need
from unseen.ids import Ints, Singles
from unseen.labels import Labels
from unseen.linalg.reduction import Reduction
from unseen.methods.base import Method, Traits, Vectors
from unseen.methods.homophily import measure_homophily
from unseen.methods.selection import add_others, choose_views, leave_one_out
from unseen.methods.views import (
    OPERATORS,
    WALKS,
    Pool,
    columns_at_once,
    is_large,
    needs_structure,
    reductions,
    structure_bases,
)
from unseen.methods.vocabulary import Columns, Views
from unseen.randomness import child_seed, node_keys

if TYPE_CHECKING:
    from unseen.engine.memory import Job
    from unseen.methods.paths import PathPool

FEWEST_LABELLED, FEW_LABELLED, MOST_LABELLED = 10, 100, 2000
"""Below so many labelled nodes nothing is chosen; below so many views of features are preferred; of more than so many,
as many are drawn for the choice."""


class RECTPlus(Method):
    """The recommended vectors for graphs whose labels miss whole classes; no training, linear in the graph.

    Attributes
    ----------
    views_ : list of str
        The views that were taken.
    view_scores_ : dict of str to float
        Share of labels found by ridge regression on each view, leaving one labelled node out at a time. Empty where
        there were too few labels to choose by.
    family_scores_ : dict of str to float
        The same in plain words: the share that the best view of each family finds, such as "walks".
    class_descriptions_ : dict of str to list of (str, float)
        Strongest words of each seen class, where the features have names; see :class:`RECTL`.

    Notes
    -----
    Without labels, or with fewer than ten labelled nodes or one class, a default is taken: weighted features at middle
    depth, features as they are where those of neighbours are not alike, or the smoothed walk where there are no
    features. New nodes can be embedded where all views are of features or of paths of relations.
    """

    reference: ClassVar[str] = (
        "this library, after Wang et al., Network Embedding with Completely-imbalanced Labels, IEEE TKDE 2020"
    )
    _traits = Traits(
        "rect-plus",
        "views of features and structure, chosen inside the seen labels; recommended",
        uses_features=True,
        uses_labels=True,
        labels_choose_params=True,
        can_be_saved=True,
        trains_on_parts=True,
        needs=Need(directed=True, signed=True, typed=True),
        default_components=400,
    )

    n_components: Columns = None
    views: Views = "auto"

    @classmethod
    def _bytes_needed(cls, job: Job) -> float:
        if not is_large(job.all_nodes):  # of several processes each has all of it
            return 25_500.0 * job.all_nodes + 25.0 * job.entries * job.all_nodes / job.nodes
        has_features = job.feature_columns > 0
        smoothing = 16.0 * job.nodes * columns_at_once(job.nodes) + 20.0 * job.entries
        columns = job.columns if has_features else min(job.columns, 100)
        result = 0.0 if job.scratch else 4.0 * job.nodes * columns
        bases = 310.0 * job.nodes  # eigenvectors and degrees
        working = (8.4e7 if has_features else 2e7) + bases + max(smoothing, result)
        return max(working + job.feature_bytes(8, 0), job.feature_bytes(16, 0))

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        if isinstance(graph, GraphPart) and not is_large(graph.n_nodes):  # each process computes all of it
            whole, all_labels = gather_graph(graph, labels, run)
            with run.for_graph(whole, run.rng) as alone:
                first = graph.adjacency.layout.first
                return self._fit(whole, all_labels, alone)[first : first + len(graph.node_ids)].copy()
        seed = child_seed(run.rng)
        ways, pool = self._pool(graph, labels, seed, run)
        self.views_, self.view_scores_ = self._choose(pool, labels, seed)
        self._keep(ways)
        self.target_, self.path_arrays_ = pool.target, pool.keep(self.views_)
        self.class_descriptions_ = _words(graph, labels, ways, run)
        key = (RECTPlus, seed, pool.target, tuple(self.views_), self.n_components)
        vectors, self.scales_, self.mix_ = run.once(key, lambda: self._join_views(pool))
        return vectors

    def _join_views(self, pool: Pool | PathPool) -> tuple[Singles, Singles, Singles]:
        """Return vectors of the chosen views, which labels change no more, and what makes them for new nodes."""
        joined = pool.side_by_side(self.views_)
        pool.forget()
        width = self._components(self.n_components, joined.shape[1], "the data supports no more")
        scales, mix = joined.strongest_directions(width, pool.weights(self.views_))
        return pool.everywhere(joined.times(scales, mix)), scales, mix

    def _pool(
        self, graph: Graph, labels: Labels, seed: int, run: Run
    ) -> tuple[dict[str, Reduction], Pool | PathPool]:
        """Return how features are reduced, and the views: of paths where labels are of one of several types."""
        whole: Any = run.graph
        related = isinstance(whole, Graph) and not whole.is_plain
        if related:
            from unseen.methods.paths import PathPool  # plain graphs need none of it

            types = [whole.types[code] for code in np.unique(whole.codes[labels.labelled])]
            if whole.node_types is not None and len(types) == 1:
                return {}, run.once((PathPool, seed, types[0]), lambda: PathPool(whole, types[0], seed, run))
        ways = run.once((reductions, seed), lambda: reductions(graph, seed, run))
        pool = run.once((Pool, seed), lambda: Pool(graph, ways, structure_bases(graph, seed, run), run))
        if related and whole.node_types is None:
            return ways, run.once((PathPool, seed), lambda: PathPool(whole, whole.types[0], seed, run, pool))
        if related:
            logger.info(
                "%s: labels are not of one type of nodes, so the undirected, single-type graph is used",
                self._name,
            )
        return ways, pool

    def _chosen_params(self) -> dict[str, Any]:
        """Return the views: another fit on fewer labels may take others, whose columns have another scale."""
        return {"views": tuple(self.views_)}

    def _choose(self, pool: Pool | PathPool, labels: Labels, seed: int) -> tuple[list[str], dict[str, float]]:
        """Return the views to take, and the share of the labels that each view finds."""
        self.family_scores_: dict[str, float] = {}
        if self.views != "auto":
            return _checked_names(self.views, pool.names), {}
        rows, order = _some(labels, pool.graph, seed, pool.run)
        truth = gather_rows(labels.indicator[rows], pool.run).toarray()[order]
        if len(truth) < FEWEST_LABELLED or int(truth.any(axis=0).sum()) < 2:
            default = _default_views(pool)
            logger.info("%s: too few labels to choose views by, so %s", self._name, first_of(default))
            return default, {}
        differ = not measure_homophily(pool.graph, labels, pool.run).holds
        offered = [name for name in pool.names if differ or not name.endswith("/twice")]
        at = {name: pool.run.gather(view)[order] for name, view in pool.at(rows, offered).items()}
        found = {name: leave_one_out(view, truth) for name, view in at.items()}
        features = [name for name in found if not needs_structure(name)]
        preferred = features if differ or len(truth) < FEW_LABELLED else []
        names = pool.names if pool.takes_all else choose_views(found, preferred)
        names = add_others(names, pool.signs, found, at, truth)
        scores = {name: round(float(each.mean()), 4) for name, each in found.items()}
        for name in sorted(scores, key=lambda name: -scores[name]):
            self.family_scores_.setdefault(family_of(name), scores[name])
        worth = ", ".join(f"{family} find {share:.0%}" for family, share in self.family_scores_.items())
        logger.info("%s: of the labels, %s; taken together: %s", self._name, worth, first_of(names))
        return names, scores

    def _keep(self, ways: dict[str, Reduction]) -> None:
        """Keep what new nodes need: the axes, which are rows of one matrix, and the weights of the columns."""
        if not ways:
            return
        self.axes_, self.plain_axes_ = ways["weighted"].axes, ways["plain"].axes
        weights = ways["weighted"].weights
        assert weights is not None
        self.column_weights_ = weights

    def _transform(self, graph: Graph, run: Run) -> Vectors:
        pool = self._pool_of_new(graph, run)
        missing = next((name for name in self.views_ if name not in pool.names), None)
        if missing is not None:
            msg = (
                f"the graph lacks relations that the view {missing!r} of this {self._name} follows; give the new nodes "
                "together with those that they are linked to, with the types and relations of the fit"
            )
            raise InputError(msg)
        return pool.everywhere(pool.side_by_side(self.views_).times(self.scales_, self.mix_))

    def _pool_of_new(self, graph: Graph, run: Run) -> Pool | PathPool:
        """Return the views that were taken, for the nodes of another graph."""
        kept: dict[str, Any] = getattr(self, "path_arrays_", {})
        of_plain = [n for n in self.views_ if n not in kept and f"{n.split('/')[0]}/axes" not in kept]
        plain = self._plain_of_new(graph, of_plain, run) if of_plain else None
        if not kept or run.graph.is_plain:
            return plain or Pool(graph, {}, {}, run)
        from unseen.methods.paths import PathPool

        return PathPool(run.graph, self.target_, 0, run, plain, kept)

    def _plain_of_new(self, graph: Graph, names: list[str], run: Run) -> Pool:
        self._new_features(graph)
        if any(needs_structure(name) for name in names):
            msg = (
                f"{self._name} took a view of the structure alone ({', '.join(self.views_)}), which new nodes do not "
                "have; fit it again on the larger graph, or with `views` of features"
            )
            raise UnsupportedError(msg)
        ways = {
            "weighted": Reduction(self.column_weights_, self.axes_, True),
            "plain": Reduction(None, self.plain_axes_, False),
        }
        return Pool(graph, ways, {}, run)


def _default_views(pool: Pool | PathPool) -> list[str]:
    """Return the views to take where no label helps to choose."""
    plain = pool if isinstance(pool, Pool) else pool.plain
    if pool.takes_all or plain is None:
        return pool.names
    if plain.likeness < 0:
        return [f"{base}/raw" for base in plain.ways]
    usual = ("weighted/middle", "walk/near", "eigen/raw", *pool.names)
    return [next(name for name in usual if name in pool.names)]


def _checked_names(names: Sequence[str], views: list[str]) -> list[str]:
    if not names:
        msg = f"`views` of RECTPlus is empty; name some of {', '.join(views)}, or take 'auto'"
        raise InputError(msg)
    for name in names:
        if name not in views:
            raise unknown_name("view in `views`", name, views)
    return list(dict.fromkeys(names))


def family_of(name: str) -> str:
    """Return in plain words what a view is made of.

    Examples
    --------
    >>> family_of("plain/raw"), family_of("weighted/near"), family_of("walk/raw"), family_of("paper/wrote")
    ('features as they are', 'features averaged over neighbours', 'walks', 'paths of relations')
    """
    base, operator = name.split("/")
    structure = {"rows": "lists of neighbours", "eigen": "eigenvectors", "degree": "degrees"}
    structure |= dict.fromkeys(WALKS, "walks")
    if base not in OPERATORS:
        return "paths of relations"
    features = "features as they are" if operator == "raw" else "features averaged over neighbours"
    return structure.get(base, features)


def _some(labels: Labels, graph: Graph, seed: int, run: Run) -> tuple[Ints, Ints]:
    """Return the labelled rows of this process, or as many as choices look at, and what brings those of all in order.

    The order is drawn by node, so it is the same for any number of processes.
    """
    # as signed numbers in the same order, which processes can send
    keys = (node_keys(graph.node_ids[labels.labelled], seed) ^ np.uint64(1 << 63)).view(np.int64)
    last = np.sort(run.gather(keys))[:MOST_LABELLED][-1:]
    drawn = keys <= last[0] if len(last) else np.zeros(0, dtype=bool)
    return labels.labelled[drawn], np.argsort(run.gather(keys[drawn]), kind="stable")


def _words(
    graph: Graph, labels: Labels, ways: dict[str, Reduction], run: Run
) -> dict[str, list[tuple[str, float]]]:
    if not ways or graph.feature_names is None or not len(labels.labelled):
        return {}
    from unseen.methods.semantics import describe_classes, words_of

    plain = ways["plain"]
    reduced = plain.apply(graph.features, run)
    descriptions = describe_classes(reduced, labels, "mean", run)
    return words_of(graph, "features", labels, descriptions, reduced, plain.axes)
