"""What the methods of the RECT family share: their parameters, their features, their training, save and load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from unseen.engine.run import Run
from unseen.engine.steps import Arrays, Training
from unseen.errors import InputError, UnsupportedError
from unseen.graph import Features, Graph
from unseen.linalg.normalize import l1_rows
from unseen.methods.base import Method, Vectors
from unseen.methods.neural import torch
from unseen.methods.neural.adam import Adam
from unseen.methods.neural.gcn_encoder import (
    Encoder,
    Input,
    SparseProduct,
    input_weights,
    pick_device,
    xavier,
)
from unseen.methods.vocabulary import (
    Callbacks,
    Columns,
    DescriptionColumns,
    Device,
    Epochs,
    EpochTolerance,
    FeatureSource,
    Hidden,
    KeepOnInterrupt,
    LayerInput,
    LearningRate,
    Readout,
    UnitRows,
)

REFERENCE = "Wang et al., Network Embedding with Completely-imbalanced Labels, IEEE TKDE 2020"


class _Learnt:
    """What the methods of the family learn."""

    source_: str
    n_features_: int
    unit_rows_: bool = False  # a model file of an earlier version does not have it
    encoder_: Encoder
    loss_history_: Any
    stopped_by_: str


class RectMethod(_Learnt, Method):
    """Base of the family: its parameters, sources of features, starting weights, new nodes, files."""

    reference: ClassVar[str] = REFERENCE
    extra: ClassVar[str] = "neural"
    uses_features: ClassVar[bool] = True
    can_be_saved: ClassVar[bool] = True
    renamed: ClassVar[dict[str, str]] = {"keep_best": "keep_on_interrupt"}

    n_components: Columns = None
    features: FeatureSource = "auto"
    hidden: Hidden = ()
    epochs: Epochs = 100
    learning_rate: LearningRate = 0.001
    tol: EpochTolerance = 0.0
    keep_on_interrupt: KeepOnInterrupt = False
    device: Device = "auto"
    callbacks: Callbacks = None

    def _source(self, graph: Graph) -> str:
        """Return where the features come from: "features", "adjacency" or "identity"."""
        if self.features == "auto":
            return "adjacency" if graph.features is None else "features"
        return self.features

    def _widths(self, width: int) -> list[int]:
        """Return the widths of the GCN layers, the last of which is the embedding's."""
        return [*(int(size) for size in self.hidden), width]

    def _encoder(self, graph: Graph, widths: list[int], run: Run) -> Encoder:
        """Return an encoder with Xavier's weights; rows that stand for nodes are keyed by the nodes' ids."""
        columns = self.n_features_ if self.source_ == "features" else None
        weights = [input_weights(graph, columns, widths[0], run)]
        weights += [xavier(a, b, run.rng) for a, b in pairwise(widths)]
        return Encoder(weights, pick_device(self.device))

    def _columns_of(self, graph: Graph) -> Features:
        """Return the features of a new graph, or say why there can be none."""
        source = self.source_
        if source != "features":
            what = "rows of the adjacency" if source == "adjacency" else "one of a kind for each node"
            msg = (
                f"{self.name} cannot embed new nodes here: its features are {what}, so that nothing carries over "
                "to nodes that were not there at fit time; fit again, or give the graph features"
            )
            raise UnsupportedError(msg)
        if graph.features is None or graph.features.shape[1] != self.n_features_:
            columns = 0 if graph.features is None else graph.features.shape[1]
            msg = f"the graph has {columns} features, at fit time there were {self.n_features_}"
            raise InputError(msg)
        return graph.features

    def _train(
        self,
        gradients: Callable[[], tuple[float, list[torch.Tensor]]],
        vectors: Callable[[], npt.NDArray[np.float32]],
        weights: Sequence[torch.Tensor],
        run: Run,
    ) -> npt.NDArray[np.float32]:
        """Train `weights` with Adam and return the vectors at the end."""
        steps = AdamSteps(gradients, weights, Adam(weights, self.learning_rate, run))
        training = Training(
            steps.evaluate,
            steps.update,
            vectors=lambda: vectors().copy(),  # the encoder uses its memory again in the next epoch
            state=steps.state,
            restore=steps.restore,
        )
        if self.keep_on_interrupt:
            training.improved, training.interrupted = steps.improved, steps.interrupted
        history = run.steps(self.name, self.epochs, training, callbacks=self.callbacks, tol=self.tol)
        self.loss_history_ = history.losses
        self.stopped_by_ = history.stopped_by
        final = vectors()
        self.encoder_.release()
        return final

    def _embedded(self, features: Input, graph: Graph, run: Run) -> Vectors:
        """Return the vectors that the trained encoder gives to a graph."""
        ahat = propagation(graph, self.encoder_.device, run)
        vectors: Vectors = self.encoder_.forward(features, ahat, run).cpu().numpy()
        self.encoder_.release()
        return vectors


class AdamSteps:
    """Steps of Adam with given gradients, as a training sees them."""

    def __init__(
        self,
        gradients: Callable[[], tuple[float, list[torch.Tensor]]],
        weights: Sequence[torch.Tensor],
        adam: Adam,
    ) -> None:
        self._gradients, self._weights, self._adam = gradients, weights, adam
        self._slopes: list[torch.Tensor] = []
        self._best: list[torch.Tensor] = []

    def evaluate(self) -> float:
        """Return the loss, and keep the gradients."""
        loss, self._slopes = self._gradients()
        return loss

    def update(self) -> None:
        """Move the weights."""
        self._adam.step(self._slopes)

    def improved(self) -> None:
        """Remember the weights."""
        if not self._best:
            self._best = [weight.detach().clone() for weight in self._weights]
        for best, weight in zip(self._best, self._weights, strict=True):
            best.copy_(weight.detach())

    def interrupted(self) -> str:
        """Put the best weights back."""
        for best, weight in zip(self._best, self._weights, strict=True):
            weight.copy_(best)
        return "the best state"

    def _tensors(self) -> dict[str, torch.Tensor]:
        named = (("weight", self._weights), ("first", self._adam.first), ("second", self._adam.second))
        return {f"{name}{k}": tensor for name, tensors in named for k, tensor in enumerate(tensors)}

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return weights and moments."""
        return {name: tensor.detach().cpu().numpy() for name, tensor in self._tensors().items()}

    def restore(self, done: int, arrays: Arrays) -> None:
        """Put weights and moments back."""
        self._adam.steps = done
        for name, tensor in self._tensors().items():
            tensor.copy_(torch.from_numpy(arrays[name]).to(tensor.device).view_as(tensor))


class SemanticMethod(RectMethod):
    """Base of those that learn from class-semantic descriptions."""

    uses_labels: ClassVar[bool] = True

    input: LayerInput = "svd"
    svd_components: DescriptionColumns = None
    unit_rows: UnitRows = "auto"
    readout: Readout = "mean"


def layer_input(graph: Graph, source: str, device: torch.device, run: Run) -> Input:
    """Return the row-normalised features as the first layer takes them; of identity there is nothing to store."""
    if source == "identity":
        return Input(None, device, run)
    if source == "adjacency":
        adjacency = run.matrix(graph.adjacency, symmetric=True)
        return Input(adjacency.row_normalized(), device, run, adjacency.column_normalized())
    if graph.features is None:
        msg = "`features` is 'features', but the graph has none"
        raise InputError(msg)
    normalized = l1_rows(graph.features)
    return Input(normalized if isinstance(normalized, np.ndarray) else run.matrix(normalized), device, run)


def propagation(graph: Graph, device: torch.device, run: Run) -> SparseProduct:
    """Return Ahat on the device."""
    return SparseProduct(run.matrix(graph.adjacency, symmetric=True).gcn_normalized(), device)
