"""RECT-N: one graph convolution whose outputs rebuild the walk matrix, the structure half of RECT.

U = PReLU(Ahat X W + b), minimising ||M - UU'||^2 / n with M = (Abar + Abar^2) / 2 (Section 4 of the paper). X is
row-normalised; without features it is the adjacency. The paper's loss costs O(d n^2), here it is O(nnz d + n d^2) and
exact: see :mod:`unseen.methods.neural.rect_losses`. The released code trains 50 epochs; this takes the paper's 100.
"""

from __future__ import annotations

from typing import Any

from unseen.engine import estimate
from unseen.engine.estimate import Resources, Sizes
from unseen.engine.run import Run
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.methods.base import Vectors
from unseen.methods.neural import torch
from unseen.methods.neural.rect_base import RectMethod, layer_input
from unseen.methods.neural.rect_losses import StructureLoss


class RECTN(RectMethod):
    """Vectors that keep the structure of the graph, and the features where there are any; no labels needed.

    Attributes
    ----------
    encoder_ : Encoder
        The trained layers.
    loss_history_ : list of float
        Loss of every epoch. Where ||M||^2 is expensive to compute (see `loss_is_relative_`) it is left out.
    loss_is_relative_ : bool
        Whether the constant ||M||^2 is missing from the losses, which can then be negative.
    stopped_by_ : str
        What ended the training before its last epoch: "", "callback", "tol" or "interrupt".
    """

    name = "rect-n"
    summary = "graph convolution that rebuilds the walk matrix, no labels"
    trains_on_parts = True

    @classmethod
    def resources(cls, sizes: Sizes) -> Resources:
        """Return the memory and the time that a fit takes; see :mod:`unseen.engine.estimate`."""
        s = sizes
        tall, weights = 4.0 * s.nodes * s.columns, 4.0 * s.feature_columns * s.columns
        step, pass_over = estimate.product_seconds(s, s.columns), estimate.dense_seconds(s, s.columns)
        if s.source == "features":
            products = 2 * s.feature_entries * s.columns * estimate.PRODUCT_SECONDS
            epoch = 6 * step + pass_over + products
            return Resources(6 * tall + 4 * weights, tall + 2 * weights, s.rounds * epoch, 6 * s.rounds + 1)
        # identity: weights, gradient, two moments, values before and after activation, two for the walk
        arrays, movable, count = (8, 4, 6) if s.source == "identity" else (10, 3, 8)
        work = s.nodes * s.columns * estimate.DRAW_SECONDS + s.rounds * (count * step + pass_over)
        return Resources(arrays * tall, movable * tall, work, count * s.rounds + 1)

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:  # noqa: ARG002
        self.source_ = self._source(graph)
        self._start_layers(graph, run)
        device = self.encoder_.device
        features = layer_input(graph, self.source_, device, run)
        structure = self._structure_loss(graph, device, run)
        self.loss_is_relative_ = not structure.has_constant
        return self._train_on_graph(features, graph, structure, run)

    def _structure_loss(self, graph: Graph, device: torch.device, run: Run) -> Any:
        """Return a function from U to the loss, its gradient by U, and those by its own `weights`."""
        return StructureLoss(run.matrix(graph.adjacency, symmetric=True), device)

    def _transform(self, graph: Graph, run: Run) -> Vectors:
        self._new_features(graph)
        return self._embedded(layer_input(graph, "features", self.encoder_.device, run), graph, run)
