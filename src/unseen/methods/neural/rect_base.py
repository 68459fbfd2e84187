"""What the methods of the RECT family share: their parameters, their features, their training, save and load."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from unseen.engine.run import Run
from unseen.graph import Graph
from unseen.ids import Singles
from unseen.linalg.normalize import l1_rows
from unseen.methods.base import Vectors
from unseen.methods.neural import torch
from unseen.methods.neural.adam import Best, NeuralMethod
from unseen.methods.neural.gcn_encoder import (
    Encoder,
    Input,
    SparseProduct,
    input_weights,
    pick_device,
    xavier,
)
from unseen.methods.vocabulary import EpochTolerance, FeatureSource, Hidden, KeepOnInterrupt

REFERENCE = "Wang et al., Network Embedding with Completely-imbalanced Labels, IEEE TKDE 2020"


class _Learnt:
    """What the methods of the family learn."""

    source_: str
    unit_rows_: bool = False  # a model file of an earlier version does not have it
    encoder_: Encoder
    stopped_by_: str


class RectMethod(_Learnt, NeuralMethod):
    """Base of the family: its parameters, sources of features, starting weights, new nodes, files."""

    reference = REFERENCE
    can_be_saved = True
    renamed: ClassVar[dict[str, str]] = {"keep_best": "keep_on_interrupt"}

    features: FeatureSource = "auto"
    hidden: Hidden = ()
    tol: EpochTolerance = 0.0
    keep_on_interrupt: KeepOnInterrupt = False

    def _source(self, graph: Graph) -> str:
        """Return where the features come from: "features", "adjacency" or "identity"."""
        if self.features == "auto":
            return "adjacency" if graph.features is None else "features"
        return self.features

    def _start_layers(self, graph: Graph, run: Run) -> None:
        """Make the encoder of the row-normalised features; weights that stand for nodes are keyed by their ids."""
        given = graph.features if self.source_ == "features" else None
        columns = None if given is None else given.shape[1]
        self._encode(lambda width: input_weights(graph, columns, width, run), run)

    def _encode(self, first: Callable[[int], Singles], run: Run) -> None:
        """Make the encoder; `first` gives the starting weights of its first layer for a width."""
        widths = [*(int(size) for size in self.hidden), self.n_components or self.default_components]
        weights = [first(widths[0]), *(xavier(a, b, run.rng) for a, b in pairwise(widths))]
        self.encoder_ = Encoder(weights, pick_device(self.device))

    def _train_on_graph(self, features: Input, graph: Graph, loss: Any, run: Run) -> Singles:
        """Train the encoder on all nodes, and what the loss learns."""
        return self._train_on(features, propagation(graph, self.encoder_.device, run), loss, run)

    def _train_on(
        self,
        features: Input,
        ahat: SparseProduct | None,
        loss: Any,
        run: Run,
        everything: Input | None = None,
    ) -> Singles:
        """Train on features, and return the vectors of these or of `everything`.

        The loss gives its value, its gradient by U and those by its own `weights`.
        """
        encoder = self.encoder_

        def gradients() -> tuple[float, list[torch.Tensor]]:
            value, dU, others = loss(encoder.forward(features, ahat, run))
            return value, [*encoder.backward(dU, features, ahat, run), *others]

        def vectors() -> Singles:
            rows: Singles = encoder.forward(everything or features, ahat, run).cpu().numpy()
            return rows

        weights = [*encoder.weights, *loss.weights]
        best = Best(weights) if self.keep_on_interrupt else None
        # copied, because the encoder uses its memory again in the next epoch
        history = self._take_steps(gradients, lambda: vectors().copy(), weights, run, tol=self.tol, best=best)
        self.stopped_by_ = history.stopped_by
        final = vectors()
        encoder.release()
        return final

    def _embedded(self, features: Input, graph: Graph, run: Run) -> Vectors:
        """Return the vectors that the trained encoder gives to a graph."""
        ahat = propagation(graph, self.encoder_.device, run)
        vectors: Vectors = self.encoder_.forward(features, ahat, run).cpu().numpy()
        self.encoder_.release()
        return vectors


def layer_input(graph: Graph, source: str, device: torch.device, run: Run) -> Input:
    """Return the row-normalised features as the first layer takes them; of identity there is nothing to store."""
    if source == "identity":
        return Input(None, device, run)
    if source == "adjacency":
        adjacency = run.matrix(graph.adjacency, symmetric=True)
        return Input(adjacency.row_normalized(), device, run, adjacency.column_normalized())
    assert graph.features is not None
    normalized = l1_rows(graph.features)
    return Input(normalized if isinstance(normalized, np.ndarray) else run.matrix(normalized), device, run)


def propagation(graph: Graph, device: torch.device, run: Run) -> SparseProduct:
    """Return Ahat on the device."""
    return SparseProduct(run.matrix(graph.adjacency, symmetric=True).gcn_normalized(), device)
