"""States of a training on disk: a folder for each step, which counts once its COMMIT file is there.

``rect-n-000050/`` holds one ``rank-0.npz`` per process. Process 0 writes ``COMMIT`` after all of them have written, so
that a crash at any moment leaves a whole older step or a whole new one, never a mixture.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from unseen.data.files import atomic_path, make_folder
from unseen.engine.comm import Comm
from unseen.engine.steps import Arrays
from unseen.errors import InputError, OutputError, UnseenError, logger
from unseen.ids import Array

COMMIT = "COMMIT"


class Checkpoints:
    """Stores the states of stages ("rect-l", "rect-n") every so many steps, all processes together.

    Parameters
    ----------
    folder : Path
        Where the steps are; all processes see it.
    comm : Comm
        The processes.
    job : str
        Names graph, method, parameters and number of processes; states of another job are not resumed.
    every : int
        Steps between two checkpoints; 0 keeps nothing.
    """

    def __init__(self, folder: Path, comm: Comm, job: str, every: int) -> None:
        self.folder, self.comm, self.job, self.every = folder, comm, job, every
        self.resumed: dict[str, Any] | None = None  # the last stage and step that was read back

    def resume(self, stage: str) -> tuple[int, dict[str, Array]] | None:
        """Return the newest committed step of a stage and its arrays, None where there is none."""
        if not self.every:
            return None
        newest = max(self._committed(stage), default=-1)
        step = int(self.comm.gather(np.array([newest]))[0])  # process 0's, for all
        if step < 0:
            return None
        path = self._step(stage, step) / self._file
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            msg = f"the checkpoint {str(path)!r} cannot be read ({error}); remove {str(self.folder)!r} to begin anew"
            raise InputError(msg) from None
        self.resumed = {"stage": stage, "step": step}
        if self.comm.rank == 0:
            logger.info("%s: going on after step %d, from %s", stage, step, self.folder)
        return step, arrays

    def offer(self, stage: str, step: int, arrays: Arrays, *, last: bool) -> None:
        """Store the state if it is time to."""
        if not self.every or (step % self.every and not last):
            return
        place = self._step(stage, step)
        with together(self.comm, "could not write its checkpoint"):
            make_folder(place)
            with atomic_path(place / self._file) as temporary, temporary.open("wb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
        if self.comm.rank:
            return
        about = {"job": self.job, "stage": stage, "step": step, "processes": self.comm.size}
        with atomic_path(place / COMMIT) as temporary:
            temporary.write_text(json.dumps(about))
        for older in self.folder.glob(f"{stage}-*"):
            if older != place:
                shutil.rmtree(older, ignore_errors=True)

    def clear(self) -> None:
        """Remove what other jobs have left here, and unfinished steps; to be called before anything is resumed."""
        if self.comm.rank == 0 and self.folder.is_dir():
            for place in self.folder.iterdir():
                about = _about(place)
                if about is None or about.get("job") != self.job:
                    if about is not None:
                        logger.info("the checkpoint %s is of another job and is removed", place)
                    shutil.rmtree(place, ignore_errors=True)
        self.comm.barrier()

    def _committed(self, stage: str) -> list[int]:
        steps = [_about(place) for place in self.folder.glob(f"{stage}-*")]
        return [int(a["step"]) for a in steps if a and a.get("job") == self.job and a.get("stage") == stage]

    def _step(self, stage: str, step: int) -> Path:
        return self.folder / f"{stage}-{step:06d}"

    @property
    def _file(self) -> str:
        return f"rank-{self.comm.rank}.npz"


@contextlib.contextmanager
def together(comm: Comm, what: str) -> Iterator[None]:
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


def _about(place: Path) -> dict[str, Any] | None:
    with contextlib.suppress(OSError, ValueError):
        about = json.loads((place / COMMIT).read_text(encoding="utf-8"))
        if isinstance(about, dict):
            return about
    return None
