"""Joint RECT: one encoder trained on both losses of RECT at once, which the paper leaves as future work.

U = PReLU(Ahat X W + b), minimising (1 - balance) * structure + balance * semantic, where structure is ||M - UU'||^2
as a share of ||M||^2, and semantic the squared error of the class-semantic descriptions that a linear layer predicts
from U, as a share of their mean squared length: so the balance means the same on every graph.
"""

from __future__ import annotations

import numpy as np

from unseen.engine.run import Run
from unseen.errors import logger
from unseen.graph import Graph
from unseen.ids import Singles
from unseen.labels import Labels
from unseen.linalg.normalize import l2_rows
from unseen.linalg.walk import WalkMatrix
from unseen.methods.base import Vectors
from unseen.methods.neural.rect_l import SemanticMethod
from unseen.methods.neural.rect_losses import JointLoss, StructureLoss
from unseen.methods.semantics import shares_of
from unseen.methods.vocabulary import Balance, LayerInput
from unseen.randomness import child_seed

PROBES = 32
"""Random vectors that estimate ||M||^2 where it is expensive to compute."""


class RECTJoint(SemanticMethod):
    """One encoder for what the labels say and how the graph is built.

    It is shorter than RECT's vectors and one training instead of two; where it is better is in
    ``paper/docs/notes/performance.md``.
    Without any label it is RECT-N, and a warning says so.

    Attributes
    ----------
    class_descriptions_ : dict of str to list of (str, float)
        Strongest words of each seen class, see :class:`RECTL`.
    loss_history_ : list of float
        The weighted sum of the two losses in every epoch.
    """

    name = "rect-joint"
    summary = "one encoder trained on both losses of rect at once"

    balance: Balance = 0.01
    input: LayerInput = "raw"

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        # a seed of its own, so that the encoder starts like RECT-N's
        Z = self._reduced(graph, child_seed(run.rng.spawn(1)[0]), run)
        self._start_layers(graph, run, Z.shape[1])
        features = self._layer_input(graph, Z, run)
        structure = StructureLoss(run.matrix(graph.adjacency, symmetric=True), self.encoder_.device)
        per_structure = (1 - self.balance) / (walk_size(graph, structure, run) / graph.n_nodes)
        head, per_semantic = None, 0.0
        self.class_descriptions_: dict[str, list[tuple[str, float]]] = {}
        if len(labels.labelled):
            self._describe(graph, labels, Z, run)
            size = float(((shares_of(labels) @ self.class_vectors_) ** 2).sum(axis=1).mean())
            head, per_semantic = self._head(labels, run), self.balance / size if size else 0.0
        else:
            logger.warning("rect-joint: there are no labels, so only the structure of the graph is learned")
        loss = JointLoss(head, labels.labelled, per_semantic, structure, per_structure)
        return self._train_on_graph(features, graph, loss, run)

    def _rows(self, Z: Singles) -> Singles:
        return l2_rows(Z)


def walk_size(graph: Graph, structure: StructureLoss, run: Run) -> float:
    """Return ||M||^2, or an estimate where it is expensive: the mean of ||Mv||^2 over random signs v."""
    seed = child_seed(run.rng)
    if structure.has_constant:
        return structure.constant or 1.0
    signs = np.random.default_rng(seed).choice(np.array([-1.0, 1.0]), size=(graph.n_nodes, PROBES))
    walked = WalkMatrix(run.matrix(graph.adjacency, symmetric=True)).matmat(signs)
    return float((walked**2).sum() / PROBES) or 1.0
