"""Adam on torch tensors whose gradients are handed over, in blocks, with its moments on disk where the run says so."""

from __future__ import annotations

from collections.abc import Sequence

from unseen.engine.run import Run
from unseen.engine.scratch import on_disk, rest
from unseen.methods.neural import torch

BLOCK = 65_536
DISK_BLOCK = 256 * BLOCK


class Adam:
    """Adam, with the same result for any number of threads; weights change in place.

    Examples
    --------
    >>> weight = torch.tensor([1.0])
    >>> Adam([weight], 0.1, Run()).step([torch.tensor([3.0])])
    >>> round(float(weight), 4)
    0.9
    """

    def __init__(self, weights: Sequence[torch.Tensor], learning_rate: float, run: Run) -> None:
        self.run, self.learning_rate, self.steps = run, learning_rate, 0
        self.weights = [weight.view(-1) for weight in weights]
        self._moments = [[run.zeros((len(weight),)) for _ in range(2)] for weight in self.weights]
        self.first, self.second = ([torch.from_numpy(pair[k]) for pair in self._moments] for k in range(2))
        if any(weight.is_cuda for weight in weights):
            self.first, self.second = (
                [m.to(weights[0].device) for m in ms] for ms in (self.first, self.second)
            )

    def step(self, gradients: Sequence[torch.Tensor]) -> None:
        """Move the weights against the gradients, which are given in the order of the weights."""
        self.steps += 1
        for k, (weight, gradient) in enumerate(zip(self.weights, gradients, strict=True)):
            parts = (weight, gradient.reshape(-1), self.first[k], self.second[k])
            if not on_disk(self._moments[k][0]):
                self._move(parts)
                continue
            for start in range(0, weight.numel(), DISK_BLOCK):
                stop = min(start + DISK_BLOCK, weight.numel())
                self._move([part[start:stop] for part in parts])
                for moment in self._moments[k]:
                    rest(moment, start, stop)

    def _move(self, parts: Sequence[torch.Tensor]) -> None:
        from torch.optim.adam import adam

        n = parts[0].numel()
        size = n if parts[0].is_cuda else BLOCK

        def move(start: int, stop: int) -> None:
            # torch's fused kernel: one pass over memory, a third of the time of Adam's formula written out
            weight, gradient, first, second = ([part[start:stop]] for part in parts)
            adam(
                weight,
                gradient,
                first,
                second,
                max_exp_avg_sqs=[],
                state_steps=[torch.tensor(float(self.steps - 1), device=parts[0].device)],
                foreach=False,
                fused=True,
                amsgrad=False,
                beta1=0.9,
                beta2=0.999,
                lr=self.learning_rate,
                weight_decay=0.0,
                eps=1e-8,
                maximize=False,
            )

        self.run.each(move, [(start, min(start + size, n)) for start in range(0, n, size)])
