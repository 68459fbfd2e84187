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
        self.first, self.second = (
            [torch.from_numpy(pair[k]).to(weights[0].device) for pair in self._moments] for k in range(2)
        )
        # large tensors are cut into blocks and small ones put together: a call costs as much as many numbers
        self._groups: list[list[tuple[int, slice]]] = []
        room = 0
        for number, weight in enumerate(self.weights):
            size = BLOCK if weight.device.type == "cpu" else max(1, len(weight))
            for start in range(0, len(weight), size):
                if room <= 0:
                    self._groups.append([])
                    room = BLOCK
                self._groups[-1].append((number, slice(start, min(start + size, len(weight)))))
                room -= size

    def step(self, gradients: Sequence[torch.Tensor]) -> None:
        """Move the weights against the gradients, which are given in the order of the weights."""
        from torch.optim.adam import adam

        self.steps += 1
        all_tensors = (
            self.weights,
            [gradient.reshape(-1) for gradient in gradients],
            self.first,
            self.second,
        )
        options: dict[str, Any] = dict.fromkeys(("amsgrad", "maximize"), False)
        options |= {"lr": self.learning_rate, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0}

        def move(number: int, _: int) -> None:
            group = self._groups[number]
            weights, slopes, first, second = (
                [tensors[k][block] for k, block in group] for tensors in all_tensors
            )
            counts = [torch.tensor(self.steps - 1.0, device=weight.device) for weight in weights]
            adam(weights, slopes, first, second, [], counts, fused=True, **options)
            for k, block in group:
                for moment in self._moments[k]:
                    release_pages(moment, block.start, block.stop)

        with torch.no_grad():
            self.run.map_blocks(move, [(k, k + 1) for k in range(len(self._groups))])

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
            tensor.copy_(torch.from_numpy(arrays[name]).view_as(tensor))


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


class _Learnt:
    """What they learn; `network_` has the weights of graph neural networks."""

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
        history = run.steps(self._traits.name, self.epochs, training, callbacks=self.callbacks, tol=tol)
        self.loss_history_ = history.losses
        return history
