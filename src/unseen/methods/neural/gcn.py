"""GCN: a two-layer graph convolutional network trained on the labels there are; its hidden layer is the embedding.

Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017. With Ahat the
normalised adjacency and X the row-normalised features,

    H = ReLU(Ahat X W_0),    scores = Ahat H W_1,

softmax cross-entropy over the seen classes on L' (binary cross-entropy where nodes have several labels), dropout on X
and H, squared norm on W_0, Adam. The vectors are H: the hidden layer after aggregation and activation.

What differs from the authors' code: 200 hidden units instead of 16 (the paper this package follows says so), all 200
epochs instead of a stop on 500 validation nodes, and the binary loss for several labels. Neither has bias terms.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from unseen.engine.run import Run
from unseen.errors import logger
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.methods.base import Vectors
from unseen.methods.neural.gcn_encoder import pick_device
from unseen.methods.neural.gnn_common import (
    Convolution,
    InputLinear,
    NetworkMethod,
    Targets,
    adam,
    seeded_model,
)
from unseen.methods.neural.gnn_sparse import Features, SparseMatrix, drop_features, dropout
from unseen.methods.vocabulary import Dropout, Epochs, LearningRate, WeightDecay
from unseen.randomness import child_seed


class GCN(NetworkMethod):
    """Hidden layer of a two-layer graph convolutional network that learned to tell the seen classes apart.

    Attributes
    ----------
    loss_history_ : list of float
        Cross-entropy of every epoch, under dropout, without the weight decay.

    Notes
    -----
    Without features a node's features are its row of the adjacency, in which case :meth:`transform` refuses.
    With a single seen class there is nothing to tell apart: training would only shrink the weights, so the vectors
    are those of the untrained network, and a warning says so.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.load_dataset("debian")
    >>> split = unseen.completely_imbalanced_split(data.labels, label_rate=0.1, unseen=["mail"], random_state=0)
    >>> unseen.GCN(n_components=16, epochs=5, random_state=0).fit_transform(data.graph, split.seen_labels)
    Embedding(4852 nodes, 16 columns, by gcn)
    """

    name: ClassVar[str] = "gcn"
    summary: ClassVar[str] = "hidden layer of a graph convolutional network trained on the seen classes"
    reference: ClassVar[str] = (
        "Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017"
    )
    uses_labels: ClassVar[bool] = True
    needs_labels: ClassVar[bool] = True

    epochs: Epochs = 200
    learning_rate: LearningRate = 0.01
    dropout: Dropout = 0.5
    weight_decay: WeightDecay = 5e-4

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        device = pick_device(self.device)
        x, adjacency = self._inputs(graph, device)
        targets = Targets.from_labels(labels, device)
        self.has_features_, self.n_features_ = graph.features is not None, x.shape[1]
        self.network_ = seeded_model(
            lambda: _Network(x.shape[1], self._width(), targets.n_classes), run.rng
        ).to(device)
        self._train(x, adjacency, targets, run)
        return self._embed(x, adjacency)

    def _train(self, x: Features, adjacency: SparseMatrix, targets: Targets, run: Run) -> None:
        generator = torch.Generator(targets.rows.device).manual_seed(child_seed(run.rng))
        if targets.n_classes == 1:
            self.loss_history_ = []
            logger.warning(
                "gcn: one seen class leaves nothing to learn; the vectors are those of the untrained network"
            )
            return
        network = self.network_
        groups = [
            {"params": network.first.parameters(), "weight_decay": self.weight_decay},
            {"params": network.second.parameters()},
        ]
        optimizer = adam(groups, self.learning_rate)

        def evaluate() -> float:
            optimizer.zero_grad()
            loss = targets.loss(network.scores(x, adjacency, self.dropout, generator))
            loss.backward()  # type: ignore[no-untyped-call]
            return float(loss.detach())

        self._run(evaluate, optimizer, lambda: self._embed(x, adjacency), run)

    def _vectors(self, x: Features, adjacency: SparseMatrix) -> Tensor:
        h: Tensor = self.network_.hidden(x, adjacency)
        return h


class _Network(torch.nn.Module):
    """The two layers."""

    def __init__(self, n_features: int, width: int, n_classes: int) -> None:
        super().__init__()
        self.first = Convolution(InputLinear(n_features, width), width, bias=False)
        self.second = Convolution(InputLinear(width, n_classes), n_classes, bias=False)

    def hidden(self, x: Features, adjacency: SparseMatrix) -> Tensor:
        """Return H."""
        return torch.relu(self.first(x, adjacency.matrix))

    def scores(
        self, x: Features, adjacency: SparseMatrix, share: float, generator: torch.Generator
    ) -> Tensor:
        """Return the scores of all nodes under dropout."""
        h = dropout(self.hidden(drop_features(x, share, generator), adjacency), share, generator)
        scores: Tensor = self.second(h, adjacency.matrix)
        return scores
