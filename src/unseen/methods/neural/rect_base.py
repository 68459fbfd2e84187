"""What the methods of the RECT family share: their parameters, their features, their training, save and load."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from unseen.comm.graph_part import GraphPart, processes
from unseen.comm.halo import HaloMatrix
from unseen.embedding import Embedding
from unseen.errors import InputError, UnsupportedError
from unseen.graph import Features, Graph
from unseen.labels import Labels
from unseen.linalg.blocks import threads_for_blocks_only
from unseen.linalg.keyed import node_keys
from unseen.linalg.normalize import column_normalized, gcn_normalized, row_normalized
from unseen.methods.neural.gcn_encoder import Encoder, Input, SparseProduct, keyed_xavier, pick_device, xavier
from unseen.methods.saved import SavedMethod
from unseen.methods.training import Adam, run_epochs
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
from unseen.randomness import child_seed

if TYPE_CHECKING:
    from typing import Self

REFERENCE = "Wang et al., Network Embedding with Completely-imbalanced Labels, IEEE TKDE 2020"


class _Learnt:
    """What the methods of the family learn."""

    source_: str
    n_features_: int
    unit_rows_: bool = False  # a model file of an earlier version does not have it
    encoder_: Encoder
    loss_history_: Any
    stopped_by_: str


class RectMethod(_Learnt, SavedMethod):
    """Base of the family: its parameters, sources of features, starting weights, new nodes, files."""

    reference: ClassVar[str] = REFERENCE
    uses_features: ClassVar[bool] = True
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

    def fit(self, graph: Graph, labels: Labels | Iterable[Any] | None = None) -> Self:
        """Learn vectors for every node of `graph`; see :meth:`Method.fit`."""
        with threads_for_blocks_only():
            return super().fit(graph, labels)

    def transform(self, graph: Graph) -> Embedding:
        """Return vectors for the nodes of `graph`, new ones included; see :meth:`Method.transform`."""
        with threads_for_blocks_only():
            return super().transform(graph)

    def _source(self, graph: Graph) -> str:
        """Return where the features come from: "features", "adjacency" or "identity"."""
        if self.features == "auto":
            return "adjacency" if graph.features is None else "features"
        return self.features

    def _widths(self, width: int) -> list[int]:
        """Return the widths of the GCN layers, the last of which is the embedding's."""
        return [*(int(size) for size in self.hidden), width]

    def _encoder(
        self, graph: Graph, source: str, columns: int, widths: list[int], rng: np.random.Generator
    ) -> Encoder:
        """Return an encoder with Xavier's weights; rows that stand for nodes are keyed by the nodes' ids."""
        seed = child_seed(rng)
        if source == "features":
            weights = [xavier(columns, widths[0], rng)]
        else:
            weights = [keyed_xavier(node_keys(graph.node_ids, seed), widths[0], graph.n_nodes)]
        weights += [xavier(a, b, rng) for a, b in pairwise(widths)]
        return Encoder(
            weights,
            pick_device(self.device),
            comm=processes(graph),
            spread=source != "features",
            rows=graph.n_nodes,
        )

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
            found = 0 if graph.features is None else graph.features.shape[1]
            msg = f"the graph has {found} features, at fit time there were {self.n_features_}"
            raise InputError(msg)
        return graph.features

    def _train(
        self,
        gradients: Callable[[], tuple[float, list[torch.Tensor]]],
        vectors: Callable[[], npt.NDArray[np.float32]],
        weights: Sequence[torch.Tensor],
    ) -> npt.NDArray[np.float32]:
        """Train `weights` with Adam and return the vectors at the end."""
        adam = Adam(weights, self.learning_rate)
        state = {f"weight{k}": weight for k, weight in enumerate(weights)}
        state |= {f"first{k}": moment for k, moment in enumerate(adam.first)}
        state |= {f"second{k}": moment for k, moment in enumerate(adam.second)}
        found: list[torch.Tensor] = []

        def evaluate() -> float:
            loss, found[:] = gradients()
            return loss

        history = run_epochs(
            evaluate,
            lambda: adam.step(found),
            method=self.name,
            epochs=self.epochs,
            vectors=lambda: vectors().copy(),  # the encoder uses its memory again in the next epoch
            callbacks=self.callbacks,
            tol=self.tol,
            best_of=weights if self.keep_on_interrupt else (),
            state=state,
            resumed=lambda done: setattr(adam, "steps", done),
        )
        self.loss_history_ = history.losses
        self.stopped_by_ = history.stopped_by
        final = vectors()
        self.encoder_.release()
        return final


class SemanticMethod(RectMethod):
    """Base of those that learn from class-semantic descriptions."""

    uses_labels: ClassVar[bool] = True

    input: LayerInput = "svd"
    svd_components: DescriptionColumns = None
    unit_rows: UnitRows = "auto"
    readout: Readout = "mean"


def layer_input(graph: Graph | GraphPart, source: str, device: torch.device) -> Input:
    """Return the row-normalised features as the first layer takes them; of identity there is nothing to store."""
    if source == "identity":
        return Input(None, device)
    features = graph.adjacency if source == "adjacency" else graph.features
    if features is None:
        msg = "`features` is 'features', but the graph has none"
        raise InputError(msg)
    if isinstance(features, HaloMatrix):
        return Input(row_normalized(features), device, column_normalized(features))
    return Input(rows_to_one(features), device)


def propagation(graph: Graph | GraphPart, device: torch.device) -> SparseProduct:
    """Return Ahat on the device."""
    return SparseProduct(gcn_normalized(graph.adjacency), device)


def rows_to_one(features: Features) -> Features:
    """Return the features with the absolute values of every row summing to 1; zero rows stay zero.

    Examples
    --------
    >>> rows_to_one(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    sums = np.asarray(abs(features).sum(axis=1), dtype=np.float64).ravel()
    inverse = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums != 0)
    if isinstance(features, np.ndarray):
        return features * inverse[:, None]
    scaled = features.data * np.repeat(inverse, np.diff(features.indptr))
    return sp.csr_array((scaled, features.indices, features.indptr), shape=features.shape)
