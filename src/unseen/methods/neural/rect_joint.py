"""Joint RECT: one encoder trained on both losses of RECT at once, which the paper leaves as future work.

U = PReLU(Ahat X W + b), minimising (1 - balance) * structure + balance * semantic, where structure is ||M - UU'||^2
as a share of ||M||^2, and semantic the squared error of the class-semantic descriptions that a linear layer predicts
from U, as a share of their mean squared length: so the balance means the same on every graph.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from unseen.engine.run import Run
from unseen.errors import logger
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.linalg.normalize import l2_rows
from unseen.linalg.svd import project
from unseen.linalg.walk import WalkMatrix
from unseen.methods.base import Vectors
from unseen.methods.neural import torch
from unseen.methods.neural.gcn_encoder import Encoder, Input, pick_device, xavier
from unseen.methods.neural.rect_base import SemanticMethod, layer_input, propagation
from unseen.methods.neural.rect_l import reduced_features, scales_rows
from unseen.methods.neural.rect_losses import SemanticLoss, StructureLoss
from unseen.methods.semantics import describe_classes, shares_of, words_of
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

    Examples
    --------
    >>> import unseen
    >>> data = unseen.load_dataset("debian")
    >>> split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["mail"], random_state=0)
    >>> unseen.RECTJoint(n_components=16, epochs=5, random_state=0).fit_transform(data.graph, split.seen_labels)
    Embedding(4852 nodes, 16 columns, by rect-joint)
    """

    name: ClassVar[str] = "rect-joint"
    summary: ClassVar[str] = "one encoder trained on both losses of rect at once"

    balance: Balance = 0.01
    input: LayerInput = "raw"

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        device = pick_device(self.device)
        widths = self._widths(self.n_components or self.default_components)
        self.source_ = self._source(graph)
        self.n_features_ = 0 if graph.features is None else graph.features.shape[1]
        other = run.seeded(child_seed(run.rng.spawn(1)[0]))  # so that the encoder starts like RECT-N's
        self.unit_rows_ = scales_rows(self.unit_rows, graph, self.source_, run)
        Z, self.axes_ = reduced_features(
            graph, self.source_, self.svd_components, self.name, other, unit_rows=self.unit_rows_
        )
        if self.input == "raw":
            features = layer_input(graph, self.source_, device, run)
            self.encoder_ = self._encoder(graph, widths, run)
        else:
            features = Input(l2_rows(Z), device, run)
            weights = [xavier(a, b, run.rng) for a, b in zip([Z.shape[1], *widths], widths, strict=False)]
            self.encoder_ = Encoder(weights, device)
        encoder, ahat = self.encoder_, propagation(graph, device, run)
        structure = StructureLoss(run.matrix(graph.adjacency, symmetric=True), device)
        per_structure = (1 - self.balance) / (walk_size(graph, structure, run) / graph.n_nodes)
        head, per_semantic = self._semantics(graph, labels, Z, widths[-1], device, run)
        rows = torch.from_numpy(labels.labelled.copy()).to(device)

        def gradients() -> tuple[float, list[torch.Tensor]]:
            U = encoder.forward(features, ahat, run)
            loss, dU, _ = structure(U)
            loss *= per_structure
            dU.mul_(per_structure)
            by_head: list[torch.Tensor] = []
            if head is not None:
                semantic, dH, by_head = head(U[rows])
                loss += per_semantic * semantic
                dU[rows] += dH.mul_(per_semantic)
                by_head = [gradient.mul_(per_semantic) for gradient in by_head]
            return loss, [*encoder.backward(dU, features, ahat, run), *by_head]

        def vectors() -> npt.NDArray[np.float32]:
            table: npt.NDArray[np.float32] = encoder.forward(features, ahat, run).cpu().numpy()
            return table

        weights_of_head = [] if head is None else head.weights
        return self._train(gradients, vectors, [*encoder.weights, *weights_of_head], run)

    def _semantics(
        self, graph: Graph, labels: Labels, Z: Any, width: int, device: torch.device, run: Run
    ) -> tuple[SemanticLoss | None, float]:
        """Return the semantic loss and its weight, or no loss where there are no labels."""
        self.class_descriptions_: dict[str, list[tuple[str, float]]] = {}
        if not len(labels.labelled):
            logger.warning("rect-joint: there are no labels, so only the structure of the graph is learned")
            return None, 0.0
        self.class_vectors_ = describe_classes(Z, labels, self.readout, run)
        self.class_descriptions_ = words_of(graph, self.source_, labels, self.class_vectors_, Z, self.axes_)
        shares = shares_of(labels)
        size = float(((shares @ self.class_vectors_) ** 2).sum(axis=1).mean())
        head = SemanticLoss(shares, self.class_vectors_, xavier(width, Z.shape[1], run.rng), device, run)
        return head, self.balance / size if size else 0.0

    def _transform(self, graph: Graph, run: Run) -> Vectors:
        columns = self._columns_of(graph)
        device = self.encoder_.device
        if self.input == "raw" or self.axes_ is None:
            return self._embedded(layer_input(graph, "features", device, run), graph, run)
        Z = l2_rows(project(columns, self.axes_, run, unit_rows=self.unit_rows_))
        return self._embedded(Input(Z, device, run), graph, run)


def walk_size(graph: Graph, structure: StructureLoss, run: Run) -> float:
    """Return ||M||^2, or an estimate where it is expensive: the mean of ||Mv||^2 over random signs v."""
    seed = child_seed(run.rng)
    if structure.has_constant:
        return structure.constant or 1.0
    signs = np.random.default_rng(seed).choice(np.array([-1.0, 1.0]), size=(graph.n_nodes, PROBES))
    walked = WalkMatrix(run.matrix(graph.adjacency, symmetric=True)).matmat(signs)
    return float((walked**2).sum() / PROBES) or 1.0
