"""RSDNE and RSDNE*, the paper's shallow methods: J = J_DW + alpha (J_intra + J_inter) (section 3).

J_DW = ||M - U H||^2 + lam (||U||^2 + ||H||^2) factorises the walk matrix (see :mod:`unseen.methods.mfdw`).
J_intra = 1/2 sum_ij S_ij |u_i - u_j|^2 keeps each labelled node close to k nodes of its class, which are chosen again
each round: the k nearest (RSDNE), or the k nearest of candidates drawn once (RSDNE*).
J_inter = 1/2 sum_ij W_ij |u_i - u_j|^2, W = M without the entries between differently labelled nodes.

Where the released code differs: its Python version removes those entries from the very matrix it factorises,
chooses S at random once, and ignores k. This follows the paper, as the Matlab version does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.engine.sparse import Matrix
from unseen.errors import InputError, UnsupportedError, logger
from unseen.ids import Keys
from unseen.labels import Labels
from unseen.linalg import neighbours
from unseen.linalg.labelled import Groups, LabelledWalk, label_groups
from unseen.linalg.neighbours import Neighbours, nearest_in_class
from unseen.methods.mfdw import MFDW
from unseen.methods.vocabulary import Candidates, InterClass, IntraClass, Neighbors, OptionalLabelWeight

if TYPE_CHECKING:
    from unseen.engine.memory import Job

Chooser = Callable[[Any], Neighbours]
MANY_NEIGHBOURS = 100
"""Neighbours per node from which on a graph is dense: the paper's have 3 to 65, graphs of correlations 200 to 350."""


class RSDNE(MFDW):
    """Factorisation of the walk matrix that keeps same-labelled nodes on a manifold; needs no features.

    Attributes
    ----------
    context_, loss_history_, n_iter_, converged_
        As for :class:`~unseen.methods.mfdw.MFDW`.
    alpha_ : float
        The weight of the label terms that was used.

    Notes
    -----
    On a dense graph nearly all rows of M are the same, and with the paper's weight of 1 the label terms pull all nodes
    to one point. Where nodes have more than 100 neighbours on average (a neighbour counts by its share of the weight),
    `alpha=None` divides 1 by that number, and a warning names the weight.

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

    reference = "Wang et al., Network Embedding with Completely-imbalanced Labels, TKDE 2020"
    _traits = replace(
        MFDW._traits,
        name="rsdne",
        summary="factorisation with label terms that cope with missing classes",
        uses_labels=True,
        trains_on_parts=False,
    )

    alpha: OptionalLabelWeight = None
    n_neighbors: Neighbors = 5
    intra: IntraClass = "adaptive"
    inter: InterClass = True

    @classmethod
    def _bytes_needed(cls, job: Job) -> float:
        labelled = 2100.0 * job.nodes + 1600.0 * job.labelled + 250.0 * job.entries
        return max(super()._bytes_needed(job), 8 * job.tall + labelled)

    @classmethod
    def _smaller_method(cls) -> type[RSDNE]:
        """Return the variant that trains on parts."""
        return RSDNELight

    def _label_terms(self, adjacency: Matrix, labels: Labels, keys: Keys) -> dict[str, Any]:
        run = adjacency.run
        if not run.count(len(labels.labelled)):
            sentence = "%s: no node has a label, so the label terms are left out and the result is MFDW's"
            logger.warning(sentence, self._name)
            self.alpha_ = 0.0
            return {}
        self.alpha_ = self._weight(adjacency)
        if self.alpha_ == 0:
            return {}
        groups = label_groups(labels.indicator, run)
        if labels.is_multilabel:
            logger.info("%s: nodes that share at least one label count as the same class", self._name)
        counts, k = run.sum(labels.counts.copy()), self.n_neighbors
        few = [name for name, count in zip(labels.classes, counts, strict=True) if 0 < count <= k]
        if few and self.intra is not None:
            message = "%s: fewer than %d others of their class for the labelled nodes of: %s; they take all there are"
            logger.info(message, self._name, k, ", ".join(few))
        pruned = LabelledWalk(adjacency, groups) if self.inter else None
        chooser = self._chooser(adjacency, groups, keys)
        return {"alpha": self.alpha_, "inter": pruned, "choose": chooser}

    def _weight(self, adjacency: Matrix) -> float:
        """Return `alpha`, or by default the paper's, less on a dense graph."""
        run, A = adjacency.run, adjacency.local
        total, squares = (np.asarray(part.sum(axis=1), dtype=np.float64) for part in (A, A * A))
        numbers = np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)
        neighbours_each = float(run.sum(np.array([numbers.sum()]))[0] / max(run.count(len(numbers)), 1))
        given, scaled = self.alpha, 1.0 / max(neighbours_each, 1.0)
        if neighbours_each <= MANY_NEIGHBOURS:
            return 1.0 if given is None else given
        dense = f"{self._name}: the graph is dense ({neighbours_each:.0f} neighbours per node)"
        if given is None:
            logger.warning("%s, so `alpha` is %.2g instead of 1", dense, scaled)
            return scaled
        if given > 10 * scaled:
            sentence = (
                "%s, where the label terms with `alpha` = %g outweigh the graph; `alpha=None` takes %.2g"
            )
            logger.warning(sentence, dense, given, scaled)
        return given

    def _chooser(self, adjacency: Matrix, groups: Groups, keys: Keys) -> Chooser | None:
        """Return the S step: from U to the intra-class neighbours."""
        run = adjacency.run
        if self.intra is None:
            return None
        if self.intra == "random":
            drawn = neighbours.Candidates(adjacency.layout, groups, keys, self.n_neighbors, run).all()
            return lambda _: drawn
        if run.processes > 1:
            msg = (
                f"{self._name} compares all nodes of a class with each other, for which one process must hold them; "
                "use rsdne-light, or one process"
            )
            raise UnsupportedError(msg)
        return lambda U: nearest_in_class(U, groups, self.n_neighbors, run)


class RSDNELight(RSDNE):
    """RSDNE*: RSDNE whose intra-class neighbours come from candidates drawn once, linear in the graph.

    Notes
    -----
    The nodes of a class stand in a circle in random order, and every node's candidates stand at the same random
    distances from it: each set of candidates is as likely as any other, and drawing takes linear time.
    """

    _traits = replace(
        RSDNE._traits,
        name="rsdne-light",
        summary="RSDNE with candidates drawn once, for large graphs",
        trains_on_parts=True,
    )

    n_candidates: Candidates = None

    def _chooser(self, adjacency: Matrix, groups: Groups, keys: Keys) -> Chooser | None:
        if self.intra != "adaptive":
            return super()._chooser(adjacency, groups, keys)
        count = 20 * self.n_neighbors if self.n_candidates is None else self.n_candidates
        if count < self.n_neighbors:
            msg = (
                f"`n_candidates` of {type(self).__name__} is {count}, which is fewer than its {self.n_neighbors} "
                "neighbours; give more candidates, or None for 20 times as many"
            )
            raise InputError(msg)
        candidates = neighbours.Candidates(adjacency.layout, groups, keys, count, adjacency.run)
        return lambda U: candidates.nearest(U, self.n_neighbors)
