"""GCN: a two-layer graph convolutional network trained on the labels there are; its hidden layer is the embedding.

Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017. With Ahat the
normalised adjacency and X the row-normalised features,

    H = ReLU(Ahat X W_0),    scores = Ahat H W_1,

softmax cross-entropy over the seen classes on L' (binary cross-entropy where nodes have several labels), dropout on X
and H, squared norm on W_0, Adam. The vectors are H: the hidden layer after aggregation and activation.

What differs from the authors' code: 200 hidden units instead of 16 (the paper this package follows says so), all 200
epochs instead of a stop on 500 validation nodes, and the binary loss for several labels. Neither has bias terms.

What other graph neural networks have in common with it is here, too: what they read, starting weights, dropout, label
losses. Weights are plain tensors. The first layer multiplies features in CSR instead of a dense matrix, which changes
the price and not the result. All draws belong to node ids.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

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
from unseen.methods.neural.draws import Draws
from unseen.methods.neural.tensors import SparseProduct, input_weights, pick_device, to_tensor, xavier
from unseen.methods.neural.training import NeuralMethod
from unseen.methods.vocabulary import Dropout, Epochs, LearningRate, RowNormalize, WeightDecay
from unseen.randomness import child_seed, mix_bits, node_keys

if TYPE_CHECKING:
    from unseen.engine.memory import Job

DENSE_ABOVE = 0.5
"""Share of nonzero entries above which features that come as an ndarray are multiplied as one."""
NetworkFeatures: TypeAlias = "SparseProduct | torch.Tensor"
Scores: TypeAlias = "Callable[[torch.Tensor], torch.Tensor]"


@dataclass(frozen=True)
class Inputs:
    """What a network reads of a graph.

    Attributes
    ----------
    x : SparseProduct or Tensor
        The features.
    ahat, last : SparseProduct
        The normalised adjacency, for the first layer and for the last.
    keys, hidden_keys, column_keys : ndarray of uint64
        Keys of the rows of `x` and of the hidden layer, and of the columns of `x`, to which all draws belong.
    """

    x: NetworkFeatures
    ahat: SparseProduct
    last: SparseProduct
    keys: Keys
    hidden_keys: Keys
    column_keys: Keys

    @classmethod
    def read(cls, graph: Graph, *, row_normalize: bool, seed: int, device: torch.device) -> Inputs:
        """Read a graph: rows of the adjacency where there are no features, CSR unless they are truly dense."""
        run = Run(threads=1)
        x = graph.adjacency if graph.features is None else graph.features
        if isinstance(x, np.ndarray) and np.count_nonzero(x) <= DENSE_ABOVE * x.size:
            x = sp.csr_array(x)
        if row_normalize:
            x = l1_rows(x)
        dense = isinstance(x, np.ndarray)
        features = to_tensor(x, device) if dense else SparseProduct(run.matrix(sp.csr_array(x)), device)
        ahat = SparseProduct(run.matrix(graph.adjacency, symmetric=True).gcn_normalized(), device)
        keys = node_keys(graph.node_ids, seed)
        columns = keys if graph.features is None else np.arange(x.shape[1], dtype=np.uint64)
        return cls(features, ahat, ahat, keys, keys, columns)

    def restrict(self, rows: torch.Tensor) -> Inputs:
        """Return what two layers of neighbours read to score some rows: features of nodes up to two steps away.

        The hidden layer has the nodes up to one step away then, and draws are those of the whole graph.
        """
        run, device = self.ahat.run, self.ahat.device

        def select(chosen: Array) -> tuple[SparseProduct, Array]:
            """Return some rows of Ahat, with the columns that have entries in them, and which these are."""
            some = self.ahat.local[chosen]
            columns, places = np.unique(some.indices, return_inverse=True)
            left = sp.csr_array((some.data, places, some.indptr), shape=(len(chosen), len(columns)))
            return SparseProduct(run.matrix(left), device), columns

        last, near = select(rows.cpu().numpy())
        ahat, far = select(near)
        if isinstance(self.x, SparseProduct):
            x: NetworkFeatures = SparseProduct(run.matrix(sp.csr_array(self.x.local[far])), device)
        else:
            x = self.x[torch.from_numpy(far).to(device)]
        return replace(self, x=x, ahat=ahat, last=last, keys=self.keys[far], hidden_keys=self.keys[near])


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
        indicator, rows = sp.csr_array(labels.indicator[:, np.flatnonzero(labels.counts)]), labels.labelled
        if labels.is_multilabel:
            values = torch.tensor(indicator[rows].toarray(), dtype=torch.float32, device=device)
        else:
            values = torch.tensor(indicator.indices, dtype=torch.int64, device=device)
        return cls(torch.tensor(rows, device=device), values, int(indicator.shape[1]))

    @property
    def multilabel(self) -> bool:
        """Whether nodes may have several labels."""
        return self.values.ndim == 2

    def loss(self, logits: torch.Tensor) -> torch.Tensor:
        """Softmax cross-entropy, or binary cross-entropy where nodes have several labels; `logits` is for all nodes."""
        if self.multilabel:
            return torch.nn.functional.binary_cross_entropy_with_logits(logits[self.rows], self.values)
        return torch.nn.functional.cross_entropy(logits[self.rows], self.values)


def dropout(values: NetworkFeatures, share: float, draws: Draws) -> NetworkFeatures:
    """Zero a random share of `values` and scale the others up; `draws` has a key per row, or per sparse entry."""
    if share == 0:
        return values
    if isinstance(values, SparseProduct):
        mask, factor = draws.keep(1, share)
        return values.thin(mask[:, 0], factor)
    mask, factor = draws.keep(values.shape[1], share)
    return values * mask.to(values.dtype).mul_(factor)


def entry_keys(matrix: SparseProduct, rows: Keys, columns: Keys) -> Keys:
    """Return a key of every entry, made of those of its row and of its column."""
    lengths = np.diff(matrix.local.indptr)
    return mix_bits(np.repeat(rows, lengths) + mix_bits(columns)[matrix.local.indices])


class NetworkMethod(NeuralMethod):
    """A network over features and graph: what it reads, and how a fitted one reads a new graph.

    A subclass sets `network_` in ``_fit``, trains it by ``_train`` and says in ``_vectors`` what comes out.
    """

    epochs: Epochs = 10_000
    learning_rate: LearningRate = 0.01
    row_normalize: RowNormalize = True

    def _read(self, graph: Graph, seed: int) -> Inputs:
        """Return what the network reads of a graph."""
        device = pick_device(self.device)
        return Inputs.read(graph, row_normalize=self.row_normalize, seed=seed, device=device)

    def _start(self, graph: Graph, run: Run) -> tuple[Inputs, torch.Tensor]:
        """Return what the network reads and the starting weights of its first layer."""
        inputs = self._read(graph, child_seed(run.rng))
        width = self.n_components or self._traits.default_components  # any number is possible
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


def learnable(array: Array, inputs: Inputs) -> torch.Tensor:
    """Return weights to learn, where the inputs are."""
    return to_tensor(array, inputs.ahat.device).requires_grad_()


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
    """

    reference = (
        "Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017"
    )
    _traits = replace(
        NetworkMethod._traits,
        name="gcn",
        summary="hidden layer of a graph convolutional network trained on the seen classes",
        uses_labels=True,
        needs_labels=True,
    )

    epochs: Epochs = 200
    dropout: Dropout = 0.5
    weight_decay: WeightDecay = 5e-4

    @classmethod
    def _bytes_needed(cls, job: Job) -> float:
        arrays = 3 if job.source == "features" else 7  # weights with a row per node
        nodes = 700.0 * job.nodes + 1500.0 * job.labelled
        return arrays * job.tall + nodes + 200.0 * job.entries + job.feature_bytes(15, 95)

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        inputs, first = self._start(graph, run)
        targets = Targets.from_labels(labels, first.device)
        self.network_ = [first, learnable(xavier(first.shape[1], targets.n_classes, run.rng), inputs)]
        if targets.n_classes > 1:
            self._learn(inputs, targets, run)
        else:
            self.loss_history_ = []
            sentence = (
                "%s: one seen class leaves nothing to learn; the vectors are those of the untrained network"
            )
            logger.warning(sentence, self._name)
        return self._embed(inputs)

    def _learn(
        self, inputs: Inputs, targets: Targets, run: Run, scores: Scores | None = None, **options: Any
    ) -> None:
        """Train on the targets, under dropout; `options` are those of ``_train``.

        `scores` returns the scores of the classes, given the hidden layer times the second weights.
        """
        first, second = self.network_
        needed, aims = self._needed(inputs, targets)
        x, device = needed.x, first.device
        of_x = entry_keys(x, needed.keys, needed.column_keys) if isinstance(x, SparseProduct) else needed.keys
        of_features, of_hidden = Draws(of_x, device, 1), Draws(needed.hidden_keys, device, 2)

        def evaluate() -> torch.Tensor:
            features = dropout(x, self.dropout, of_features)
            hidden = dropout(self._hidden(features, needed), self.dropout, of_hidden)
            start = hidden @ second
            return aims.loss(needed.last @ start if scores is None else scores(start))

        # states without what dropout draws next would not do to go on from
        options = {"decay": self.weight_decay, "resumes": False, **options}
        self._train(evaluate, self.network_, lambda: self._embed(inputs), run, **options)

    def _needed(self, inputs: Inputs, targets: Targets) -> tuple[Inputs, Targets]:
        """Return what the loss depends on, the nodes that labelled ones see in two layers, and the targets there."""
        rows = torch.arange(len(targets.rows), device=targets.rows.device)
        return inputs.restrict(targets.rows), replace(targets, rows=rows)

    def _hidden(self, x: NetworkFeatures, inputs: Inputs) -> torch.Tensor:
        """Return the hidden layer."""
        return torch.relu(inputs.ahat @ (x @ self.network_[0]))

    def _vectors(self, inputs: Inputs) -> torch.Tensor:
        return self._hidden(inputs.x, inputs)
