"""GCN: a two-layer graph convolutional network trained on the labels there are; its hidden layer is the embedding.

Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017. With Ahat the
normalised adjacency and X the row-normalised features,

    H = ReLU(Ahat X W_0),    scores = Ahat H W_1,

softmax cross-entropy over the seen classes on L' (binary cross-entropy where nodes have several labels), dropout on X
and H, squared norm on W_0, Adam. The vectors are H: the hidden layer after aggregation and activation.

What differs from the authors' code: 200 hidden units instead of 16 (the paper this package follows says so), all 200
epochs instead of a stop on 500 validation nodes, and the binary loss for several labels. Neither has bias terms.

What APPNP and DGI have in common with it is here, too: what they read, their starting weights, label losses, early
stopping. Weights are plain tensors. The first layer multiplies features in CSR instead of a dense matrix, which changes
the price and not the result. All draws belong to node ids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.errors import logger
from unseen.graph import Graph
from unseen.ids import Array, Keys, Singles
from unseen.labels import Labels
from unseen.linalg.normalize import l1_rows
from unseen.methods.base import Vectors
from unseen.methods.neural import torch
from unseen.methods.neural.adam import Best, NeuralMethod
from unseen.methods.neural.gcn_encoder import input_weights, pick_device, xavier
from unseen.methods.neural.gnn_sparse import Draws, Features, SparseMatrix, dropout
from unseen.methods.vocabulary import Dropout, Epochs, LearningRate, RowNormalize, WeightDecay
from unseen.randomness import child_seed, node_keys

DENSE_ABOVE = 0.5
"""Share of nonzero entries above which features that come as an ndarray are multiplied as one."""


@dataclass(frozen=True)
class Inputs:
    """What a network reads of a graph.

    Attributes
    ----------
    x : SparseMatrix or Tensor
        The features.
    ahat, last : SparseMatrix
        The normalised adjacency, for the first layer and for the last.
    keys, hidden_keys, column_keys : ndarray of uint64
        Keys of the rows of `x` and of the hidden layer, and of the columns of `x`, to which all draws belong.
    """

    x: Features
    ahat: SparseMatrix
    last: SparseMatrix
    keys: Keys
    hidden_keys: Keys
    column_keys: Keys

    @classmethod
    def of(cls, graph: Graph, *, row_normalize: bool, seed: int, device: torch.device) -> Inputs:
        """Read a graph: rows of the adjacency where there are no features, CSR unless they are truly dense."""
        x = graph.adjacency if graph.features is None else graph.features
        if isinstance(x, np.ndarray) and np.count_nonzero(x) <= DENSE_ABOVE * x.size:
            x = sp.csr_array(x)
        if row_normalize:
            x = l1_rows(x)
        tensor: Features = (
            torch.tensor(x, dtype=torch.float32, device=device)
            if isinstance(x, np.ndarray)
            else SparseMatrix.from_scipy(sp.csr_array(x), device)
        )
        ahat = SparseMatrix.from_scipy(Run().matrix(graph.adjacency).gcn_normalized().local, device)
        keys = node_keys(graph.node_ids, seed)
        columns = keys if graph.features is None else np.arange(x.shape[1], dtype=np.uint64)
        return cls(tensor, ahat, ahat, keys, keys, columns)

    def around(self, rows: torch.Tensor) -> Inputs:
        """Return what two layers of neighbours read to score some rows: features of nodes up to two steps away.

        The hidden layer has the nodes up to one step away then, and draws are those of the whole graph.
        """
        last, near = self.ahat.rows(rows.cpu().numpy())
        ahat, far = self.ahat.rows(near)
        x = self.x[torch.from_numpy(far)] if torch.is_tensor(self.x) else self.x.rows(far, squeezed=False)[0]
        return replace(self, x=x, ahat=ahat, last=last, keys=self.keys[far], hidden_keys=self.keys[near])

    def draws(self) -> tuple[Draws, Draws, Draws]:
        """Return draws for dropout of the features, of hidden layers and of the entries of the adjacency."""
        device, keys = self.ahat.matrix.device, self.keys
        of_x = self.x.entry_keys(keys, self.column_keys) if isinstance(self.x, SparseMatrix) else keys
        of_ahat = self.ahat.entry_keys(self.hidden_keys, keys)
        return Draws(of_x, device, 1), Draws(self.hidden_keys, device, 2), Draws(of_ahat, device, 3)


class NetworkMethod(NeuralMethod):
    """A network over features and graph: what it reads, and how a fitted one reads a new graph.

    A subclass sets `network_` in ``_fit``, trains it by ``_learn_weights`` and says in ``_vectors`` what comes out.
    """

    epochs: Epochs = 10_000
    learning_rate: LearningRate = 0.01
    row_normalize: RowNormalize = True

    def _read(self, graph: Graph, seed: int) -> Inputs:
        """Return what the network reads of a graph."""
        device = pick_device(self.device)
        return Inputs.of(graph, row_normalize=self.row_normalize, seed=seed, device=device)

    def _start(self, graph: Graph, run: Run) -> tuple[Inputs, torch.Tensor]:
        """Return what the network reads and the starting weights of its first layer."""
        inputs = self._read(graph, child_seed(run.rng))
        width = (
            self.n_components or self._traits.default_components
        )  # a layer can have any, so nothing is clipped
        return inputs, learnable(input_weights(graph, self.n_features_in_, width, run), inputs)

    def _vectors(self, inputs: Inputs) -> torch.Tensor:
        """Return the vectors of all nodes, without dropout."""
        raise NotImplementedError

    def _embed(self, inputs: Inputs) -> Singles:
        with torch.no_grad():
            vectors: Singles = self._vectors(inputs).cpu().numpy()
        return vectors

    def _transform(self, graph: Graph, run: Run) -> Vectors:  # noqa: ARG002
        self._new_features(graph)
        return self._embed(self._read(graph, 0))

    def _learn_weights(
        self,
        evaluate: Callable[[], torch.Tensor],
        weights: Sequence[torch.Tensor],
        inputs: Inputs,
        run: Run,
        decay: float,
        stopping: EarlyStopping | None = None,
        judge: Callable[[float], float] = float,
    ) -> None:
        """Train the weights; `decay` is the weight of the squared norm of the first.

        `evaluate` returns the loss without it, `judge` what is reported of that, and `stopping` ends the training and
        has the best weights.
        """

        def gradients() -> tuple[float, list[torch.Tensor]]:
            loss = evaluate()
            slopes = list(torch.autograd.grad(loss, weights))
            if decay:
                slopes[0] = slopes[0].add(weights[0].detach(), alpha=decay)
            with torch.no_grad():
                return judge(float(loss)), slopes

        # states without what dropout draws next, and how long it has waited, would not do to go on from
        stop = bool if stopping is None else lambda: stopping.over
        self._take_steps(gradients, lambda: self._embed(inputs), weights, run, stop=stop, resumes=False)
        if stopping is not None:
            stopping.go_back()


class LabelNetwork(NetworkMethod):
    """Two linear maps, over features and graph, that learn to tell the seen classes apart.

    A subclass says in ``_scores`` what they make of its inputs; ``_learn`` may keep some labelled nodes back.
    """

    _traits = replace(NeuralMethod._traits, uses_labels=True, needs_labels=True)

    dropout: Dropout = 0.5
    weight_decay: WeightDecay = 5e-4

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        inputs, first = self._start(graph, run)
        targets = Targets.from_labels(labels, first.device)
        self.network_ = [first, learnable(xavier(first.shape[1], targets.n_classes, run.rng), inputs)]
        if targets.n_classes == 1:
            self.loss_history_ = []
            logger.warning(
                "%s: one seen class leaves nothing to learn; the vectors are those of the untrained network",
                self._name,
            )
        else:
            self._learn(inputs, targets, run)
        return self._embed(inputs)

    def _learn(self, inputs: Inputs, targets: Targets, run: Run, *judged: Any) -> None:
        """Train on the targets, under dropout; `judged` are what stops, and what is reported."""
        first, second = self.network_
        needed, aims = self._needed(inputs, targets)
        of_features, of_hidden, of_edges = needed.draws()

        def evaluate() -> torch.Tensor:
            x = dropout(needed.x, self.dropout, of_features)
            hidden = dropout(self._hidden(x, needed), self.dropout, of_hidden)
            return aims.loss(self._scores(hidden @ second, needed, of_edges))

        self._learn_weights(evaluate, [first, second], inputs, run, self.weight_decay, *judged)

    def _needed(self, inputs: Inputs, targets: Targets) -> tuple[Inputs, Targets]:
        """Return what the loss depends on of the inputs, and the targets with their rows in that."""
        return inputs, targets

    def _hidden(self, x: Features, inputs: Inputs) -> torch.Tensor:
        """Return the hidden layer."""
        raise NotImplementedError

    def _scores(self, start: torch.Tensor, inputs: Inputs, of_edges: Draws) -> torch.Tensor:
        """Return the scores of the classes, given the hidden layer times the second weights; for training."""
        raise NotImplementedError


def learnable(array: Array, inputs: Inputs) -> torch.Tensor:
    """Return weights to learn, where the inputs are."""
    device = inputs.ahat.matrix.device
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32)).to(device).requires_grad_()


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

    rows: torch.Tensor
    values: torch.Tensor
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

    def subset(self, places: torch.Tensor) -> Targets:
        """Return some of the labelled nodes alone."""
        return Targets(self.rows[places], self.values[places], self.n_classes)

    def alone(self) -> Targets:
        """Return the targets for scores of the labelled nodes and no other."""
        return replace(self, rows=torch.arange(len(self.rows), device=self.rows.device))

    def loss(self, logits: torch.Tensor) -> torch.Tensor:
        """Softmax cross-entropy, or binary cross-entropy where nodes have several labels; `logits` is for all nodes."""
        if self.multilabel:
            return torch.nn.functional.binary_cross_entropy_with_logits(logits[self.rows], self.values)
        return torch.nn.functional.cross_entropy(logits[self.rows], self.values)

    def accuracy(self, logits: torch.Tensor) -> float:
        """Share of nodes whose class scores highest; one label per node only."""
        return float((logits[self.rows].argmax(dim=1) == self.values).double().mean())


class EarlyStopping(Best):
    """Wait for the loss to fall or the accuracy to rise, and keep the weights that were best.

    Best means the highest accuracy, then the lowest loss; without accuracy the lowest loss. Only a strict improvement
    counts: with ties counted, a network that gets all its few validation nodes right would never stop.

    Parameters
    ----------
    weights : sequence of Tensor
        What to keep.
    patience : int
        Epochs to wait for an improvement.
    """

    def __init__(self, weights: Sequence[torch.Tensor], patience: int) -> None:
        super().__init__(weights)
        self.patience = patience
        self.waited = 0
        self.loss = self.at_kept = float("inf")
        self.accuracy = -1.0

    @property
    def over(self) -> bool:
        """Whether the wait has been long enough."""
        return self.waited >= self.patience

    def see(self, loss: float, accuracy: float = 0.0) -> float:
        """Take note of how good the present weights are, and return the loss."""
        if accuracy > self.accuracy or (accuracy == self.accuracy and loss < self.at_kept):
            self.at_kept = loss
            self.remember()
        better = loss < self.loss or accuracy > self.accuracy
        self.waited = 0 if better else self.waited + 1
        self.loss, self.accuracy = min(loss, self.loss), max(accuracy, self.accuracy)
        return loss


class GCN(LabelNetwork):
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
    """

    reference = (
        "Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017"
    )
    _traits = replace(
        LabelNetwork._traits,
        name="gcn",
        summary="hidden layer of a graph convolutional network trained on the seen classes",
    )
    epochs: Epochs = 200

    def _needed(self, inputs: Inputs, targets: Targets) -> tuple[Inputs, Targets]:
        """Return the nodes that labelled ones can see in two layers: no other has a part in the loss."""
        return inputs.around(targets.rows), targets.alone()

    def _hidden(self, x: Features, inputs: Inputs) -> torch.Tensor:
        return torch.relu(inputs.ahat @ (x @ self.network_[0]))

    def _scores(self, start: torch.Tensor, inputs: Inputs, of_edges: Draws) -> torch.Tensor:  # noqa: ARG002
        return inputs.last @ start

    def _vectors(self, inputs: Inputs) -> torch.Tensor:
        return self._hidden(inputs.x, inputs)
