"""RSDNE and RSDNE*, the paper's shallow methods: J = J_DW + alpha (J_intra + J_inter) (section 3).

J_DW = ||M - U H||^2 + lam (||U||^2 + ||H||^2) factorises the walk matrix (see :mod:`unseen.methods.mfdw`).
J_intra = 1/2 sum_ij S_ij |u_i - u_j|^2 keeps each labelled node close to k nodes of its class, which are chosen anew
each round: the k nearest (RSDNE), or the k nearest of candidates drawn once (RSDNE*).
J_inter = 1/2 sum_ij W_ij |u_i - u_j|^2, W = M without the entries between differently labelled nodes.

Where the released code differs: its Python version removes those entries from the very matrix it factorises,
chooses S at random once, and ignores k. This follows the paper, as the Matlab version does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar

from unseen.comm.graph_part import GraphPart, processes
from unseen.errors import InputError, UnsupportedError, logger
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.linalg.labelled import Groups, LabelledWalk, label_groups
from unseen.linalg.neighbours import (
    Neighbours,
    draw_candidates,
    nearest_in_class,
    nearest_of_candidates,
    pairs_of,
)
from unseen.linalg.spread import SpreadCandidates, SpreadNeighbours, spread_groups
from unseen.linalg.walk import WalkMatrix
from unseen.methods.mfdw import MFDW, Keys
from unseen.methods.rsdne_solvers import Objective
from unseen.methods.vocabulary import Candidates, InterClass, IntraClass, LabelWeight, Neighbors

Chooser = Callable[[Any], Neighbours | SpreadNeighbours]


class RSDNE(MFDW):
    """Factorisation of the walk matrix that keeps same-labelled nodes on a manifold; needs no features.

    Attributes
    ----------
    context_, loss_history_, n_iter_, converged_
        As for :class:`~unseen.methods.mfdw.MFDW`.
    neighbour_seconds_ : float
        Time the S steps took, the only part of RSDNE that is not linear in the graph.

    Notes
    -----
    Nodes with several labels are an extension, which the paper leaves out: two nodes are of the same class if they
    share at least one label. Memory then also grows with the pairs of label sets that meet at a node.

    Without any label there is nothing that tells classes apart, and the result is that of MFDW; a warning says so.

    `transform` solves the U step of new nodes with H and the known nodes fixed; they count as unlabelled. That is
    an approximation: a refit would move H and the known nodes too.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.load_dataset("debian")
    >>> split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["mail", "web"], random_state=0)
    >>> method = unseen.RSDNE(n_components=16, max_iter=3, random_state=0)
    >>> method.fit_transform(data.graph, split.seen_labels)
    Embedding(4852 nodes, 16 columns, by rsdne)
    >>> method.loss_history_[-1] < method.loss_history_[0]
    True
    """

    name: ClassVar[str] = "rsdne"
    summary: ClassVar[str] = "factorisation with label terms that cope with missing classes"
    reference: ClassVar[str] = "Wang et al., Network Embedding with Completely-imbalanced Labels, TKDE 2020"
    uses_labels: ClassVar[bool] = True

    alpha: LabelWeight = 1.0
    n_neighbors: Neighbors = 5
    intra: IntraClass = "adaptive"
    inter: InterClass = True

    def _objective(
        self, graph: Graph, labels: Labels, walk: WalkMatrix, keys: Keys, constant: float
    ) -> Objective:
        if not processes(graph).total(len(labels.labelled)):
            logger.warning(
                "%s: no node has a label, so the label terms are left out and the result is MFDW's", self.name
            )
            return Objective(walk, self.lam, constant=constant)
        if self.alpha == 0:
            return Objective(walk, self.lam, constant=constant)
        if isinstance(graph, GraphPart):
            return self._spread_objective(graph, labels, walk, keys, constant)
        groups = label_groups(labels.indicator)
        if labels.is_multilabel:
            logger.info("%s: nodes that share at least one label count as the same class", self.name)
        small = [
            name
            for name, count in zip(labels.classes, labels.counts, strict=True)
            if 0 < count <= self.n_neighbors
        ]
        if small and self.intra is not None:
            logger.info(
                "%s: fewer than %d others of their class for the labelled nodes of: %s; they take all there are",
                self.name,
                self.n_neighbors,
                ", ".join(small),
            )
        pruned = LabelledWalk(graph.adjacency, groups) if self.inter else None
        chooser = self._chooser(groups, keys)
        return Objective(walk, self.lam, self.alpha, pruned, chooser and self._timed(chooser), constant)

    def _spread_objective(
        self, part: GraphPart, labels: Labels, walk: WalkMatrix, keys: Keys, constant: float
    ) -> Objective:
        """Return the objective of the rows that one of several processes holds."""
        if part.comm.total(labels.is_multilabel):
            msg = f"{self.name} takes one label a node on several processes; take one process, or one label a node"
            raise UnsupportedError(msg)
        groups = spread_groups(labels.indicator, part.comm)
        pruned = LabelledWalk(part.adjacency, groups) if self.inter else None
        chooser = self._spread_chooser(part, groups, keys)
        return Objective(walk, self.lam, self.alpha, pruned, chooser and self._timed(chooser), constant)

    def _spread_chooser(self, part: GraphPart, groups: Groups, keys: Keys) -> Chooser | None:
        if self.intra is None:
            return None
        if self.intra == "random":
            drawn = SpreadCandidates(part.adjacency.halo.layout, groups, keys, self.n_neighbors, 1).all()
            return lambda _: drawn
        msg = (
            f"{self.name} compares all nodes of a class with each other, for which one process must hold them; "
            "take rsdne-light, or one process"
        )
        raise UnsupportedError(msg)

    def _timed(self, choose: Chooser) -> Chooser:
        self.neighbour_seconds_ = 0.0

        def timed(U: Any) -> Neighbours | SpreadNeighbours:
            start = time.monotonic()
            chosen = choose(U)
            self.neighbour_seconds_ += time.monotonic() - start
            return chosen

        return timed

    def _chooser(self, groups: Groups, keys: Keys) -> Chooser | None:
        if self.intra is None:
            return None
        if self.intra == "random":
            fixed = pairs_of(draw_candidates(groups, keys, self.n_neighbors))
            return lambda _: fixed
        return lambda U: nearest_in_class(U, groups, self.n_neighbors)


class RSDNELight(RSDNE):
    """RSDNE*: RSDNE whose intra-class neighbours come from candidates drawn once, linear in the graph.

    Notes
    -----
    The nodes of a class stand in a circle in random order, and every node's candidates stand at the same random
    distances from it: each set of candidates is as likely as any other, and drawing takes linear time.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.load_dataset("debian")
    >>> split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["mail", "web"], random_state=0)
    >>> unseen.RSDNELight(n_components=16, max_iter=3, random_state=0).fit_transform(data.graph, split.seen_labels)
    Embedding(4852 nodes, 16 columns, by rsdne-light)
    """

    name: ClassVar[str] = "rsdne-light"
    summary: ClassVar[str] = "RSDNE with candidates drawn once, for large graphs"

    n_candidates: Candidates = None

    def _chooser(self, groups: Groups, keys: Keys) -> Chooser | None:
        if self.intra != "adaptive":
            return super()._chooser(groups, keys)
        candidates = draw_candidates(groups, keys, self._count())
        return lambda U: nearest_of_candidates(U, candidates, self.n_neighbors)

    def _spread_chooser(self, part: GraphPart, groups: Groups, keys: Keys) -> Chooser | None:
        if self.intra != "adaptive":
            return super()._spread_chooser(part, groups, keys)
        layout = part.adjacency.halo.layout
        return SpreadCandidates(layout, groups, keys, self._count(), self.n_neighbors).nearest

    def _count(self) -> int:
        count = 20 * self.n_neighbors if self.n_candidates is None else self.n_candidates
        if count < self.n_neighbors:
            msg = (
                f"`n_candidates` of {type(self).__name__} is {count}, which is fewer than its {self.n_neighbors} "
                "neighbours; give more candidates, or None for 20 times as many"
            )
            raise InputError(msg)
        return count
