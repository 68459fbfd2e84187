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

from unseen.engine.run import Run
from unseen.errors import logger
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.methods.base import Vectors
from unseen.methods.neural import torch
from unseen.methods.neural.gcn_encoder import xavier
from unseen.methods.neural.gnn_common import Inputs, NetworkMethod, Targets, adam, learnable
from unseen.methods.neural.gnn_sparse import drop_features, dropout
from unseen.methods.vocabulary import Dropout, Epochs, LearningRate, WeightDecay


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
        inputs, first = self._start(graph, run)
        targets = Targets.from_labels(labels, first.device)
        second = learnable(xavier(first.shape[1], targets.n_classes, run.rng), inputs)
        self.network_ = [first, second]
        self._train(inputs, targets, run)
        return self._embed(inputs)

    def _train(self, inputs: Inputs, targets: Targets, run: Run) -> None:
        if targets.n_classes == 1:
            self.loss_history_ = []
            logger.warning(
                "gcn: one seen class leaves nothing to learn; the vectors are those of the untrained network"
            )
            return
        first, second = self.network_
        groups = [{"params": [first], "weight_decay": self.weight_decay}, {"params": [second]}]
        optimizer = adam(groups, self.learning_rate)
        of_features, of_hidden, _ = inputs.draws()

        def evaluate() -> float:
            optimizer.zero_grad()
            x = drop_features(inputs.x, self.dropout, of_features)
            hidden = dropout(torch.relu(inputs.ahat @ (x @ first)), self.dropout, of_hidden)
            loss = targets.loss(inputs.ahat @ (hidden @ second))
            loss.backward()  # type: ignore[no-untyped-call]
            return float(loss.detach())

        self._run(evaluate, optimizer, inputs, run)

    def _vectors(self, inputs: Inputs) -> torch.Tensor:
        return torch.relu(inputs.ahat @ (inputs.x @ self.network_[0]))
