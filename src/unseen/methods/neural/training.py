"""Methods whose weights torch's Adam trains: in blocks on all threads, with moments on disk where the run says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from unseen.engine.run import Run
from unseen.engine.scratch import release_pages
from unseen.engine.steps import Arrays, History, Training
from unseen.ids import Array, Singles
from unseen.methods.base import Method, Traits
from unseen.methods.neural import torch
from unseen.methods.vocabulary import Callbacks, Columns, Device, Epochs, LearningRate

BLOCK = 262_144
"""Numbers that one call of the kernel moves."""


class Optimizer:
    """Torch's Adam on blocks of the weights, with the same result for any number of threads; weights change in place.

    Its fused kernel is one pass over memory. The class `torch.optim.Adam` is not used: making one imports the compiler
    of torch, which takes as long as torch itself.
    """

    def __init__(self, weights: Sequence[torch.Tensor], learning_rate: float, run: Run) -> None:
        self.run, self.learning_rate, self.steps = run, learning_rate, 0
        self.weights = [weight.detach().view(-1) for weight in weights]
        self._moments = [[run.zeros((len(weight),)) for _ in range(2)] for weight in self.weights]
        self._tensors = [
            (weight, *(torch.from_numpy(moment).to(weight.device) for moment in pair))
            for weight, pair in zip(self.weights, self._moments, strict=True)
        ]
        # large tensors are cut into blocks and small ones put together: a call costs as much as many numbers
        small: list[tuple[int, slice]] = []
        self._groups = [small]
        for k, weight in enumerate(self.weights):
            if len(weight) <= BLOCK or weight.device.type != "cpu":
                small.append((k, slice(0, len(weight))))
            else:
                ends = (slice(i, min(i + BLOCK, len(weight))) for i in range(0, len(weight), BLOCK))
                self._groups += [[(k, block)] for block in ends]

    def step(self, gradients: Sequence[torch.Tensor]) -> None:
        """Move the weights against the gradients, which are given in the order of the weights."""
        from torch.optim.adam import adam

        self.steps += 1
        options: dict[str, Any] = {"amsgrad": False, "maximize": False, "weight_decay": 0.0}
        options |= {"lr": self.learning_rate, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8}
        tensors = [
            (gradient.reshape(-1), *own) for gradient, own in zip(gradients, self._tensors, strict=True)
        ]

        def move(number: int, _: int) -> None:
            group = self._groups[number]
            parts = [[each[block] for each in tensors[k]] for k, block in group]
            slopes, weights, first, second = map(list, zip(*parts, strict=True))
            counts = [torch.tensor(self.steps - 1.0, device=weight.device) for weight in weights]
            adam(weights, slopes, first, second, [], counts, fused=True, **options)
            for k, block in group:
                for moment in self._moments[k]:
                    release_pages(moment, block.start, block.stop)

        with torch.no_grad():
            self.run.map_blocks(move, [(k, k + 1) for k, group in enumerate(self._groups) if group])

    def state(self) -> dict[str, Array]:
        """Return weights and moments."""
        named = ("weight", "first", "second")
        return {
            f"{name}{k}": tensor.cpu().numpy()
            for k, tensors in enumerate(self._tensors)
            for name, tensor in zip(named, tensors, strict=True)
        }

    def restore(self, done: int, arrays: Arrays) -> None:
        """Put weights and moments back, as they were after `done` steps."""
        self.steps = done
        for k, tensors in enumerate(self._tensors):
            for name, tensor in zip(("weight", "first", "second"), tensors, strict=True):
                tensor.copy_(torch.from_numpy(arrays[f"{name}{k}"]).view_as(tensor))


class Best:
    """The best of some weights so far."""

    def __init__(self, weights: Sequence[torch.Tensor]) -> None:
        self.weights = [weight.detach() for weight in weights]
        self.kept: list[torch.Tensor] = []

    def remember(self) -> None:
        """Remember the weights as they are now."""
        self.kept = [weight.clone() for weight in self.weights]

    def restore(self) -> str:
        """Put the remembered weights back, if there are any, and return in words what they are."""
        for kept, weight in zip(self.kept, self.weights, strict=False):
            weight.copy_(kept)
        return "the best state"


class NeuralMethod(Method):
    """Base of methods whose weights Adam trains."""

    _traits = Traits(uses_features=True, extra="neural", averages_neighbours=True)

    n_components: Columns = None
    epochs: Epochs = 100
    learning_rate: LearningRate = 0.001
    device: Device = "auto"
    callbacks: Callbacks = None

    def _train(
        self,
        loss: Callable[[], torch.Tensor],
        weights: Sequence[torch.Tensor],
        vectors: Callable[[], Singles],
        run: Run,
        *,
        tol: float = 0.0,
        decay: float = 0.0,
        report: Callable[[float], float] = float,
        stop: Callable[[], bool] = bool,
        best: Best | None = None,
        resumes: bool = True,
    ) -> History:
        """Train `weights` on what `loss` returns at their present values; `vectors` gives the embedding there.

        `decay` is the weight of the squared norm of the first weights, which the loss leaves out. `report` is called
        once in an epoch and returns what is reported of the loss, `stop` says whether to stop. `best` makes Ctrl-C end
        the training with the best weights. `resumes` says whether weights and moments are all that changes from epoch
        to epoch, so that a training can go on from them.
        """
        optimizer = Optimizer(weights, self.learning_rate, run)
        slopes: list[torch.Tensor] = []

        def evaluate() -> float:
            value = loss()
            slopes[:] = torch.autograd.grad(value, weights)
            if decay:
                slopes[0] = slopes[0].add(weights[0].detach(), alpha=decay)
            with torch.no_grad():
                return report(value.item())

        training = Training(evaluate, lambda: optimizer.step(slopes), vectors=vectors, stop=stop)
        if resumes:
            training.state, training.restore = optimizer.state, optimizer.restore
        if best is not None:
            training.improved, training.interrupted = best.remember, best.restore
        history = run.steps(self._name, self.epochs, training, callbacks=self.callbacks, tol=tol)
        self.loss_history_: Any = history.losses
        return history
