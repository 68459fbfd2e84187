"""DGI: an encoder that learns, without labels, to tell the graph from one whose features are shuffled.

Velickovic et al., Deep Graph Infomax, ICLR 2019. With Ahat the normalised adjacency, X the row-normalised features and
X~ its rows in a random order, drawn anew in every epoch,

    Z = PReLU(Ahat X W + b),    Z~ = PReLU(Ahat X~ W + b),    s = sigmoid(mean of the rows of Z),

a bilinear form sigmoid(z' B s) is trained to answer 1 for rows of Z and 0 for rows of Z~. Training stops when the loss
has not fallen for 20 epochs; the weights of the lowest loss are kept. The vectors are Z.

What differs from the authors' code: 200 units instead of 512, PyTorch Geometric's bilinear form (its start is uniform
and six times as wide, and it has no bias), and X W is computed once and shuffled instead of X, which is the same
because W acts on rows.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor

from unseen.engine.run import Run
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.methods.base import Vectors
from unseen.methods.neural.gcn_encoder import pick_device
from unseen.methods.neural.gnn_common import (
    Convolution,
    EarlyStopping,
    InfomaxModel,
    InputLinear,
    NetworkMethod,
    adam,
    seeded_model,
)
from unseen.methods.neural.gnn_sparse import Features, SparseMatrix
from unseen.methods.vocabulary import LearningRate, Patience
from unseen.randomness import child_seed


class DGI(NetworkMethod):
    """One graph convolution trained to tell the graph from a shuffled one; no labels.

    Attributes
    ----------
    loss_history_ : list of float
        Loss of every epoch: the two logarithmic losses, of true and of shuffled rows, added.

    Notes
    -----
    Without features a node's features are its row of the adjacency, in which case :meth:`transform` refuses.

    Examples
    --------
    >>> import unseen
    >>> graph = unseen.load_dataset("debian").graph
    >>> unseen.DGI(n_components=16, epochs=3, random_state=0).fit_transform(graph)
    Embedding(4852 nodes, 16 columns, by dgi)
    """

    name: ClassVar[str] = "dgi"
    summary: ClassVar[str] = "graph convolution that tells the graph from a shuffled one, no labels"
    reference: ClassVar[str] = "Velickovic et al., Deep Graph Infomax, ICLR 2019"

    patience: Patience = 20
    learning_rate: LearningRate = 0.001

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:  # noqa: ARG002
        device = pick_device(self.device)
        x, adjacency = self._inputs(graph, device)
        self.has_features_, self.n_features_ = graph.features is not None, x.shape[1]
        generator = torch.Generator(device).manual_seed(child_seed(run.rng))
        width = self._width()

        def make() -> Any:
            encoder = _Encoder(x.shape[1], width)
            return InfomaxModel(width, encoder, _readout, lambda xw, adj: (_shuffled(xw, generator), adj))

        model = seeded_model(make, run.rng).to(device)
        self.network_ = model.encoder
        self._train(model, x, adjacency, run)
        return self._embed(x, adjacency)

    def _train(self, model: Any, x: Features, adjacency: SparseMatrix, run: Run) -> None:
        optimizer = adam(model.parameters(), self.learning_rate)
        stopping = EarlyStopping(model.encoder, self.patience)

        def evaluate() -> float:
            optimizer.zero_grad()
            loss = model.loss(*model(self.network_.linear(x), adjacency.matrix))
            loss.backward()
            stopping.see(float(loss.detach()))
            return float(loss.detach())

        self._run(evaluate, optimizer, lambda: self._embed(x, adjacency), run, lambda: stopping.over)
        stopping.restore()

    def _vectors(self, x: Features, adjacency: SparseMatrix) -> Tensor:
        vectors: Tensor = self.network_(self.network_.linear(x), adjacency.matrix)
        return vectors


class _Encoder(torch.nn.Module):
    """The layer, in two parts: the linear map, which shuffling commutes with, and aggregation with activation."""

    def __init__(self, n_features: int, width: int) -> None:
        super().__init__()
        self.linear = InputLinear(n_features, width)
        self.convolution = Convolution(torch.nn.Identity(), width, bias=True)
        self.activation = torch.nn.PReLU()

    def forward(self, xw: Tensor, adjacency: Tensor) -> Tensor:
        """Return PReLU(Ahat (X W) + b)."""
        z: Tensor = self.activation(self.convolution(xw, adjacency))
        return z


def _readout(z: Tensor, *_: Tensor) -> Tensor:
    return z.mean(dim=0).sigmoid()


def _shuffled(xw: Tensor, generator: torch.Generator) -> Tensor:
    return xw.index_select(0, torch.randperm(len(xw), generator=generator, device=generator.device))
