"""The answers of a session: what is known about each node, what changed, and what can be undone."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from unseen.data.labels_file import answers_of, labels_of_answers
from unseen.data.labels_text import Answer
from unseen.errors import InputError
from unseen.labels import CONFIRMED, GROUP, RANDOM, SCORE, SKIPPED, UNKNOWN, Labels, class_name_problem

Change = tuple[str, Answer, Answer]
"""A node, what was known about it, and what is known now."""
ACTIONS = {"clear": Answer(), "skip": Answer(status=SKIPPED), "unknown": Answer(status=UNKNOWN)}
"""What is known about a node after an action without a label."""
MAX_NAME = 200
"""Characters of a class name."""


class AnswerLog:
    """The answers of a session about some nodes, in memory; :class:`Store` has them on disk, too.

    An answer that differs from what is known at the `start` says which label it replaces. `values` has what is known
    about each node, `changes` one list per answer since `session` began; its length is the revision. `saved` says
    whether the label file, if there is one, has all answers, and `problem` why it could not be written.
    """

    saved: bool = True
    problem: str | None = None

    def __init__(self, nodes: Iterable[object], start: Labels | None = None) -> None:
        self.nodes, self._mutex = dict.fromkeys(map(str, nodes)), threading.Lock()
        self.start = {} if start is None else answers_of(start)
        self._start_session(self.start)

    def _start_session(self, values: Mapping[str, Answer]) -> None:
        self.values = dict(values)
        self.session, self.changes = secrets.token_hex(4), list[list[tuple[str, Answer]]]()
        self._stack: list[list[Change]] = []

    def answer(
        self,
        nodes: list[str],
        label: object = None,
        action: str | None = None,
        questions: Mapping[str, tuple[str, int]] = MappingProxyType({}),
    ) -> int:
        """Save one answer about some nodes and return the revision; an error where it could not be saved.

        `questions` has how the node of each open question was drawn, and the size of the pool.
        """
        if action not in ([None, "add", "confirm"] if label is not None else [*ACTIONS, "confirm"]):
            msg = (
                "an answer has a `label`, or an `action`: skip, unknown, clear or confirm; with a label, add keeps the "
                "labels that the node has, and confirm says that the label was checked"
            )
            raise InputError(msg)
        names = None if label is None else _check_names([label] if isinstance(label, str) else label)
        unknown = next((node for node in nodes if node not in self.nodes), None)
        if unknown is not None or not nodes:
            msg = "an answer needs a node" if unknown is None else f"the graph has no node {unknown[:80]!r}"
            raise InputError(msg)
        if any(not node or "\n" in node or "\r" in node or "\0" in node for node in nodes):
            msg = "a node whose id is empty or has a line break cannot stand in a text file; rename it in the graph"
            raise InputError(msg)
        with self._mutex:
            drawn = questions if len(nodes) == 1 else dict.fromkeys(nodes, (GROUP if names else "", 0))
            entry = [
                (node, self.value(node), self._value_after(node, names, action, drawn.get(node, ("", 0))))
                for node in nodes
            ]
            entry = [change for change in entry if change[1] != change[2]]
            return self._save({"set": entry}) if entry else len(self.changes)

    def undo(self) -> int:
        """Take the last answer back, also one of an earlier session, and return the revision."""
        with self._mutex:
            if not self._stack:
                msg = "there is no answer left to undo"
                raise InputError(msg)
            entry = [(node, after, before) for node, before, after in self._stack[-1]]
            return self._save({"set": entry, "undo": True})

    def value(self, node: str) -> Answer:
        """Return what is known about a node."""
        return self.values.get(node, Answer())

    def labels(self) -> Labels:
        """Return what is known as labels of all nodes."""
        values = self.values.copy()  # at once: another thread may save an answer meanwhile
        return labels_of_answers(values, dict.fromkeys([*self.nodes, *values]))

    def replaced_labels(self, node: str) -> list[str]:
        """Return the labels from the start that the label of a node replaces."""
        labels = self.value(node).labels
        return [name for name in self.start.get(node, Answer()).labels if labels and name not in labels]

    def look_outside(self) -> bool:
        """Return whether somebody else changed the label file; answers in memory have none."""
        return False

    def take(self, what: object) -> None:
        """Go on after a change from outside."""
        msg = f"these answers have no file, so there is nothing to take, got {what!r}"
        raise InputError(msg)

    @property
    def undoable(self) -> int:
        """How many answers can be undone."""
        return len(self._stack)

    def _save(self, record: dict[str, Any]) -> int:
        self._append(record)
        self._remember(record)
        self._apply(record["set"])
        return len(self.changes)

    def _append(self, record: Mapping[str, Any]) -> None:
        """Write a change to disk, where there is a file."""

    def _remember(self, record: Mapping[str, Any]) -> None:
        """Keep what can be undone; an undo removes it."""
        if record.get("undo"):
            self._stack.pop()
        elif "set" in record and not record.get("final"):
            self._stack.append(record["set"])

    def _apply(self, entry: list[Change]) -> None:
        for node, _, after in entry:
            self.values[node] = after
            if after == Answer():
                del self.values[node]
        self.changes.append([(node, after) for node, _, after in entry])

    def _value_after(
        self, node: str, names: list[str] | None, action: str | None, drawn: tuple[str, int]
    ) -> Answer:
        """Return what is known about a node after an answer; a random question stays one, even if it is cleared."""
        before = self.value(node)
        if before.drawn in (RANDOM, SCORE):
            drawn = before.drawn, before.pool
        if action in ACTIONS:
            after = ACTIONS[action]
        elif action == "confirm":
            if not (names or before.labels):
                msg = f"the node {node!r} has no label to confirm"
                raise InputError(msg)
            after = Answer(tuple(names or before.labels), CONFIRMED)
        else:
            after = Answer(tuple(sorted({*(before.labels if action == "add" else ()), *(names or ())})))
        is_asked = after != Answer() or drawn[0] == RANDOM
        return after._replace(drawn=drawn[0], pool=drawn[1]) if is_asked else after


def _check_names(names: object) -> list[str]:
    """Return class names, sorted, if every one of them can be written to a file and read back."""
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        msg = "`label` must be the name of a class, or a list of names"
        raise InputError(msg)
    for name in names:
        if refusal := class_name_problem(name[: 2 * MAX_NAME]):
            raise InputError(refusal)
        if len(name) > MAX_NAME or not name.isprintable():
            msg = f"the class name {name[:40]!r} is too long or has signs that cannot be printed; use up to {MAX_NAME}"
            raise InputError(msg)
    return sorted(set(names))
