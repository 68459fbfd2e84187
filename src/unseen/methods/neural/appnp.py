"""APPNP: a small network over the features whose predictions are spread by personalised PageRank.

Klicpera, Bojchevski and Guennemann, Predict then Propagate: Graph Neural Networks meet Personalized PageRank,
ICLR 2019. With Ahat the normalised adjacency and X the row-normalised features,

    H = ReLU(X W_0),    S_0 = H W_1,    ten times  S <- 0.9 Ahat S + 0.1 S_0,

softmax cross-entropy of S over the seen classes on L' (binary cross-entropy where nodes have several labels), dropout
on X, on H and on the entries of Ahat in every step, squared norm on W_0, Adam, a stop on validation nodes with patience
100. The vectors are H spread like the predictions; `propagate=False` gives H itself.

What differs from the authors' code: 200 hidden units instead of 64 (the paper this package follows says so), the
binary loss for several labels, and the validation nodes: theirs are 500 further labelled nodes, ours a fifth of L',
because a method may see nothing else. Only a strict improvement there puts the stop off, and they are looked at
twenty times in the patience, every fifth epoch, instead of in every one. PyTorch Geometric's layer
would drop what is left of Ahat again in each of the ten steps; here, as in the authors' code, each step drops from
the whole, so training has a propagation of its own, and the layer makes the scores of validation nodes and the vectors.
"""

from __future__ import annotations

import itertools
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from unseen.engine.run import Run
from unseen.errors import logger
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.methods.base import Vectors
from unseen.methods.neural.gcn_encoder import pick_device
from unseen.methods.neural.gnn_common import (
    EarlyStopping,
    InputLinear,
    NetworkMethod,
    PropagationLayer,
    Targets,
    adam,
    seeded_model,
)
from unseen.methods.neural.gnn_sparse import (
    Features,
    SparseMatrix,
    drop_features,
    dropout,
    sparse_product,
    thinned_spread,
)
from unseen.methods.vocabulary import (
    Dropout,
    LearningRate,
    Patience,
    Propagate,
    Steps,
    Teleport,
    ValidationShare,
    WeightDecay,
)
from unseen.randomness import child_seed

CHECKS = 20
"""How often validation nodes are looked at before patience ends: each look costs half as much as an epoch."""


class APPNP(NetworkMethod):
    """Hidden layer of a network over the features, spread over the graph; it learned to tell the seen classes apart.

    Dropout takes edges too, and improvements are those of loss or accuracy of the validation nodes.

    Attributes
    ----------
    loss_history_ : list of float
        Cross-entropy of every epoch on the training nodes, under dropout, with the squared norm.

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
    >>> unseen.APPNP(n_components=16, epochs=5, random_state=0).fit_transform(data.graph, split.seen_labels)
    Embedding(4852 nodes, 16 columns, by appnp)
    """

    name: ClassVar[str] = "appnp"
    summary: ClassVar[str] = "hidden layer of a network whose predictions are spread over the graph"
    reference: ClassVar[str] = "Klicpera et al., Predict then Propagate, ICLR 2019"
    uses_labels: ClassVar[bool] = True
    needs_labels: ClassVar[bool] = True

    steps: Steps = 10
    teleport: Teleport = 0.1
    propagate: Propagate = True
    patience: Patience = 100
    validation_share: ValidationShare = 0.2
    learning_rate: LearningRate = 0.01
    dropout: Dropout = 0.5
    weight_decay: WeightDecay = 5e-3

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        device = pick_device(self.device)
        x, adjacency = self._inputs(graph, device)
        targets = Targets.from_labels(labels, device)
        self.has_features_, self.n_features_ = graph.features is not None, x.shape[1]
        self.network_ = seeded_model(
            lambda: _Network(x.shape[1], self._width(), targets.n_classes, self.steps, self.teleport), run.rng
        ).to(device)
        if targets.n_classes == 1:
            self.loss_history_ = []
            logger.warning(
                "appnp: one seen class leaves nothing to learn; the vectors are those of the untrained network"
            )
        else:
            training, validation = _held_out(targets, self.validation_share, run.rng)
            self._train(x, adjacency, training, validation, run)
        return self._embed(x, adjacency)

    def _train(
        self,
        x: Features,
        adjacency: SparseMatrix,
        training: Targets,
        validation: Targets,
        run: Run,
    ) -> None:
        generator = torch.Generator(training.rows.device).manual_seed(child_seed(run.rng))
        network = self.network_
        groups = [
            {"params": network.first.parameters(), "weight_decay": self.weight_decay},
            {"params": network.second.parameters()},
        ]
        optimizer = adam(groups, self.learning_rate)
        every = max(1, self.patience // CHECKS)
        stopping = EarlyStopping(network, self.patience // every)
        epochs = itertools.count()

        def evaluate() -> float:
            optimizer.zero_grad()
            loss = training.loss(network.scores(x, adjacency, self.dropout, generator))
            loss.backward()  # type: ignore[no-untyped-call]
            with torch.no_grad():
                weights = network.first.weight.view(-1)
                norm = self.weight_decay / 2 * float(weights @ weights)
                if next(epochs) % every == 0:
                    scores = network.scores(x, adjacency)
                    accuracy = 0.0 if validation.multilabel else validation.accuracy(scores)
                    stopping.see(float(validation.loss(scores)) + norm, accuracy)
            return float(loss.detach()) + norm

        self._run(evaluate, optimizer, lambda: self._embed(x, adjacency), run, lambda: stopping.over)
        stopping.restore()

    def _vectors(self, x: Features, adjacency: SparseMatrix) -> Tensor:
        h: Tensor = self.network_.hidden(x)
        return self.network_.spread(h, adjacency) if self.propagate else h


class _Network(torch.nn.Module):
    """Two linear layers and the propagation."""

    def __init__(self, n_features: int, width: int, n_classes: int, steps: int, teleport: float) -> None:
        super().__init__()
        self.first = InputLinear(n_features, width)
        self.second = InputLinear(width, n_classes)
        self.spread = _Propagation(K=steps, alpha=teleport, normalize=False)

    def hidden(self, x: Features) -> Tensor:
        """Return H."""
        return torch.relu(self.first(x))

    def scores(
        self,
        x: Features,
        adjacency: SparseMatrix,
        share: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Return the scores of all nodes, under dropout if a generator is given."""
        if generator is None:
            return self.spread(self.second(self.hidden(x)), adjacency)  # type: ignore[no-any-return]
        h = dropout(self.hidden(drop_features(x, share, generator)), share, generator)
        start = self.second(h)
        return thinned_spread(start, adjacency, self.spread.K, self.spread.alpha, share, generator)


class _Propagation(PropagationLayer):  # type: ignore[misc]  # PyTorch Geometric is not typed for us
    """PyTorch Geometric's layer over a sparse matrix with its transpose at hand; without dropout."""

    # What `propagate` is called with: the layer writes its code from this.
    propagate_type: ClassVar[dict[str, object]] = {"x": Tensor, "edge_weight": Tensor, "transposed": Tensor}

    def forward(self, x: Tensor, adjacency: SparseMatrix) -> Tensor:
        """Return what `x` has become after all steps."""
        start = x
        for _ in range(self.K):
            x = self.propagate(adjacency.matrix, x=x, edge_weight=None, transposed=adjacency.transposed).lerp(
                start, self.alpha
            )
        return x

    def message_and_aggregate(self, adj_t: Tensor, x: Tensor, transposed: Tensor) -> Tensor:
        """Return the product with the adjacency."""
        return sparse_product(x, adj_t, transposed)


def _held_out(targets: Targets, share: float, rng: np.random.Generator) -> tuple[Targets, Targets]:
    """Return training and validation nodes; the first node drawn of every class is for training.

    A node of several labels counts for its first; a class that only stands beside others keeps one node as well.
    """
    n = len(targets.rows)
    order = rng.permutation(n)
    values = targets.values[torch.from_numpy(order).to(targets.values.device)].cpu().numpy()
    classes = values.argmax(axis=1) if targets.multilabel else values
    needed = np.zeros(n, dtype=bool)
    needed[np.unique(classes, return_index=True)[1]] = True
    free = order[~needed]
    chosen = free[: round(share * n)]
    if targets.multilabel and len(chosen):
        kept = np.setdiff1d(order, chosen)
        found = targets.values.cpu().numpy()
        for column in np.flatnonzero(found[kept].sum(axis=0) == 0):
            chosen = np.delete(chosen, np.flatnonzero(found[chosen, column])[:1])
    if not len(chosen):
        return targets, targets
    rest = np.setdiff1d(np.arange(n), chosen)
    return targets.subset(torch.from_numpy(rest)), targets.subset(torch.from_numpy(chosen))
