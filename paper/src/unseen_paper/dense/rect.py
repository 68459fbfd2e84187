"""RECT as the paper writes it down, and nothing else: dense matrices, full SVD, an n x n loss, autograd.

Tests take it as the truth and the benchmark as the plain implementation that the library is measured against.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from unseen.graph import Graph
from unseen.labels import Labels

Dense = npt.NDArray[Any]


def walk_matrix(graph: Graph, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return M = (Abar + Abar^2) / 2, n x n.

    Examples
    --------
    >>> walk_matrix(Graph.from_edges([0], [1])).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    A = torch.tensor(graph.adjacency.toarray(), dtype=dtype)
    degree = A.sum(dim=1, keepdim=True)
    abar = A / torch.where(degree > 0, degree, 1)
    return (abar + abar @ abar) / 2


def propagation_matrix(graph: Graph, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return Ahat = D^-1/2 (A with self-loops) D^-1/2, n x n.

    Examples
    --------
    >>> propagation_matrix(Graph.from_edges([0], [1])).round(decimals=6).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    A = torch.tensor(graph.adjacency.toarray(), dtype=dtype)
    A += torch.diag((A.diagonal() == 0).to(dtype))
    scale = A.sum(dim=1) ** -0.5
    return scale[:, None] * A * scale[None, :]


def structure_loss(U: torch.Tensor, M: torch.Tensor) -> torch.Tensor:
    """Return ||M - UU'||^2 / n by forming UU'.

    Examples
    --------
    >>> float(structure_loss(torch.ones(2, 1), torch.zeros(2, 2)))
    2.0
    """
    return ((M - U @ U.T) ** 2).sum() / len(U)


def dense_features(graph: Graph, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return the features as a dense matrix; the adjacency where there are none."""
    columns = graph.adjacency if graph.features is None else graph.features
    dense = columns if isinstance(columns, np.ndarray) else columns.toarray()
    return torch.tensor(dense, dtype=dtype)


class DenseLayer(torch.nn.Module):
    """PReLU(Ahat X W + b) with Xavier's weights, or those given.

    Examples
    --------
    >>> DenseLayer(3, 2)(torch.ones(4, 3), torch.eye(4)).shape
    torch.Size([4, 2])
    """

    def __init__(
        self, rows: int, columns: int, W: Dense | None = None, dtype: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        start = torch.nn.init.xavier_uniform_(torch.empty(rows, columns, dtype=dtype))
        self.W = torch.nn.Parameter(start if W is None else torch.tensor(W, dtype=dtype))
        self.b = torch.nn.Parameter(torch.zeros(columns, dtype=dtype))
        self.prelu = torch.nn.PReLU(dtype=dtype)

    def forward(self, X: torch.Tensor, ahat: torch.Tensor) -> torch.Tensor:
        """Return the outputs of the layer."""
        output: torch.Tensor = self.prelu(ahat @ (X @ self.W) + self.b)
        return output


def train_rect_n(
    graph: Graph,
    *,
    width: int = 200,
    epochs: int = 100,
    learning_rate: float = 0.001,
    W: Dense | None = None,
    dtype: torch.dtype = torch.float32,
) -> tuple[Dense, list[float]]:
    """Train RECT-N; return its vectors and the loss of every epoch.

    Examples
    --------
    >>> vectors, losses = train_rect_n(Graph.from_edges([0, 1], [1, 2]), width=2, epochs=3)
    >>> vectors.shape, len(losses)
    ((3, 2), 3)
    """
    X = dense_features(graph, dtype)
    sums = X.abs().sum(dim=1, keepdim=True)
    X = X / torch.where(sums > 0, sums, 1)
    ahat, M = propagation_matrix(graph, dtype), walk_matrix(graph, dtype)
    layer = DenseLayer(X.shape[1], width, W, dtype)
    optimizer = torch.optim.Adam(layer.parameters(), lr=learning_rate)
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = structure_loss(layer(X, ahat), M)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(float(loss.detach()))
    return layer(X, ahat).detach().numpy(), losses


def train_rect_l(
    graph: Graph,
    labels: Labels,
    *,
    width: int = 200,
    svd_components: int = 200,
    epochs: int = 100,
    learning_rate: float = 0.001,
) -> Dense:
    """Train RECT-L on single labels, SVD in full; return its hidden layer.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1], [1, 2])
    >>> train_rect_l(graph, Labels.from_values(["a", None, "b"]), width=2, epochs=1).shape
    (3, 2)
    """
    U, S, _ = torch.linalg.svd(dense_features(graph), full_matrices=False)
    Z = U[:, :svd_components] * S[:svd_components]
    rows, codes = torch.tensor(labels.labelled), torch.tensor(labels.codes[labels.labelled])
    centres = torch.stack([Z[rows[codes == c]].mean(dim=0) for c in range(len(labels.classes))])
    ahat, layer = propagation_matrix(graph), DenseLayer(Z.shape[1], width)
    linear = torch.nn.Linear(width, Z.shape[1])
    torch.nn.init.xavier_uniform_(linear.weight)
    optimizer = torch.optim.Adam([*layer.parameters(), *linear.parameters()], lr=learning_rate)
    for _ in range(epochs):
        optimizer.zero_grad()
        predicted = linear(layer(Z, ahat))[rows]
        loss = ((predicted - centres[codes]) ** 2).sum() / len(rows)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    hidden: Dense = layer(Z, ahat).detach().numpy()
    return hidden


def train_rect(graph: Graph, labels: Labels, *, width: int = 200, epochs: int = 100) -> Dense:
    """Return RECT's vectors: both halves, l2-normalised, one behind the other.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1], [1, 2])
    >>> train_rect(graph, Labels.from_values(["a", None, "b"]), width=2, epochs=1).shape
    (3, 4)
    """
    halves = [
        train_rect_l(graph, labels, width=width, epochs=epochs),
        train_rect_n(graph, width=width, epochs=epochs)[0],
    ]
    lengths = [np.linalg.norm(half, axis=1, keepdims=True) for half in halves]
    return np.hstack(
        [half / np.where(length > 0, length, 1) for half, length in zip(halves, lengths, strict=True)]
    )
