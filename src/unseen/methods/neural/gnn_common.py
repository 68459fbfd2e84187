"""What GCN, APPNP and DGI have in common: PyTorch Geometric's layers over sparse input, label losses, early stopping.

The first layer multiplies features in CSR instead of a dense matrix, which changes the price and not the result.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn import functional

from unseen.engine.run import Run
from unseen.engine.sparse import inverse
from unseen.engine.steps import Training
from unseen.errors import InputError
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.linalg.normalize import gcn_normalized
from unseen.methods.base import Method, Vectors
from unseen.methods.neural.gcn_encoder import pick_device
from unseen.methods.neural.gnn_sparse import Features, SparseMatrix, sparse_product
from unseen.methods.vocabulary import Callbacks, Columns, Device, Epochs, RowNormalize
from unseen.randomness import child_seed

with warnings.catch_warnings():
    # Importing PyTorch Geometric compiles some classes in a way that torch has deprecated; no user can help that.
    warnings.simplefilter("ignore", DeprecationWarning)
    from torch_geometric import nn as pyg
    from torch_geometric.nn.inits import glorot, reset, zeros

GCNLayer: Any = pyg.GCNConv
PropagationLayer: Any = pyg.APPNP
InfomaxModel: Any = pyg.DeepGraphInfomax
DENSE_ABOVE = 0.5
"""Share of nonzero entries above which features that come as an ndarray are multiplied as one."""

Made = TypeVar("Made")


class InputLinear(torch.nn.Module):
    """X W for X sparse or dense, W stored as (in, out) because that is how a sparse product reads it."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(in_channels, out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start again, from Glorot's uniform distribution."""
        glorot(self.weight)

    def forward(self, x: Features) -> Tensor:
        """Return X W."""
        return x @ self.weight


class Convolution(GCNLayer):  # type: ignore[misc]  # PyTorch Geometric is not typed for us
    """PyTorch Geometric's GCN layer over a normalised, symmetric adjacency, with its linear map given.

    Parameters
    ----------
    linear : Module
        The map before aggregation: an `InputLinear`, or the identity where it has been applied already.
    width : int
        Its number of columns.
    bias : bool
        Whether to learn a term to add.
    """

    def __init__(self, linear: torch.nn.Module, width: int, *, bias: bool) -> None:
        super().__init__(width, width, normalize=False, bias=bias)
        self.lin = linear

    def reset_parameters(self) -> None:
        """Start again."""
        reset(self.lin)
        zeros(self.bias)

    def message_and_aggregate(self, adj_t: Tensor, x: Tensor) -> Tensor:
        """Return Ahat X; Ahat is its own transpose."""
        return sparse_product(x, adj_t, adj_t)


class _Learnt:
    """What the networks learn."""

    network_: Any
    has_features_: bool
    n_features_: int
    loss_history_: list[float]


class NetworkMethod(_Learnt, Method):
    """A network over features and graph: what it reads, and how a fitted one reads a new graph.

    A subclass sets `network_` in ``_fit``, trains it through ``_run`` and says in ``_vectors`` what comes out.
    """

    uses_features: ClassVar[bool] = True

    n_components: Columns = None
    epochs: Epochs = 10_000
    row_normalize: RowNormalize = True
    device: Device = "auto"
    callbacks: Callbacks = None

    def _width(self) -> int:
        """Return the number of columns; a layer can have any, so nothing is clipped."""
        return self.default_components if self.n_components is None else int(self.n_components)

    def _inputs(self, graph: Graph, device: torch.device) -> tuple[Features, SparseMatrix]:
        """Return features and normalised adjacency as the layers take them."""
        x = input_features(graph, row_normalize=self.row_normalize, device=device)
        return x, SparseMatrix.from_scipy(gcn_normalized(graph.adjacency), device)

    def _vectors(self, x: Features, adjacency: SparseMatrix) -> Tensor:
        """Return the vectors of all nodes, without dropout."""
        raise NotImplementedError

    def _embed(self, x: Features, adjacency: SparseMatrix) -> npt.NDArray[np.float32]:
        with torch.no_grad():
            vectors: npt.NDArray[np.float32] = self._vectors(x, adjacency).cpu().numpy()
        return vectors

    def _transform(self, graph: Graph, run: Run) -> Vectors:
        if graph.features is None or not self.has_features_:
            return super()._transform(graph, run)
        if graph.features.shape[1] != self.n_features_:
            msg = (
                f"the graph has {graph.features.shape[1]} features, at fit time there were {self.n_features_}"
            )
            raise InputError(msg)
        return self._embed(*self._inputs(graph, pick_device(self.device)))

    def _run(
        self,
        evaluate: Callable[[], float],
        optimizer: torch.optim.Optimizer,
        vectors: Callable[[], npt.NDArray[np.float32]],
        run: Run,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """Train: `evaluate` returns the loss and sets the gradients; `stop` is asked after every epoch."""
        training = Training(evaluate, optimizer.step, vectors=vectors, stop=stop)
        self.loss_history_ = run.steps(self.name, self.epochs, training, callbacks=self.callbacks).losses


def input_features(graph: Graph, *, row_normalize: bool, device: torch.device) -> Features:
    """Return the features a network reads: rows of the adjacency where there are none, CSR unless truly dense.

    Parameters
    ----------
    graph : Graph
        Its features, or its adjacency, are read.
    row_normalize : bool
        Divide each row by the sum of its absolute values.
    device : torch.device
        Where they go.
    """
    x = graph.adjacency if graph.features is None else graph.features
    if isinstance(x, np.ndarray) and np.count_nonzero(x) <= DENSE_ABOVE * x.size:
        x = sp.csr_array(x)
    if row_normalize:
        total = np.asarray(abs(x).sum(axis=1), dtype=np.float64)
        # dropout draws in the order of the entries, so that this product decides which ones are dropped
        x = x * inverse(total)[:, None] if isinstance(x, np.ndarray) else sp.diags_array(inverse(total)) @ x
    if isinstance(x, np.ndarray):
        return torch.tensor(x, dtype=torch.float32, device=device)
    return SparseMatrix.from_scipy(sp.csr_array(x), device)


def adam(groups: Any, learning_rate: float) -> torch.optim.Adam:
    """Return Adam in one kernel per tensor, which is twenty times as fast as the default on a CPU."""
    return torch.optim.Adam(groups, lr=learning_rate, fused=True)


def seeded_model(make: Callable[[], Made], rng: np.random.Generator) -> Made:
    """Call `make` with torch's generator seeded from `rng`, and put torch's state back afterwards.

    PyTorch Geometric starts its weights from torch's global generator; this keeps it out of a user's way.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(child_seed(rng))
        return make()


@dataclass(frozen=True)
class Targets:
    """The labelled nodes and what a network should say of them.

    Parameters
    ----------
    rows : Tensor
        Row numbers of the labelled nodes.
    values : Tensor
        Class numbers, or for several labels per node one row of zeros and ones each.
    n_classes : int
        Number of classes that have a labelled node.
    """

    rows: Tensor
    values: Tensor
    n_classes: int

    @classmethod
    def from_labels(cls, labels: Labels, device: torch.device) -> Targets:
        """Take the classes that have labelled nodes; the others have nothing to teach."""
        indicator = sp.csr_array(labels.indicator[:, np.flatnonzero(labels.counts)])
        rows = labels.labelled
        if labels.is_multilabel:
            values = torch.tensor(indicator[rows].toarray(), dtype=torch.float32, device=device)
        else:
            values = torch.tensor(indicator.indices, dtype=torch.int64, device=device)
        return cls(torch.tensor(rows, device=device), values, int(indicator.shape[1]))

    @property
    def multilabel(self) -> bool:
        """Whether nodes may have several labels."""
        return self.values.ndim == 2

    def subset(self, chosen: Tensor) -> Targets:
        """Return the chosen labelled nodes alone."""
        return Targets(self.rows[chosen], self.values[chosen], self.n_classes)

    def loss(self, logits: Tensor) -> Tensor:
        """Softmax cross-entropy, or binary cross-entropy where nodes have several labels; `logits` is for all nodes."""
        if self.multilabel:
            return functional.binary_cross_entropy_with_logits(logits[self.rows], self.values)
        return functional.cross_entropy(logits[self.rows], self.values)

    def accuracy(self, logits: Tensor) -> float:
        """Share of nodes whose class scores highest; one label per node only."""
        return float((logits[self.rows].argmax(dim=1) == self.values).double().mean())


class EarlyStopping:
    """Wait for the loss to fall or the accuracy to rise, and keep the weights that were best.

    Best means the highest accuracy, then the lowest loss; without accuracy the lowest loss. Only a strict improvement
    counts: with ties counted, a network that gets all its few validation nodes right would never stop.

    Parameters
    ----------
    network : Module
        Whose weights to keep.
    patience : int
        Epochs to wait for an improvement.

    Examples
    --------
    >>> stopping = EarlyStopping(torch.nn.Linear(1, 1), patience=2)
    >>> for loss in (3.0, 1.0, 2.0, 2.0):
    ...     stopping.see(loss)
    >>> stopping.over
    True
    """

    def __init__(self, network: torch.nn.Module, patience: int) -> None:
        self.weights = [weight.data for weight in network.parameters()]
        self.kept: list[Tensor] = []
        self.patience = patience
        self.waited = 0
        self.loss = self.at_kept = float("inf")
        self.accuracy = -1.0

    @property
    def over(self) -> bool:
        """Whether the wait has been long enough."""
        return self.waited >= self.patience

    def see(self, loss: float, accuracy: float = 0.0) -> None:
        """Take note of how good the present weights are."""
        if accuracy > self.accuracy or (accuracy == self.accuracy and loss < self.at_kept):
            self.at_kept = loss
            self.kept = [weight.clone() for weight in self.weights]
        better = loss < self.loss or accuracy > self.accuracy
        self.waited = 0 if better else self.waited + 1
        self.loss, self.accuracy = min(loss, self.loss), max(accuracy, self.accuracy)

    def restore(self) -> None:
        """Put the best weights back."""
        for weight, kept in zip(self.weights, self.kept, strict=False):
            weight.copy_(kept)
