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
twenty times in the patience, every fifth epoch, instead of in every one. Each of the ten steps drops from the whole of
Ahat, as in the authors' code (PyTorch Geometric's layer drops what is left again and again).
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from unseen.engine.run import Run
from unseen.ids import Keys
from unseen.methods.neural import torch
from unseen.methods.neural.draws import Draws
from unseen.methods.neural.gcn import GCN, Inputs, NetworkFeatures, Targets, entry_keys
from unseen.methods.neural.tensors import SparseProduct
from unseen.methods.vocabulary import Epochs, Steps, Teleport, WeightDecay
from unseen_paper.methods.stopping import EarlyStopping
from unseen_paper.methods.vocabulary import Patience, Propagate, ValidationShare

CHECKS = 20
"""How often validation nodes are looked at before patience ends: each look costs half as much as an epoch."""


class APPNP(GCN):
    """Hidden layer of a network over the features, spread over the graph; it learned to tell the seen classes apart.

    Dropout takes edges too, and improvements are those of loss or accuracy of the validation nodes.

    Attributes
    ----------
    loss_history_ : list of float
        Cross-entropy of every epoch on the training nodes, under dropout, with the squared norm.

    Notes
    -----
    Without features, and with a single seen class, as for :class:`~unseen.methods.neural.gcn.GCN`.
    """

    reference = "Klicpera et al., Predict then Propagate, ICLR 2019"
    _traits = replace(
        GCN._traits,
        name="appnp",
        summary="hidden layer of a network whose predictions are spread over the graph",
    )

    steps: Steps = 10
    teleport: Teleport = 0.1
    propagate: Propagate = True
    patience: Patience = 100
    validation_share: ValidationShare = 0.2
    weight_decay: WeightDecay = 5e-3
    epochs: Epochs = 10_000

    def _learn(self, inputs: Inputs, targets: Targets, run: Run, *_: Any, **__: Any) -> None:
        """Train on most of the targets, and stop by the others."""
        first, second = self.network_
        training, validation = hold_out(targets, self.validation_share, inputs.keys)
        every = max(1, self.patience // CHECKS)
        stopping = EarlyStopping(self.network_, self.patience // every)
        epochs = itertools.count()

        def report(loss: float) -> float:
            norm = self.weight_decay / 2 * float(first.view(-1) @ first.view(-1))
            if next(epochs) % every == 0:
                scores = self._spread(self._hidden(inputs.x, inputs) @ second, inputs)
                accuracy = 0.0
                if not validation.multilabel:
                    hits = scores[validation.rows].argmax(dim=1) == validation.values
                    accuracy = float(hits.double().mean())
                stopping.see(float(validation.loss(scores)) + norm, accuracy)
            return loss + norm

        of_edges = Draws(entry_keys(inputs.ahat, inputs.keys, inputs.keys), first.device, 3)

        def spread(start: torch.Tensor) -> torch.Tensor:
            return thinned_spread(start, inputs.ahat, self.steps, self.teleport, self.dropout, of_edges)

        super()._learn(inputs, training, run, spread, report=report, stop=lambda: stopping.over)
        stopping.restore()

    def _needed(self, inputs: Inputs, targets: Targets) -> tuple[Inputs, Targets]:
        return inputs, targets

    def _hidden(self, x: NetworkFeatures, inputs: Inputs) -> torch.Tensor:  # noqa: ARG002
        return torch.relu(x @ self.network_[0])

    def _spread(self, start: torch.Tensor, inputs: Inputs) -> torch.Tensor:
        """Return what `start` has become after all steps, without dropout."""
        z = start
        for _ in range(self.steps):
            z = (inputs.ahat @ z).lerp(start, self.teleport)
        return z

    def _vectors(self, inputs: Inputs) -> torch.Tensor:
        hidden = self._hidden(inputs.x, inputs)
        return self._spread(hidden, inputs) if self.propagate else hidden


def hold_out(targets: Targets, share: float, keys: Keys) -> tuple[Targets, Targets]:
    """Return training and validation nodes; the first of every class, in the order of the keys, is for training.

    A node of several labels counts for its first; a class that only stands beside others keeps one node as well.
    """
    n = len(targets.rows)
    order = np.argsort(keys[targets.rows.cpu().numpy()])
    values = targets.values[torch.from_numpy(order).to(targets.values.device)].cpu().numpy()
    classes = values.argmax(axis=1) if targets.multilabel else values
    needed = np.zeros(n, dtype=bool)
    needed[np.unique(classes, return_index=True)[1]] = True
    free = order[~needed]
    validation = free[: round(share * n)]
    if targets.multilabel and len(validation):
        kept = np.setdiff1d(order, validation)
        values_of = targets.values.cpu().numpy()
        for column in np.flatnonzero(values_of[kept].sum(axis=0) == 0):
            validation = np.delete(validation, np.flatnonzero(values_of[validation, column])[:1])
    if not len(validation):
        return targets, targets
    rest = np.setdiff1d(np.arange(n), validation)
    training, validating = (
        replace(targets, rows=targets.rows[chosen], values=targets.values[chosen])
        for chosen in (torch.from_numpy(rest), torch.from_numpy(validation))
    )
    return training, validating


def thinned_spread(
    x: torch.Tensor, whole: SparseProduct, steps: int, teleport: float, share: float, draws: Draws
) -> torch.Tensor:
    """Return `x` after `steps` times z <- (1 - teleport) A z + teleport x, each with other entries of A dropped."""
    kept, scale = draws.keep(steps, share)
    z = x
    for mask in kept.T.contiguous():  # a column of it would be gathered from all over the memory
        z = (whole.thin(mask, scale) @ z).lerp(x, teleport)
    return z
