"""A labelling session: what a page may ask for, the state that it shows, and updates; for the app and for notebooks."""

from __future__ import annotations

import multiprocessing
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

from unseen.errors import InputError, UnseenError
from unseen.explorer.build import findings
from unseen.explorer.content import Content
from unseen.explorer.label.answers import AnswerLog
from unseen.explorer.subject import UpdateJob
from unseen.labels import STATUSES, Labels

IDLE: Content = {"running": False, "done": 0, "total": 0, "error": None, "seconds": None}


class DirectUpdater:
    """Computes again what the labels miss, while the caller waits.

    `compute` returns what changes on the page with some labels, and `content` is what the last update found. `number`
    counts the updates that were finished; 0 is what the page came with.
    """

    number = 0
    content: Content | None = None
    progress = IDLE

    def __init__(self, compute: Callable[[Labels], Content]) -> None:
        self._compute = compute

    def start(self, labels: Labels, answered: Content) -> bool:
        """Start an update; False if one is running. What it finds comes with `answered`: which answers it includes."""
        self.progress = {**IDLE, "running": True}
        try:
            self._finish(self._compute(labels), answered)
        finally:
            self.progress["running"] = False
        return True

    def _finish(self, found: Content, answered: Content) -> None:
        self.content = {**found, **answered}
        self.number += 1


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
                self._process = context.Process(target=serve_updates, args=(theirs, self.job), daemon=True)
                self._process.start()
                theirs.close()  # so that either end notices when the other is gone
            self._pipe.send(labels)
            while True:
                what, value, seconds = self._pipe.recv()
                if what != "step":
                    break
                self.progress = {**self.progress, "done": value[0], "total": value[1]}
        except (EOFError, OSError):
            what, seconds = "error", None
            value = "the process that computes the update was ended; update again"
            self._pipe.close()
            self._process.kill()
            self._process.join()
            self._process.close()
            self._process = None
        if what == "done":
            self._finish(value, answered)
        error = value if what == "error" else None
        self.progress = {**self.progress, "running": False, "error": error, "seconds": seconds}


def serve_updates(pipe: Connection, job: UpdateJob) -> None:
    """Find out what labels miss, for one set of labels after another, until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    while True:
        try:
            labels = pipe.recv()
        except EOFError:
            return
        start = time.process_time()
        try:
            subject = job.run(labels, lambda done, total: pipe.send(("step", (done, total), None)))
            pipe.send(("done", findings(subject, job.ids), time.process_time() - start))
        except UnseenError as error:
            pipe.send(("error", str(error), None))


class Session:
    """The answers, the updates and the questions of one page; `questions` are those that it came with."""

    def __init__(self, store: AnswerLog, updater: DirectUpdater, questions: Sequence[Any] | None) -> None:
        self.store, self.updater = store, updater
        self._first = questions
        self._proof: tuple[object, Content] = (None, {})

    def act(self, name: str, asked: Content) -> Content:
        """Do what a page asks for and return the state after it."""
        store = self.store
        before = len(store.changes)
        if name == "answers":
            given = asked.get("node")
            nodes = given if isinstance(given, list) else [given]
            if not all(isinstance(node, (str, int)) and not isinstance(node, bool) for node in nodes):
                msg = "`node` must be the id of a node, or a list of ids"
                raise InputError(msg)
            drawn = {each["node"]: (each["drawn"], each["pool"] or 0) for each in self.questions()}
            store.answer(list(dict.fromkeys(map(str, nodes))), asked.get("label"), asked.get("action"), drawn)
        elif name == "undo":
            store.undo()
        elif name == "outside":
            store.take(asked.get("take"))
        elif not self.updater.start(store.labels(), {"revision": before, "answers": store.undoable}):
            msg = "an update is running; wait until it has finished"
            raise InputError(msg)
        return self.state(before)

    def questions(self) -> Sequence[Any]:
        """Return the questions that the page shows."""
        content = self.updater.content
        return (self._first if content is None else content["suggestions"]) or ()

    def state(self, revision: int | None = None, findings: int | None = None) -> Content:
        """Return what the page shows beside the map; with what changed after `revision`, and newer `findings`."""
        store, updater = self.store, self.updater
        now = (store.session, len(store.changes))
        if self._proof[0] != now:  # what the random answers prove is computed once for each revision
            self._proof = (now, store.labels().certificate().to_dict())
        values = list(store.values.values())
        counts = Counter(name for value in values for name in value.labels)
        statuses = Counter(value.status for value in values)
        content = updater.content if findings is not None and findings < updater.number else None
        changed = store.changes[revision:] if revision is not None else [list(store.values.items())]
        return {
            "session": store.session,
            "revision": len(store.changes),
            "changes": [[node, value.to_list()] for entry in changed for node, value in entry],
            "labelled": sum(bool(value.labels) for value in values),
            "nodes": len(store.nodes),
            "classes": dict(sorted(counts.items())),
            **{status: statuses[status] for status in STATUSES},
            "certificate": self._proof[1],
            "undo": store.undoable,
            "folded": store.saved,
            "outside": store.look_outside(),
            "problem": store.problem,
            "update": {**updater.progress, "number": updater.number},
            "findings": content,
        }
