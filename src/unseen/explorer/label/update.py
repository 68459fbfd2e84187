"""Updates: discovery with the answers so far, in a process of its own."""

from __future__ import annotations

import multiprocessing
import signal
import threading
import time
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

from unseen.embedding import Embedding
from unseen.errors import UnseenError
from unseen.explorer.build import Subject, findings
from unseen.explorer.content import Content
from unseen.explorer.explore import prepare
from unseen.explorer.label.session import IDLE, DirectUpdater
from unseen.graph import Graph
from unseen.ids import IdArray
from unseen.labels import Labels


@dataclass(frozen=True, eq=False)
class UpdateJob:
    """What stays the same from update to update: the graph, the nodes on the map, what :func:`prepare` is told.

    `vectors` are those of a method that the user chose. They do not change with the labels; the default method, None,
    uses none.
    """

    graph: Graph
    vectors: Embedding | None
    ids: IdArray
    options: Content


class Updater(DirectUpdater):
    """Runs one update at a time in a process of its own, which is kept for the next one and ends with this one."""

    def __init__(self, job: UpdateJob) -> None:
        self.job, self._mutex = job, threading.Lock()
        self._process: Any = None

    def start(self, labels: Labels, answered: Content) -> bool:
        """Begin an update and return at once."""
        with self._mutex:
            if self.progress["running"]:
                return False
            self.progress = {**IDLE, "running": True}
        threading.Thread(target=self._run, args=(labels, answered), daemon=True).start()
        return True

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.terminate()

    def _run(self, labels: Labels, answered: Content) -> None:
        try:
            if self._process is None or not self._process.is_alive():
                context = multiprocessing.get_context("spawn")
                self._pipe, theirs = context.Pipe()
                self._process = context.Process(target=serve, args=(theirs, self.job), daemon=True)
                self._process.start()
                theirs.close()  # so that either end notices when the other is gone
            self._pipe.send(labels)
            while True:
                what, value, seconds = self._pipe.recv()
                if what != "step":
                    break
                self.progress = {**self.progress, "done": value[0], "total": value[1]}
        except (EOFError, OSError):
            what, value = "error", "the process that computes the update was ended; update again"
            seconds = None
            self._pipe.close()
            self._process.kill()
            self._process.join()
            self._process.close()
            self._process = None
        if what == "done":
            self._finish(value, answered)
        error = value if what == "error" else None
        self.progress = {**self.progress, "running": False, "error": error, "seconds": seconds}


def serve(pipe: Connection, job: UpdateJob) -> None:
    """Find out what labels miss, for one set of labels after another, until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    while True:
        try:
            labels = pipe.recv()
        except EOFError:
            return
        start = time.process_time()
        try:
            subject = update(job, labels, lambda done, total: pipe.send(("step", (done, total), None)))
            pipe.send(("done", findings(subject, job.ids), time.process_time() - start))
        except UnseenError as error:
            pipe.send(("error", str(error), None))


def update(job: UpdateJob, labels: Labels, on_step: Any = None) -> Subject:
    """Return what the page is about with these labels: probabilities, groups, suggestions, doubts."""
    from unseen.discovery.audit import doubts_of

    own = labels.align_to(job.graph)
    subject = prepare(job.graph, own, embedding=job.vectors, on_step=on_step, **job.options)
    doubts = doubts_of(job.graph, own, subject.embedding, job.options["random_state"])
    return replace(subject, doubts=doubts)
