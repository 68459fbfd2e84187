"""RECT+: views of the graph that serve the seen classes, in closed form.

RECT's idea, what the seen classes say about features beside the structure of the graph, without its training:

1. *Views without labels.* Features after SVD, weighted and plain, as they are, averaged over neighbours, and smoothed
   over the graph at three depths; rows of the adjacency, walks and eigenvectors. See :mod:`unseen.methods.views`.
2. *Choice inside the seen labels.* Ridge regression on every view, tested by leaving one labelled node out. Smoothed
   views and walks come first: those of the kind of their best that are within a standard error of it are put side by
   side. Where another view finds more labels by over a standard error, all views compete instead. Then up to three
   more join, one at a time, each if with it the squared error falls by over three standard errors and more labels are
   found. Where labels say that neighbours differ, features as they are, smoothed a little, and of second neighbours
   come first instead, and it takes two standard errors for all to compete. Where too few labelled nodes are linked to
   say so, features tell: if those of neighbours are less alike than any two nodes', features as they are come first in
   the same way. The columns are reduced to `n_components`.

What was tried and measured is in `paper/docs/notes/rect-plus.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from unseen.engine.run import Run
from unseen.engine.sparse import GraphPart, gather_graph, gather_rows
from unseen.errors import InputError, UnsupportedError, first_of, logger, unknown_name
from unseen.graph import Graph, Need
from unseen.ids import Ints
from unseen.labels import Labels
from unseen.linalg.reduction import Reduction
from unseen.methods.base import Method, Traits, Vectors
from unseen.methods.homophily import Homophily, measure_homophily
from unseen.methods.selection import (
    ALIKE,
    Rows,
    add_views,
    as_good_as_the_best,
    is_clearly_more,
    leave_one_out,
    of_kernel,
)
from unseen.methods.views import (
    BLOCK,
    NARROW_ROWS,
    SMALL_GRAPH,
    WALKS,
    Pool,
    kind_of,
    needs_structure,
    reductions,
    structure_bases,
    widths_of,
    with_narrow,
)
from unseen.methods.vocabulary import Columns, Views
from unseen.randomness import child_seed, node_keys

if TYPE_CHECKING:
    from unseen.engine.memory import Job
    from unseen.methods.paths import PathPool

Table = npt.NDArray[np.float32]

MOST_LABELLED, MOST_TOGETHER = 2000, 800
"""Labelled nodes that the choice looks at, of one view and of several together; of more, as many are drawn."""
MOST_JOINING = 3
"""How many views may join those that are as good as the best."""
DEFAULT = ("weighted/middle", "walk/near", "eigen/raw", "rows/raw")
"""The first of these that a graph has serves where no label helps to choose."""
STRUCTURE = 100
"""Columns of the views of a large graph without features, roughly."""
AS_THEY_ARE, TWICE = ("plain/raw", "weighted/raw"), "weighted/twice"
NOT_FAR = ("plain/near", "narrow/near", "weighted/near", "weighted/second", TWICE)
"""Views that come first where labels say that neighbours differ; where only features say it, the first two alone."""
BETTER = 2.0
"""Standard errors by which another view must find more labels there before all compete."""
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
    Without labels, or with fewer than ten labelled nodes or one class, a default view is taken: weighted features at
    middle depth, features as they are where those of neighbours are not alike, or the smoothed walk where there are
    no features. New nodes can be embedded where all views are of features or of paths of relations. Where no view
    finds more labels than the most frequent class does, the features as they are stay in.
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
        if widths_of(job.all_nodes).walk:  # of several processes each has all of it
            return 25_500.0 * job.all_nodes + 25.0 * job.entries * job.all_nodes / job.nodes
        has_features = job.feature_columns > 0
        at_once = BLOCK if job.nodes <= NARROW_ROWS else BLOCK // 2
        smoothing = (
            16.0 * job.nodes * at_once + 20.0 * job.entries + (0 if has_features else 256.0 * job.nodes)
        )
        columns = job.columns if has_features else min(job.columns, STRUCTURE)
        result = 0.0 if job.scratch else 4.0 * job.nodes * columns
        working = (9e7 if has_features else 2e7) + max(smoothing, result)
        return max(working + job.feature_bytes(8, 0), job.feature_bytes(16, 0))

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        if (
            isinstance(graph, GraphPart) and widths_of(graph.n_nodes).walk
        ):  # small: each process computes all of it
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

    def _join_views(self, pool: Pool | PathPool) -> tuple[Table, Table, Table]:
        """Return vectors of the chosen views, which labels change no more, and what makes them for new nodes."""
        joined = pool.side_by_side(self.views_)
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
        if self.views != "auto":
            return _checked_names(self.views, pool.names), {}
        rows, order = _some(labels, pool.graph, seed, pool.run)
        truth = gather_rows(labels.indicator[rows], pool.run).toarray()[order]
        homophily = measure_homophily(pool.graph, labels, pool.run)
        first = _where_neighbours_differ(pool, homophily)
        default = [next(name for name in (*DEFAULT, *pool.names) if name in pool.names)]
        default = first if first and homophily.adjusted is None else default
        default = pool.names if pool.takes_all else default
        if len(truth) < FEWEST_LABELLED or int(truth.any(axis=0).sum()) < 2:
            logger.info("%s: too few labels to choose views by, so %s", self._name, first_of(default))
            return default, {}
        at = pool.at(rows, [name for name in pool.names if name != TWICE or name in first])
        at = {name: pool.run.gather(vectors)[order] for name, vectors in at.items()}
        hits = {name: leave_one_out(vectors, truth)[0] for name, vectors in at.items()}
        best = max(hits, key=lambda name: float(hits[name].mean()))
        frequent = truth[:, truth.sum(axis=0).argmax()] / truth.sum(axis=1)
        if is_clearly_more(hits[best], frequent, ALIKE):
            names = _side_by_side(at, hits, truth, pool, first)
        else:
            names = [name for name in dict.fromkeys(["weighted/raw", *default]) if name in hits]
        logger.info("%s: %s (%s)", self._name, _in_words(best, pool, not first), first_of(names))
        return names, {name: round(float(each.mean()), 4) for name, each in hits.items()}

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
        return Pool(graph, with_narrow(ways, SMALL_GRAPH.narrow), {}, run)


def _where_neighbours_differ(pool: Pool | PathPool, homophily: Homophily) -> list[str]:
    """Return the views that come first if neighbours differ; without features, or if they do not, none.

    Labels say it, or where these do not tell, features that are less alike than any two nodes'.
    """
    plain = pool if isinstance(pool, Pool) else pool.plain
    if plain is None or not plain.ways or pool.takes_all:
        return []
    if not homophily.holds:
        return [*AS_THEY_ARE, *(name for name in NOT_FAR if name in pool.names)]
    return list(AS_THEY_ARE) if homophily.adjusted is None and plain.likeness < 0 else []


def _checked_names(names: Sequence[str], views: list[str]) -> list[str]:
    if not names:
        msg = f"`views` of RECTPlus is empty; name some of {', '.join(views)}, or take 'auto'"
        raise InputError(msg)
    for name in names:
        if name not in views:
            raise unknown_name("view in `views`", name, views)
    return list(dict.fromkeys(names))


def _side_by_side(
    at: dict[str, Any],
    hits: dict[str, Rows],
    truth: npt.NDArray[np.bool_],
    pool: Pool | PathPool,
    come_first: Sequence[str],
) -> list[str]:
    """Return the views that serve the labels: all that are as good as the best, and what clearly helps beside them.

    Smoothed views and walks come first, or `come_first` where neighbours differ. There it takes more for all views to
    compete: few of them are alike, and the best of many is often the luckiest. Views of several types of nodes are all
    taken: a few that do better on seen classes lose on hidden ones. Signs join unless fewer labels are found with them.
    """
    some = slice(None, MOST_TOGETHER)
    kernels = {name: _kernel(vectors[some]) for name, vectors in at.items()}

    def of(names: Sequence[str]) -> tuple[Rows, Rows]:
        return of_kernel(np.sum([kernels[name] for name in names], axis=0), truth[some])

    def best_of_other_kinds(names: Sequence[str]) -> list[str]:
        kinds: dict[Any, str] = {}
        for name in sorted(set(hits) - set(names), key=lambda name: (-float(hits[name].mean()), name)):
            kinds.setdefault(kind_of(name), name)
        return list(kinds.values())

    def best(names: Iterable[str]) -> str:
        return max(names, key=lambda name: float(hits[name].mean()))

    if pool.takes_all:
        return list(hits)
    usual = [name for name in hits if kind_of(name)[1] == "smooth" or kind_of(name)[0] in WALKS]
    usual = list(come_first) or usual
    begin = list(hits)
    if usual and not is_clearly_more(hits[best(hits)], hits[best(usual)], BETTER if come_first else ALIKE):
        walks = kind_of(best(usual))[0] in WALKS
        begin = [name for name in usual if (kind_of(name)[0] in WALKS) == walks]
    first = as_good_as_the_best({name: hits[name] for name in begin})
    names = add_views(first, best_of_other_kinds, of, MOST_JOINING)
    signs = [name for name in pool.signs if name not in names]
    return (
        names if signs and is_clearly_more(of(names)[0], of([*names, *signs])[0], ALIKE) else [*names, *signs]
    )


def _kernel(vectors: Table) -> npt.NDArray[np.float64]:
    """Return the products of all rows with each other, centred, for vectors of mean squared length 1."""
    centred = vectors - vectors.mean(axis=0)
    kernel = np.asarray(centred @ centred.T, dtype=np.float64)
    return kernel / (np.trace(kernel) / len(kernel) or 1.0)


def _in_words(best: str, pool: Pool | PathPool, alike: bool) -> str:
    """Return in plain words what the graph is like, by its labels and the view that finds most of them."""
    if best in pool.parts:
        return "paths of relations tell most here"
    if pool.graph.features is None:
        return "there are no features, so the structure is used"
    if needs_structure(best):
        return "the structure tells more than the features here"
    if kind_of(best)[1] in ("raw", "difference"):
        return (
            f"neighbours tend to {'be alike, but' if alike else 'differ here:'} features are used as they are"
        )
    tendency = "be alike here:" if alike else "differ, but"
    return f"neighbours tend to {tendency} features are averaged over them"


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
