"""Adam on torch tensors whose gradients are handed over, and the methods whose weights it trains.

It works in blocks, with its moments on disk where the run says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from unseen.engine.run import Run
from unseen.engine.scratch import on_disk, rest
from unseen.engine.steps import Arrays, History, Training
from unseen.ids import Array, Singles
from unseen.methods.base import Method, Traits
from unseen.methods.neural import torch
from unseen.methods.vocabulary import Callbacks, Columns, Device, Epochs, LearningRate

BLOCK = 262_144
"""Numbers that one call of the kernel moves."""
DISK_BLOCK = 64 * BLOCK


class Adam:
    """Adam, with the same result for any number of threads; weights change in place."""

    def __init__(self, weights: Sequence[torch.Tensor], learning_rate: float, run: Run) -> None:
        self.run, self.learning_rate, self.steps = run, learning_rate, 0
        self.weights = [weight.detach().view(-1) for weight in weights]
        self._moments = [[run.zeros((len(weight),)) for _ in range(2)] for weight in self.weights]
        self.first, self.second = ([torch.from_numpy(pair[k]) for pair in self._moments] for k in range(2))
        if any(weight.is_cuda for weight in weights):
            self.first, self.second = (
                [m.to(weights[0].device) for m in ms] for ms in (self.first, self.second)
            )

    def step(self, gradients: Sequence[torch.Tensor]) -> None:
        """Move the weights against the gradients, which are given in the order of the weights."""
        self.steps += 1
        flat = (gradient.reshape(-1) for gradient in gradients)
        tensors = list(zip(self.weights, flat, self.first, self.second, strict=True))
        in_memory = [k for k, pair in enumerate(self._moments) if not on_disk(pair[0])]
        self._move([tensors[k] for k in in_memory])
        for k in sorted(set(range(len(tensors))) - set(in_memory)):
            n = self.weights[k].numel()
            for start in range(0, n, DISK_BLOCK):
                stop = min(start + DISK_BLOCK, n)
                self._move([tuple(part[start:stop] for part in tensors[k])])
                for moment in self._moments[k]:
                    rest(moment, start, stop)

    def _move(self, tensors: Sequence[tuple[torch.Tensor, ...]]) -> None:
        from torch.optim.adam import adam

        groups = _grouped(tensors)

        def move(number: int, _: int) -> None:
            # torch's fused kernel: one pass over memory, a third of the time of Adam's formula written out
            weights, gradients, first, second = (list(parts) for parts in zip(*groups[number], strict=True))
            adam(
                weights,
                gradients,
                first,
                second,
                max_exp_avg_sqs=[],
                state_steps=[torch.tensor(float(self.steps - 1), device=part.device) for part in weights],
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

        self.run.each(move, [(k, k + 1) for k in range(len(groups))])

    def _tensors(self) -> dict[str, torch.Tensor]:
        named = (("weight", self.weights), ("first", self.first), ("second", self.second))
        return {f"{name}{k}": tensor for name, tensors in named for k, tensor in enumerate(tensors)}

    def state(self) -> dict[str, Array]:
        """Return weights and moments."""
        return {name: tensor.cpu().numpy() for name, tensor in self._tensors().items()}

    def restore(self, done: int, arrays: Arrays) -> None:
        """Put weights and moments back, as they were after `done` steps."""
        self.steps = done
        for name, tensor in self._tensors().items():
            tensor.copy_(torch.from_numpy(arrays[name]).to(tensor.device).view_as(tensor))


def _grouped(tensors: Sequence[tuple[torch.Tensor, ...]]) -> list[list[tuple[torch.Tensor, ...]]]:
    """Cut large tensors into blocks, and put small ones together: a call costs as much as many numbers."""
    groups: list[list[tuple[torch.Tensor, ...]]] = []
    room = 0
    for parts in tensors:
        n = parts[0].numel()
        size = n if parts[0].is_cuda else BLOCK
        for start in range(0, n, max(size, 1)):
            if room <= 0:
                groups.append([])
                room = BLOCK
            groups[-1].append(tuple(part[start : start + size] for part in parts))
            room -= min(size, n - start)
    return groups


class _Learnt:
    """What they learn; `network_` has the weights of networks that torch differentiates."""

    loss_history_: Any
    network_: list[torch.Tensor]


class NeuralMethod(_Learnt, Method):
    """Base of methods whose weights Adam trains."""

    _traits = Traits(uses_features=True, extra="neural", averages_neighbours=True)

    n_components: Columns = None
    epochs: Epochs = 100
    learning_rate: LearningRate = 0.001
    device: Device = "auto"
    callbacks: Callbacks = None

    def _take_steps(
        self,
        gradients: Callable[[], tuple[float, Sequence[torch.Tensor]]],
        vectors: Callable[[], Singles],
        weights: Sequence[torch.Tensor],
        run: Run,
        *,
        tol: float = 0.0,
        stop: Callable[[], bool] = bool,
        best: Best | None = None,
        resumes: bool = True,
    ) -> History:
        """Train `weights`; `gradients` gives the loss, and its gradients in their order.

        `best` makes Ctrl-C end the training with the best weights. `resumes` says whether weights and moments are all
        that changes from epoch to epoch, so that a training goes on from them.
        """
        adam = Adam(weights, self.learning_rate, run)
        slopes: Sequence[torch.Tensor] = []

        def evaluate() -> float:
            nonlocal slopes
            loss, slopes = gradients()
            return loss

        training = Training(evaluate, lambda: adam.step(slopes), vectors=vectors, stop=stop)
        if resumes:
            training.state, training.restore = adam.state, adam.restore
        if best is not None:
            training.improved, training.interrupted = best.remember, best.go_back
        history = run.steps(self._name, self.epochs, training, callbacks=self.callbacks, tol=tol)
        self.loss_history_ = history.losses
        return history


class Best:
    """The best of some weights so far."""

    def __init__(self, weights: Sequence[torch.Tensor]) -> None:
        self.weights = [weight.detach() for weight in weights]
        self.kept: list[torch.Tensor] = []

    def remember(self) -> None:
        """Remember the weights as they are now."""
        self.kept = self.kept or [torch.empty_like(weight) for weight in self.weights]
        for kept, weight in zip(self.kept, self.weights, strict=True):
            kept.copy_(weight)

    def go_back(self) -> str:
        """Put the remembered weights back, if there are any, and return in words what they are."""
        for kept, weight in zip(self.kept, self.weights, strict=False):
            weight.copy_(kept)
        return "the best state"
