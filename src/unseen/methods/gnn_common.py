"""What GCN, APPNP and DGI have in common: sparse inputs, seeded dropout, layers that take them, label losses.

The layers are PyTorch Geometric's. Two things are changed, neither of which alters what they compute.
The first layer multiplies features in CSR instead of a dense matrix, and the backward pass of every sparse product
uses a stored transpose: PyTorch transposes the matrix anew in each backward pass, which is four to ten times the price
of the product itself (Citeseer: 25 ms forward and backward, 5 ms here).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn import functional

from unseen.errors import InputError
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.linalg.normalize import gcn_normalized
from unseen.methods.base import Method, Vectors
from unseen.methods.gcn_encoder import pick_device
from unseen.methods.training import Callback, run_epochs
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


@dataclass(frozen=True)
class SparseMatrix:
    """A constant sparse matrix and its transpose, both in CSR, so that neither direction has to transpose.

    Parameters
    ----------
    matrix, transposed : Tensor
        The two CSR tensors.
    order : Tensor
        ``transposed.values() == matrix.values()[order]``; empty once entries have been dropped.

    Examples
    --------
    >>> x = SparseMatrix.from_scipy(sp.csr_array([[0.0, 2.0], [1.0, 0.0], [0.0, 3.0]]))
    >>> (x @ torch.eye(2)).tolist()
    [[0.0, 2.0], [1.0, 0.0], [0.0, 3.0]]
    """

    matrix: Tensor
    transposed: Tensor
    order: Tensor

    @classmethod
    def from_scipy(cls, matrix: sp.csr_array, device: torch.device | str = "cpu") -> SparseMatrix:
        """Copy a scipy matrix to `device`, in float32."""
        places = sp.csr_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
        turned = sp.csr_array(places.T.tocsr())
        values = np.asarray(matrix.data, dtype=np.float32)
        return cls(
            _csr(matrix.indptr, matrix.indices, values, matrix.shape, device),
            _csr(turned.indptr, turned.indices, values[turned.data], turned.shape, device),
            torch.tensor(turned.data, dtype=torch.int64, device=device),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    def __matmul__(self, dense: Tensor) -> Tensor:
        return sparse_product(dense, self.matrix, self.transposed)

    def dropped(self, share: float, generator: torch.Generator) -> SparseMatrix:
        """Return the matrix without a random share of its entries, and the others scaled up."""
        if share == 0:
            return self
        mask, scale = keep_mask(self.order.numel(), share, generator)
        return SparseMatrix(
            _thinned(self.matrix, mask, scale),
            _thinned(self.transposed, mask[self.order], scale),
            self.order[:0],
        )


class _Product(torch.autograd.Function):
    """``matrix @ dense``, with the transpose at hand for the gradient."""

    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: Tensor, transposed: Tensor) -> Tensor:
        ctx.transposed = transposed
        return product(matrix, dense)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, None, None]:
        return product(ctx.transposed, grads[0]), None, None


def sparse_product(dense: Tensor, matrix: Tensor, transposed: Tensor) -> Tensor:
    """Return ``matrix @ dense`` with a gradient by `dense`; `transposed` is the matrix transposed."""
    made: Tensor = _Product.apply(dense, matrix, transposed)  # type: ignore[no-untyped-call]
    return made


def product(matrix: Tensor, dense: Tensor) -> Tensor:
    """Return a CSR tensor times a dense one.

    On a CPU by the kernel that `unseen.linalg.products` found fastest, here on tensors and so without conversions;
    every row is summed in order, so the bits do not depend on the number of threads.
    """
    if matrix.values().numel() == 0:
        return dense.new_zeros(matrix.shape[0], dense.shape[1])
    if matrix.is_cuda:
        made: Tensor = torch.sparse.mm(matrix, dense)
        return made
    return functional.embedding_bag(
        matrix.col_indices(),
        dense.contiguous(),
        matrix.crow_indices(),
        mode="sum",
        per_sample_weights=matrix.values(),
        include_last_offset=True,
    )


def _csr(
    indptr: npt.NDArray[Any], indices: npt.NDArray[Any], values: npt.NDArray[Any], shape: Any, device: Any
) -> Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            torch.tensor(indptr, dtype=torch.int64, device=device),
            torch.tensor(indices, dtype=torch.int64, device=device),
            torch.tensor(values, dtype=torch.float32, device=device),
            size=tuple(shape),
            check_invariants=False,
        )


def _thinned(matrix: Tensor, mask: Tensor, scale: float) -> Tensor:
    # Leaving dropped entries out, rather than zeroing them, halves the price of the products that follow.
    before = functional.pad(mask.cumsum(0), (1, 0))
    return torch.sparse_csr_tensor(
        before[matrix.crow_indices()],
        matrix.col_indices()[mask],
        matrix.values()[mask] * scale,
        size=matrix.shape,
        check_invariants=False,
    )


def keep_mask(size: int, share: float, generator: torch.Generator) -> tuple[Tensor, float]:
    """Return which of `size` entries survive dropout, and the factor that makes up for the others.

    Seven times as fast on a CPU as torch's own, which moreover takes no generator: four 16-bit numbers are cut from
    each 64-bit draw, so the share is met to 1 in 65,536 (and the factor is that of the share that was met).

    Examples
    --------
    >>> mask, scale = keep_mask(1000, 0.5, torch.Generator().manual_seed(0))
    >>> 400 < int(mask.sum()) < 600, scale
    (True, 2.0)
    """
    kept = max(1, round((1 - share) * 2**16))
    draws = torch.empty((size + 3) // 4, dtype=torch.int64, device=generator.device)
    draws.random_(-(2**63), None, generator=generator)  # type: ignore[call-overload]  # None: the largest int64
    return draws.view(torch.int16)[:size] < kept - 2**15, 2**16 / kept


def dropout(values: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """Zero a random share of `values` and scale the others up."""
    if share == 0:
        return values
    mask, scale = keep_mask(values.numel(), share, generator)
    return values * mask.view(values.shape).to(values.dtype).mul_(scale)


def drop_features(x: Features, share: float, generator: torch.Generator) -> Features:
    """Return `x` with dropout, sparse if it is sparse."""
    return x.dropped(share, generator) if isinstance(x, SparseMatrix) else dropout(x, share, generator)


Features = SparseMatrix | Tensor


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


class NetworkMethod(Method):
    """A network over features and graph: what it reads, and how a fitted one reads a new graph.

    A subclass sets `network_` in ``_fit``, trains it through ``_run`` and says in ``_vectors`` what comes out.
    """

    n_components: int | None
    epochs: int
    row_normalize: bool
    device: str
    callbacks: Iterable[Callback] | None
    network_: Any

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

    def _transform(self, graph: Graph) -> Vectors:
        if graph.features is None or not self.has_features_:
            return super()._transform(graph)
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
        stop: Callback | None = None,
    ) -> None:
        """Train: `evaluate` returns the loss and sets the gradients; `stop` is asked after every epoch."""
        asked = [self.callbacks] if callable(self.callbacks) else list(self.callbacks or [])
        history = run_epochs(
            evaluate,
            optimizer.step,
            method=self.name,
            epochs=self.epochs,
            vectors=vectors,
            callbacks=asked if stop is None else [*asked, stop],
            best_of=[weight.data for weight in self.network_.parameters()],
        )
        self.loss_history_ = history.losses


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
        scale = np.divide(1.0, total, out=np.zeros_like(total), where=total != 0)
        x = x * scale[:, None] if isinstance(x, np.ndarray) else sp.diags_array(scale, format="csr") @ x
    if isinstance(x, np.ndarray):
        return torch.tensor(x, dtype=torch.float32, device=device)
    return SparseMatrix.from_scipy(sp.csr_array(x), device)


def adam(groups: Any, learning_rate: float) -> torch.optim.Adam:
    """Return Adam in one kernel a tensor, which is twenty times as fast as the default on a CPU."""
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
        Class numbers, or for several labels a node one row of zeros and ones each.
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
        """Share of nodes whose class scores highest; one label a node only."""
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
