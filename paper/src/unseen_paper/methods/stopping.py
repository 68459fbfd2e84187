"""Early stopping of APPNP and DGI."""

from __future__ import annotations

from collections.abc import Sequence

from unseen.methods.neural import torch
from unseen.methods.neural.training import Best


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
