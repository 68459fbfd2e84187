"""A labelling session: what a page may ask for, and the state that it shows; for the app and for notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from unseen.errors import InputError
from unseen.explorer.content import Content
from unseen.explorer.label.answers import AnswerLog
from unseen.labels import STATUSES, Labels

IDLE: Content = {"running": False, "done": 0, "total": 0, "error": None, "seconds": None}


class DirectUpdater:
    """Computes again what the labels miss, while the caller waits.

    Parameters
    ----------
    compute : callable
        Returns what changes on the page with some labels.

    Attributes
    ----------
    number : int
        How many updates were finished; 0 is what the page came with.
    content : dict or None
        What the last one found.
    """

    number = 0
    content: Content | None = None
    progress = IDLE

    def __init__(self, compute: Callable[[Labels], Content]) -> None:
        self._compute = compute

    def state(self) -> Content:
        """Return the progress, for the page."""
        return {**self.progress, "number": self.number}

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


class Session:
    """The answers, the updates and the questions of one page.

    Parameters
    ----------
    store : AnswerLog
        Where answers go.
    updater : DirectUpdater
        Computes the missing classes again after answers.
    questions : sequence of dict or None
        The questions that the page came with.
    """

    def __init__(self, store: AnswerLog, updater: DirectUpdater, questions: Sequence[Any] | None) -> None:
        self.store, self.updater = store, updater
        self._first = questions
        self._proof: tuple[object, Content] = (None, {})

    def act(self, name: str, asked: Content) -> Content:
        """Do what a page asks for and return the state after it."""
        before = len(self.store.changes)
        if name == "answers":
            given = asked.get("node")
            nodes = given if isinstance(given, list) else [given]
            if not all(isinstance(node, (str, int)) and not isinstance(node, bool) for node in nodes):
                msg = "`node` must be the id of a node, or a list of ids"
                raise InputError(msg)
            drawn = {each["node"]: (each["drawn"], each["pool"] or 0) for each in self.questions()}
            self.store.answer(
                list(dict.fromkeys(map(str, nodes))), asked.get("label"), asked.get("action"), drawn
            )
        elif name == "undo":
            self.store.undo()
        elif name == "outside":
            self.store.take(asked.get("take"))
        elif not self.updater.start(
            self.store.labels(), {"revision": len(self.store.changes), "answers": self.store.undoable}
        ):
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
            "update": updater.state(),
            "findings": content,
        }
