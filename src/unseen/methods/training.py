"""The loop over epochs that trained methods share: callbacks, loss history, early stop, Ctrl-C.

A callback is a function of one argument, the :class:`Epoch` that has just ended; when it returns something true,
training stops there. ``callbacks`` of a method is a sequence of such functions.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from unseen.errors import InputError, UnseenError, logger
from unseen.linalg.blocks import map_blocks
from unseen.linalg.scratch import Zeros
from unseen.methods.keeping import keeper

PATIENCE = 10
"""Epochs over which the loss must fall by `tol` for training to go on."""
SAY_EVERY = 10.0
"""Seconds between two notices about the progress."""
_ADAM_BLOCK = 65_536
_DISK_BLOCK = 256 * _ADAM_BLOCK


@dataclass(frozen=True)
class Epoch:
    """What a callback is told.

    Attributes
    ----------
    method : str
        Registry name of what is being trained ("rect-n" and "rect-l" in turn for RECT).
    number, total : int
        The epoch that has ended, from 1, and how many there are at most.
    loss : float
        At the weights the epoch began with.
    seconds : float
        Since the first epoch began.
    vectors : function
        Returns the embedding as it is now, one row a node; costs a pass over the graph.

    Examples
    --------
    >>> Epoch("rect-n", 25, 100, 0.5, 10.0, lambda: np.zeros((3, 2))).seconds_left
    30.0
    """

    method: str
    number: int
    total: int
    loss: float
    seconds: float
    vectors: Callable[[], npt.NDArray[np.float32]] = field(repr=False)

    @property
    def seconds_left(self) -> float:
        """Estimate of the time the remaining epochs take."""
        return self.seconds / self.number * (self.total - self.number)


Callback = Callable[[Epoch], object]


@dataclass(frozen=True)
class History:
    """The losses, and what ended the training early ("", "callback", "tol" or "interrupt")."""

    losses: list[float]
    stopped_by: str


def run_epochs(
    evaluate: Callable[[], float],
    update: Callable[[], None],
    *,
    method: str,
    epochs: int,
    vectors: Callable[[], npt.NDArray[np.float32]],
    callbacks: Iterable[Callback] | Callback | None = None,
    tol: float = 0.0,
    best_of: Sequence[torch.Tensor] = (),
    state: Mapping[str, torch.Tensor] | None = None,
    resumed: Callable[[int], object] = lambda done: None,  # noqa: ARG005
) -> History:
    """Call `evaluate` and `update` in turn, `epochs` times, unless something ends it before.

    Parameters
    ----------
    evaluate : function
        Returns the loss at the present weights and makes ready what `update` needs.
    update : function
        Changes the weights.
    method, epochs, vectors
        What callbacks are told, see :class:`Epoch`.
    callbacks : iterable of functions, optional
        Called after every epoch; training stops when one returns something true.
    tol : float
        Stop when the loss has fallen by less than this share of itself in the last ten epochs; 0: never.
    best_of : sequence of tensors
        Weights to put back to where the loss was lowest when Ctrl-C is pressed. Empty: Ctrl-C is not caught.
    state : mapping of str to tensor, optional
        Everything that changes from epoch to epoch, for a keeper (:mod:`unseen.methods.keeping`).
    resumed : function
        Told how many epochs were done before, where a keeper has put back an earlier state.

    Examples
    --------
    >>> weight = torch.tensor([4.0])
    >>> history = run_epochs(lambda: float(weight**2), lambda: weight.mul_(0.5), method="halve", epochs=3,
    ...                      vectors=lambda: weight[None].numpy())
    >>> history.losses
    [16.0, 4.0, 1.0]
    """
    callbacks = checked_callbacks(callbacks)
    losses: list[float] = []
    best: list[torch.Tensor] = []
    done = _resume(method, state, losses)
    if done:
        resumed(done)
    start = said = time.monotonic()
    try:
        for number in range(done + 1, epochs + 1):
            loss = evaluate()
            if not math.isfinite(loss):
                msg = (
                    f"{method}: the loss is {loss} in epoch {number}, so the training has diverged; "
                    "take a smaller `learning_rate`"
                )
                raise UnseenError(msg)
            if best_of and (not losses or loss < min(losses)):
                best = _copied(best_of, best)
            losses.append(loss)
            update()
            _offer(method, number, state, losses, last=number == epochs)
            now = time.monotonic()
            told = Epoch(method, number, epochs, loss, now - start, vectors)
            if now - said >= SAY_EVERY and number < epochs:
                said = now
                logger.info(
                    "%s: epoch %d of %d, loss %.6g, about %.0f s left",
                    method,
                    number,
                    epochs,
                    loss,
                    told.seconds_left,
                )
            answers = [callback(told) for callback in callbacks]  # all are called, also after one said stop
            if any(answers):
                return History(losses, "callback")
            if tol > 0 and _settled(losses, tol):
                logger.info("%s: stopped after %d epochs, the loss hardly falls any more", method, number)
                return History(losses, "tol")
    except KeyboardInterrupt:
        if not best:
            raise
        for weight, kept in zip(best_of, best, strict=True):
            weight.copy_(kept)
        logger.warning("%s: interrupted after %d epochs; the best state is kept", method, len(losses))
        return History(losses, "interrupt")
    return History(losses, "")


def _resume(method: str, state: Mapping[str, torch.Tensor] | None, losses: list[float]) -> int:
    kept = None if state is None else keeper().resume(method)
    if kept is None or state is None:
        return 0
    done, arrays = kept
    losses[:] = arrays["losses"].tolist()
    for name, tensor in state.items():
        tensor.copy_(torch.from_numpy(arrays[name]).to(tensor.device).view_as(tensor))
    return done


def _offer(
    method: str, number: int, state: Mapping[str, torch.Tensor] | None, losses: list[float], *, last: bool
) -> None:
    if state is None:
        return
    arrays = {name: tensor.detach().cpu().numpy() for name, tensor in state.items()}
    keeper().offer(method, number, {**arrays, "losses": np.array(losses)}, last=last)


def checked_callbacks(callbacks: Iterable[Callback] | Callback | None) -> list[Callback]:
    """Return the callbacks as a list; one function alone is taken too, and what is no function is an error.

    Examples
    --------
    >>> checked_callbacks(None), checked_callbacks(print)
    ([], [<built-in function print>])
    """
    given = () if callbacks is None else callbacks
    several = isinstance(given, Iterable) and not callable(given)
    called: list[Any] = list(given) if several else [given]  # type: ignore[arg-type]
    for callback in called:
        if not callable(callback):
            msg = f"`callbacks` must be functions of one argument, got {callback!r}"
            raise InputError(msg)
    return called


def _copied(weights: Sequence[torch.Tensor], into: list[torch.Tensor]) -> list[torch.Tensor]:
    if not into:
        return [weight.detach().clone() for weight in weights]
    for kept, weight in zip(into, weights, strict=True):
        kept.copy_(weight.detach())
    return into


def _settled(losses: list[float], tol: float) -> bool:
    if len(losses) <= PATIENCE:
        return False
    before = losses[-1 - PATIENCE]
    return before - min(losses[-PATIENCE:]) < tol * abs(before)


class Adam:
    """Adam, with the same result for any number of threads; gradients are handed over, weights change in place.

    Examples
    --------
    >>> weight = torch.tensor([1.0])
    >>> Adam([weight], 0.1).step([torch.tensor([3.0])])
    >>> round(float(weight), 4)
    0.9
    """

    def __init__(self, weights: Sequence[torch.Tensor], learning_rate: float) -> None:
        self.weights = [weight.view(-1) for weight in weights]
        self._moments = [(Zeros(weight), Zeros(weight)) for weight in self.weights]
        self.first = [first.tensor for first, _ in self._moments]
        self.second = [second.tensor for _, second in self._moments]
        self.learning_rate = learning_rate
        self.steps = 0

    def step(self, gradients: Sequence[torch.Tensor]) -> None:
        """Move the weights against the gradients, which are given in the order of the weights."""
        self.steps += 1
        for weight, gradient, moments in zip(self.weights, gradients, self._moments, strict=True):
            flat = [part.reshape(-1) for part in (weight, gradient, *(moment.tensor for moment in moments))]
            if not moments[0].on_disk:
                self._step_one(flat)
                continue
            for start in range(0, weight.numel(), _DISK_BLOCK):
                stop = min(start + _DISK_BLOCK, weight.numel())
                self._step_one([part[start:stop] for part in flat])
                for moment in moments:
                    moment.done(start, stop)

    def _step_one(self, parts: Sequence[torch.Tensor]) -> None:
        count = torch.tensor(float(self.steps), device=parts[0].device)

        def move(start: int, stop: int) -> None:
            # one pass over memory, a third of the time of Adam's formula written out
            weight, gradient, first, second = ([part[start:stop]] for part in parts)
            torch._fused_adam_(
                weight,
                gradient,
                first,
                second,
                [],
                [count],
                lr=self.learning_rate,
                beta1=0.9,
                beta2=0.999,
                weight_decay=0.0,
                eps=1e-8,
                amsgrad=False,
                maximize=False,
            )

        n = parts[0].numel()
        block = n if parts[0].is_cuda else _ADAM_BLOCK
        map_blocks(move, [(start, min(start + block, n)) for start in range(0, n, block)])
