"""The loop of a training: resume, steps, checkpoints, callbacks, early stop, Ctrl-C.

A callback is a function of one argument, the :class:`Epoch` that has just ended; when it returns something true,
training stops there. ``callbacks`` of a method is a sequence of such functions.

Checkpoints are states on disk: a folder for each job, in it one for each step, which counts once its COMMIT file is
there. ``JOB/rect-n-000050/`` holds one ``rank-0.npz`` per process. Process 0 writes ``COMMIT`` after all of them have
written, so that a crash at any moment leaves a whole older step or a whole new one, never a mixture.
"""

from __future__ import annotations

import contextlib
import math
import shutil
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unseen.data.files import atomic_path, make_folder
from unseen.engine.comm import Comm
from unseen.errors import InputError, OutputError, UnseenError, counted, logger
from unseen.ids import Array, Singles

Arrays = Mapping[str, Array]

WINDOW = 10
"""Steps over which the loss must fall by `tol` for training to go on."""
REPORT_SECONDS = 10.0
"""Between two notices about the progress."""
COMMIT = "COMMIT"


@dataclass(frozen=True)
class Epoch:
    """What a callback is given.

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
        Returns the embedding as it is now, one row per node; costs a pass over the graph.

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
    vectors: Callable[[], Singles] = field(repr=False)

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


@dataclass
class Training:
    """What is trained, as the loop sees it.

    Attributes
    ----------
    evaluate : function
        Returns the loss at the present weights and makes ready what `update` needs.
    update : function
        Changes the weights.
    vectors : function
        The embedding at the present weights, for callbacks.
    state : function, optional
        Returns everything that changes from step to step, as named arrays; without it nothing is kept.
    restore : function
        Puts a state back, given the number of steps that led to it.
    improved : function
        Called between `evaluate` and `update` when the loss is lower than ever before.
    interrupted : function, optional
        Called at Ctrl-C; returns in words which state is kept. Without it Ctrl-C is an error as usual.
    stop : function
        Asked after every step whether to stop; that counts as "callback".
    counts : function
        Whether the last step counts for `tol`; one that was undone does not.
    advice : str
        What to do when the loss is not finite.
    """

    evaluate: Callable[[], float]
    update: Callable[[], object] = lambda: None
    vectors: Callable[[], Singles] = lambda: np.zeros((0, 0), dtype=np.float32)
    state: Callable[[], Arrays] | None = None
    restore: Callable[[int, Arrays], object] = lambda done, arrays: None  # noqa: ARG005
    improved: Callable[[], object] = lambda: None
    interrupted: Callable[[], str] | None = None
    stop: Callable[[], bool] = lambda: False
    counts: Callable[[], bool] = lambda: True
    advice: str = "take a smaller `learning_rate`"


def take_steps(
    stage: str,
    n: int,
    training: Training,
    *,
    keeper: Checkpoints | None = None,
    callbacks: Iterable[Callback] | Callback | None = None,
    tol: float = 0.0,
    window: int = WINDOW,
    start: Callable[[], float] | None = None,
) -> History:
    """Call `evaluate` and `update` in turn, `n` times, unless something ends it before.

    Parameters
    ----------
    stage, n : str, int
        Name of what is trained, and how many steps there are at most.
    training : Training
        What a step does.
    keeper : Checkpoints, optional
        Where states are stored, and resumed from.
    callbacks : iterable of functions, optional
        Called after every step; training stops when one returns something true.
    tol : float
        Stop when the loss has fallen by at most this share of itself in the last `window` steps; 0: never.
    window : int
        See `tol`.
    start : function, optional
        Called before the first step, but after a state was put back: it gives the loss there. For a training whose
        steps give the loss after them.

    Examples
    --------
    >>> weight = np.array([4.0])
    >>> halve = Training(lambda: float(weight[0] ** 2), lambda: np.multiply(weight, 0.5, out=weight))
    >>> take_steps("halve", 3, halve).losses
    [16.0, 4.0, 1.0]
    """
    functions: list[Any] = [] if callbacks is None else [callbacks]
    if isinstance(callbacks, Iterable) and not callable(callbacks):
        functions = list(callbacks)
    for function in functions:
        if not callable(function):
            msg = f"`callbacks` must be functions of one argument, got {function!r}"
            raise InputError(msg)
    done, losses, begun = 0, [], 0 if start is None else 1
    stored = None if keeper is None or training.state is None else keeper.resume(stage)
    if stored is not None:
        done, arrays = stored
        losses = arrays["losses"].tolist()
        training.restore(done, arrays)
    if start is not None:
        first = start()
        losses = losses or [first]
    if done and has_converged(losses, tol, window):
        return History(losses, "tol")
    lowest = min(losses, default=math.inf)
    began = reported = time.monotonic()
    try:
        for number in range(done + 1, n + 1):
            loss = training.evaluate()
            if not math.isfinite(loss):
                msg = f"{stage}: the loss is {loss} in step {number}, so the training has diverged; {training.advice}"
                raise UnseenError(msg)
            if len(losses) == begun or loss < lowest:
                training.improved()
            lowest = min(lowest, loss)
            losses.append(loss)
            training.update()
            if keeper is not None and training.state is not None:
                state = {**training.state(), "losses": np.array(losses)}
                keeper.offer(stage, number, state, last=number == n)
            now = time.monotonic()
            epoch = Epoch(stage, number, n, loss, now - began, training.vectors)
            if now - reported >= REPORT_SECONDS and number < n:
                reported = now
                left = epoch.seconds_left
                logger.info("%s: step %d of %d, loss %.6g, about %.0f s left", stage, number, n, loss, left)
            answers = [callback(epoch) for callback in functions]  # all are called, also after one said stop
            if any(answers) or training.stop():
                return History(losses, "callback")
            if training.counts() and has_converged(losses, tol, window):
                steps = counted(number, "step")
                logger.info("%s: stopped after %s, the loss hardly falls any more", stage, steps)
                return History(losses, "tol")
    except KeyboardInterrupt:
        if training.interrupted is None or len(losses) == begun == 0:
            raise
        kept = training.interrupted()
        steps = counted(len(losses) - begun, "step")
        logger.warning("%s: interrupted after %s; %s is kept", stage, steps, kept)
        return History(losses, "interrupt")
    return History(losses, "")


def has_converged(losses: list[float], tol: float, window: int) -> bool:
    """Return whether the loss has fallen by at most `tol` of itself in the last `window` steps; False for `tol` 0.

    Examples
    --------
    >>> has_converged([4.0, 2.0, 2.0], 0.01, 1), has_converged([4.0, 2.0], 0.01, 1)
    (True, False)
    """
    if tol <= 0 or len(losses) <= window:
        return False
    before = losses[-1 - window]
    return before - min(losses[-window:]) <= tol * abs(before)


class Checkpoints:
    """Stores the states of stages ("rect-l", "rect-n") every so many steps, all processes together.

    Parameters
    ----------
    folder : Path
        Where the jobs are; all processes see it.
    comm : Comm
        The processes.
    job : str
        Names graph, method, parameters and number of processes; states of another job are not resumed.
    every : int
        Steps between two checkpoints; 0 keeps nothing.
    """

    def __init__(self, folder: Path, comm: Comm, job: str, every: int) -> None:
        self.folder, self.comm, self.every = folder / job, comm, every
        self.resumed: dict[str, Any] | None = None  # the last stage and step that was read back

    def resume(self, stage: str) -> tuple[int, dict[str, Array]] | None:
        """Return the newest committed step of a stage and its arrays, None where there is none."""
        if not self.every:
            return None
        steps = [place.name for place in self._steps(stage) if (place / COMMIT).is_file()]
        newest = max((int(name.rpartition("-")[2]) for name in steps), default=-1)
        step = int(self.comm.gather(np.array([newest]))[0])  # process 0's, for all
        if step < 0:
            return None
        path = self._path(stage, step)
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            msg = f"the checkpoint {str(path)!r} cannot be read ({error}); remove {str(self.folder)!r} to start again"
            raise InputError(msg) from None
        self.resumed = {"stage": stage, "step": step}
        if self.comm.rank == 0:
            logger.info("%s: going on after step %d, from %s", stage, step, self.folder)
        return step, arrays

    def offer(self, stage: str, step: int, arrays: Arrays, *, last: bool) -> None:
        """Store the state if it is time to."""
        if not self.every or (step % self.every and not last):
            return
        path = self._path(stage, step)
        with raise_together(self.comm, "could not write its checkpoint"):
            make_folder(path.parent)
            with atomic_path(path) as temporary, temporary.open("wb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
        if self.comm.rank == 0:
            (path.parent / COMMIT).touch()
            for older in self._steps(stage):
                if older != path.parent:
                    shutil.rmtree(older, ignore_errors=True)

    def clear(self) -> None:
        """Remove what other jobs have left here."""
        if self.comm.rank == 0 and self.folder.parent.is_dir():
            for other in self.folder.parent.iterdir():
                if other != self.folder:
                    logger.info("the checkpoints in %s belong to another job and are removed", other)
                    shutil.rmtree(other, ignore_errors=True)
        self.comm.barrier()

    def _steps(self, stage: str) -> list[Path]:
        return list(self.folder.glob(f"{stage}-[0-9]*"))

    def _path(self, stage: str, step: int) -> Path:
        return self.folder / f"{stage}-{step:06d}" / f"rank-{self.comm.rank}.npz"


@contextlib.contextmanager
def raise_together(comm: Comm, what: str) -> Iterator[None]:
    """Do something on all processes: one raises its own problem, the others say which has one; nobody waits."""
    problem: UnseenError | None = None
    try:
        yield
    except UnseenError as error:
        problem = error
    troubled = comm.gather(np.array([problem is not None]))
    if problem is not None:
        raise problem
    if troubled.any():
        msg = f"process {int(np.argmax(troubled))} {what}; its own message says why"
        raise OutputError(msg)
