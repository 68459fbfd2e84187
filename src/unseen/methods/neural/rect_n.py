"""RECT-N: one graph convolution whose outputs rebuild the walk matrix, the structure half of RECT.

U = PReLU(Ahat X W + b), minimising ||M - UU'||^2 / n with M = (Abar + Abar^2) / 2 (Section 4 of the paper). X is
row-normalised; without features it is the adjacency. The paper's loss costs O(d n^2), here it is O(nnz d + n d^2) and
exact: see :mod:`unseen.methods.neural.rect_losses`. The released code trains 50 epochs; this takes the paper's 100.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch

from unseen.graph import Graph
from unseen.labels import Labels
from unseen.methods.base import Vectors
from unseen.methods.neural.gcn_encoder import pick_device
from unseen.methods.neural.rect_base import RectMethod, layer_input, propagation
from unseen.methods.neural.rect_losses import StructureLoss


class RECTN(RectMethod):
    """Vectors that keep the structure of the graph, and the features where there are any; no labels needed.

    Attributes
    ----------
    encoder_ : Encoder
        The trained layers.
    loss_history_ : list of float
        Loss of every epoch. Where ||M||^2 is dear to compute (see `loss_is_relative_`) it is left out.
    loss_is_relative_ : bool
        Whether the constant ||M||^2 is missing from the losses, which can then be negative.
    stopped_by_ : str
        What ended the training before its last epoch: "", "callback", "tol" or "interrupt".

    Examples
    --------
    >>> import unseen
    >>> graph = unseen.load_dataset("debian").graph
    >>> unseen.RECTN(n_components=16, epochs=5, random_state=0).fit_transform(graph)
    Embedding(4852 nodes, 16 columns, by rect-n)
    """

    name: ClassVar[str] = "rect-n"
    summary: ClassVar[str] = "graph convolution that rebuilds the walk matrix, no labels"

    def _fit(self, graph: Graph, labels: Labels, rng: np.random.Generator) -> Vectors:  # noqa: ARG002
        device = pick_device(self.device)
        widths = self._widths(self.n_components or self.default_components)
        self.source_ = self._source(graph)
        self.n_features_ = 0 if graph.features is None else graph.features.shape[1]
        self.encoder_ = encoder = self._encoder(graph, self.source_, self.n_features_, widths, rng)
        features, ahat = layer_input(graph, self.source_, device), propagation(graph, device)
        structure = self._structure_loss(graph, widths[-1], device, rng)
        self.loss_is_relative_ = not structure.has_constant

        def gradients() -> tuple[float, list[torch.Tensor]]:
            loss, dU, others = structure(encoder.forward(features, ahat))
            return loss, [*encoder.backward(dU, features, ahat), *others]

        def vectors() -> npt.NDArray[np.float32]:
            made: npt.NDArray[np.float32] = encoder.forward(features, ahat).cpu().numpy()
            return made

        return self._train(gradients, vectors, [*encoder.weights, *structure.weights])

    def _structure_loss(
        self,
        graph: Graph,
        width: int,  # noqa: ARG002
        device: torch.device,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> Any:
        """Return a function from U to the loss, its gradient by U, and those by its own `weights`."""
        return StructureLoss(graph.adjacency, device)

    def _transform(self, graph: Graph) -> Vectors:
        self._columns_of(graph)
        device = pick_device(self.device)
        made: Vectors = (
            self.encoder_.forward(layer_input(graph, "features", device), propagation(graph, device))
            .cpu()
            .numpy()
        )
        self.encoder_.release()
        return made
