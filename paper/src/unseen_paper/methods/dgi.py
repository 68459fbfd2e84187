"""DGI: an encoder that learns, without labels, to tell the graph from one whose features are shuffled.

Velickovic et al., Deep Graph Infomax, ICLR 2019. With Ahat the normalised adjacency, X the row-normalised features and
X~ its rows in a random order, drawn anew in every epoch,

    Z = PReLU(Ahat X W + b),    Z~ = PReLU(Ahat X~ W + b),    s = sigmoid(mean of the rows of Z),

a bilinear form sigmoid(z' B s) is trained to answer 1 for rows of Z and 0 for rows of Z~. Training stops when the loss
has not fallen for 20 epochs; the weights of the lowest loss are kept. The vectors are Z.

What differs from the authors' code: 200 units instead of 512, a bilinear form that starts six times as wide and has no
bias (as in PyTorch Geometric), and X W is computed once and shuffled instead of X, which is the same because W acts on
rows. Who gets whose row is drawn by node id.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unseen.engine.run import Run
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.methods.base import Vectors
from unseen.methods.neural import torch
from unseen.methods.neural.draws import Draws
from unseen.methods.neural.gcn import Inputs, NetworkMethod, learnable
from unseen.methods.neural.tensors import FLAT
from unseen.methods.vocabulary import LearningRate
from unseen_paper.methods.stopping import EarlyStopping
from unseen_paper.methods.vocabulary import Patience

SIGN = -(2**63)
"""Flips the sign, so that signed numbers have the order of their unsigned bits."""


class DGI(NetworkMethod):
    """One graph convolution trained to tell the graph from a shuffled one; no labels.

    Attributes
    ----------
    loss_history_ : list of float
        Loss of every epoch: the two logarithmic losses, of true and of shuffled rows, added.

    Notes
    -----
    Without features as for :class:`~unseen.methods.neural.gcn.GCN`.
    """

    reference = "Velickovic et al., Deep Graph Infomax, ICLR 2019"
    _traits = replace(
        NetworkMethod._traits,
        name="dgi",
        summary="graph convolution that tells the graph from a shuffled one, no labels",
    )

    patience: Patience = 20
    learning_rate: LearningRate = 0.001

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:  # noqa: ARG002
        inputs, weight = self._start(graph, run)
        width = weight.shape[1]
        bound = 1 / np.sqrt(width)
        form = learnable(run.rng.uniform(-bound, bound, (width, width)), inputs)
        bias, slope = learnable(np.zeros(width), inputs), learnable(np.full(1, FLAT), inputs)
        self.network_ = [weight, bias, slope]
        stopping = EarlyStopping(self.network_, self.patience)
        softplus = torch.nn.functional.softplus
        draws = Draws(inputs.keys, weight.device, use=None)
        ranked = torch.argsort(draws.keys ^ SIGN)

        def evaluate() -> torch.Tensor:
            xw = inputs.x @ self.network_[0]
            z, other = (
                self._layer(xw, inputs),
                self._layer(xw.index_select(0, shuffle(draws, ranked)), inputs),
            )
            direction = form @ z.mean(dim=0).sigmoid()
            return softplus(-(z @ direction)).mean() + softplus(other @ direction).mean()

        self._train(
            evaluate,
            [*self.network_, form],
            lambda: self._embed(inputs),
            run,
            report=stopping.see,
            stop=lambda: stopping.over,
            resumes=False,
        )
        stopping.restore()
        return self._embed(inputs)

    def _layer(self, xw: torch.Tensor, inputs: Inputs) -> torch.Tensor:
        """Return PReLU(Ahat (X W) + b), of which shuffling commutes with the linear map alone."""
        _, bias, slope = self.network_
        return torch.nn.functional.prelu(inputs.ahat @ xw + bias, slope)

    def _vectors(self, inputs: Inputs) -> torch.Tensor:
        return self._layer(inputs.x @ self.network_[0], inputs)


def shuffle(draws: Draws, ranked: torch.Tensor) -> torch.Tensor:
    """Return whose row every key gets: a permutation of keys that does not depend on their order."""
    order = torch.empty_like(ranked)
    order[ranked] = torch.argsort(draws.bits(1)[:, 0] ^ SIGN)
    return order
