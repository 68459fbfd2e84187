from __future__ import annotations

import logging

import numpy as np
import pytest
import torch

import unseen
from unseen.engine import steps as module
from unseen.engine.run import Run
from unseen.engine.steps import Training, take_steps
from unseen.methods.neural.training import Optimizer


class Parabola:
    """min w^2, by halving or by what `moves` says."""

    def __init__(self, moves=None):
        self.weight = torch.tensor([8.0])
        self.moves = moves
        self.updates = 0

    def run(self, **options):
        def update():
            self.updates += 1
            factor = 0.5 if self.moves is None else self.moves[self.updates - 1]
            if factor is KeyboardInterrupt:
                self.weight.fill_(-99.0)
                raise KeyboardInterrupt
            self.weight.mul_(factor)

        training = Training(lambda: float(self.weight**2), update, vectors=lambda: self.weight[None].numpy())
        for name in [key for key in options if hasattr(training, key)]:
            setattr(training, name, options.pop(name))
        return take_steps("toy", options.pop("epochs", 6), training, **options)


def test_losses_belong_to_the_weights_before_the_update() -> None:
    assert Parabola().run(epochs=3).losses == [64.0, 16.0, 4.0]
    assert Parabola().run(epochs=0).losses == []
    with pytest.raises(unseen.UnseenError, match=r"diverged; take a smaller `learning_rate`"):
        Parabola([float("inf")]).run()


def test_callbacks_see_every_epoch_and_can_stop() -> None:
    seen, also = [], []

    def watch(epoch):
        seen.append((epoch.number, epoch.total, epoch.loss, float(epoch.vectors()[0, 0])))
        return epoch.number == 2

    history = Parabola().run(callbacks=[watch, also.append])
    assert seen == [(1, 6, 64.0, 4.0), (2, 6, 16.0, 2.0)]
    assert history.stopped_by == "callback"
    assert [epoch.method for epoch in also] == ["toy", "toy"]
    assert also[1].seconds_left == pytest.approx(also[1].seconds * 2)
    Parabola().run(callbacks=also.append)
    assert len(also) == 8
    with pytest.raises(unseen.InputError, match="`callbacks` must be functions"):
        Parabola().run(callbacks=[3])


def test_tolerance_stops_when_the_loss_hardly_falls() -> None:
    moves = [0.5] * 5 + [1.0] * 100
    history = Parabola(moves).run(epochs=60, tol=1e-3)
    assert history.stopped_by == "tol"
    assert 10 < len(history.losses) < 20
    assert len(Parabola(moves).run(epochs=60, tol=0.0).losses) == 60
    undone = Parabola([1.0] * 9).run(tol=0.1, window=1, counts=lambda: False)  # such a step does not count
    assert undone.stopped_by == ""


def test_ctrl_c_keeps_the_best_state_when_asked_to(caplog: pytest.LogCaptureFixture) -> None:
    toy, best = Parabola([0.5, 0.5, 3.0, KeyboardInterrupt]), []
    with caplog.at_level(logging.WARNING, logger="unseen"):
        history = toy.run(
            improved=lambda: best.append(float(toy.weight)), interrupted=lambda: "the best state"
        )
    assert history.stopped_by == "interrupt"
    assert best == [8.0, 4.0, 2.0]
    assert "toy: interrupted after 4 steps; the best state is kept" in caplog.text
    with pytest.raises(KeyboardInterrupt):
        Parabola([0.5, KeyboardInterrupt]).run()


def test_long_training_says_how_long_it_will_take(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REPORT_SECONDS", 0.0)
    with caplog.at_level(logging.INFO, logger="unseen"):
        Parabola().run()
    assert "step 5 of 6" in caplog.text


def test_adam_equals_torch_s():
    rng = np.random.default_rng(0)
    start = [rng.normal(size=shape).astype(np.float32) for shape in [(300, 250), (7,)]]
    ours = [torch.from_numpy(part.copy()) for part in start]
    theirs = [torch.from_numpy(part.copy()).requires_grad_() for part in start]
    mine, reference = Optimizer(ours, 0.01, Run()), torch.optim.Adam(theirs, lr=0.01)
    for _ in range(5):
        gradients = [torch.from_numpy(rng.normal(size=part.shape).astype(np.float32)) for part in start]
        mine.step(gradients)
        for weight, gradient in zip(theirs, gradients, strict=True):
            weight.grad = gradient
        reference.step()
    for a, b in zip(ours, theirs, strict=True):
        assert torch.allclose(a, b.detach(), atol=1e-6)


class Memory:
    """A keeper in memory."""

    def __init__(self):
        self.kept = {}

    def resume(self, stage):
        return self.kept.get(stage)

    def offer(self, stage, step, arrays, *, last):
        if step % 2 == 0 or last:
            self.kept[stage] = step, {name: array.copy() for name, array in arrays.items()}


def test_a_training_goes_on_where_it_was() -> None:
    keeper = Memory()

    def run(epochs, **options):
        toy = Parabola(**options.pop("toy", {}))
        return toy, toy.run(
            epochs=epochs,
            keeper=keeper,
            state=lambda: {"weight": toy.weight.numpy()},
            restore=lambda done, arrays: toy.weight.copy_(torch.from_numpy(arrays["weight"])),
            **options,
        )

    run(4)
    toy, history = run(6)
    assert toy.updates == 2
    assert history.losses == Parabola().run(epochs=6).losses
    keeper.kept.clear()
    for updates in (True, False):  # one that had converged does not go on
        toy, history = run(60, toy={"moves": [1.0] * 60}, tol=1e-3, window=3)
        assert (history.stopped_by, toy.updates > 0) == ("tol", updates)
