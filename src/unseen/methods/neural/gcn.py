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

from unseen.methods.neural import torch
from unseen.methods.neural.gnn_common import Inputs, LabelNetwork, Targets
from unseen.methods.neural.gnn_sparse import Draws, Features
from unseen.methods.vocabulary import Epochs


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

    name = "gcn"
    summary = "hidden layer of a graph convolutional network trained on the seen classes"
    reference = (
        "Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017"
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
