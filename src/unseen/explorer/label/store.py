"""Answers on disk: a journal beside the label file, and the file itself, into which answers are written.

An answer is a line of ``labels.csv.journal``, synced before it counts as saved. Folding writes the answers into
``labels.csv``, of which nothing else changes, and notes its sha256 in the journal before the new file takes its place.
Whatever is lost in between, the next start finds the line of the journal that the file belongs to, and repeats the
answers after it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from unseen.data.files import atomic_path, explain_errors, keep_backup
from unseen.data.labels_file import answers_of, labels_of_answers, new_text, read_text
from unseen.data.labels_text import Answer, LabelText
from unseen.data.opened import data_suffix
from unseen.data.options import Options
from unseen.data.read import read_label_list
from unseen.errors import InputError, OutputError, UnseenError, counted, logger
from unseen.labels import CONFIRMED, GROUP, RANDOM, SCORE, SKIPPED, UNKNOWN, Labels, class_name_problem

Change = tuple[str, Answer, Answer]
"""A node, what was known about it, and what is known now."""
ACTIONS = {"clear": Answer(), "skip": Answer(status=SKIPPED), "unknown": Answer(status=UNKNOWN)}
"""What is known about a node after an action without a label."""
WRITTEN = (".csv", ".tsv")
MAX_NAME = 200
"""Characters of a class name."""


class ChangedOutsideError(Exception):
    """Another program changed the label file while answers were being written to it."""


@contextlib.contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Keep a second app from the same label file, also by another link; the lock ends with the process."""
    path = path.resolve()
    place = path.with_name(f"{path.name}.lock")
    with explain_errors(path):
        opened = place.open("a+", encoding="ascii")
    with opened as file:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            msg = f"another `unseen label` is using {path}; close it first, or write to another file with --save FILE"
            raise OutputError(msg) from None
        try:
            yield
        finally:
            place.unlink(missing_ok=True)


def check_file(path: Path) -> None:
    """Raise the error for a label file that answers cannot be written to."""
    packed, suffix = path.name.lower().endswith(".gz"), data_suffix(path)
    if packed or suffix not in WRITTEN:
        kind = "a gzipped file" if packed else f"the format {suffix or '(none)'}"
        msg = f"answers cannot be written to {path}: {kind} is not changed in place; name a .csv with --save FILE"
        raise OutputError(msg)
    if path.exists() and not os.access(path, os.W_OK):
        msg = f"answers cannot be written to {path}: it is read-only; name another .csv with --save FILE"
        raise OutputError(msg)


class Store:
    """The labels of a session, every change of which is on disk before it is told.

    Parameters
    ----------
    path : Path
        The label file; links are followed. Where there is none yet, the session starts from `start`.
    nodes : iterable
        All nodes that may be answered about.
    start : Labels or None
        What other files say. An answer that differs from them says which label it replaces.
    options : Options or None
        How the file is read.

    Attributes
    ----------
    values : dict
        What is known about each node.
    changes : list
        All changes since `session` began, one list per answer; its length is the revision.
    outside : bool
        Whether somebody else changed the file; nothing is folded then until `take` says what holds.
    problem : str or None
        Why the file could not be written; the answers are in the journal all the same.
    """

    saved: bool
    problem: str | None

    def __init__(
        self, path: Path, nodes: Iterable[object], start: Labels | None = None, options: Options | None = None
    ) -> None:
        self.path, self._name, self.nodes = path.resolve(), path, dict.fromkeys(map(str, nodes))
        self.journal = self.path.with_name(f"{self.path.name}.journal")
        self._options, self._mutex = options or Options(), threading.Lock()
        self._start = {} if start is None else answers_of(start)
        self._begin(*self._read())
        entries = self._entries()
        digest = self._digest()
        own = [k for k, entry in enumerate(entries) if entry.get("file") == digest]
        last = max((k for k, entry in enumerate(entries) if "file" in entry), default=-1)
        after = entries[own[-1] + 1 if own else last + 1 :]
        pending = [entry for entry in after if "set" in entry]
        self.outside = bool(entries) and not own and bool(pending)
        if entries and not own and not pending:
            logger.info(
                "%s was changed since the last session, so the answers of that session cannot be undone", path
            )
            entries = []
        for entry in entries:
            self._remember(entry)
        for entry in pending:
            self._apply(entry["set"])
        self.changes.clear()
        if not entries:
            self._restart([])
        if pending:
            logger.info("%s of the last session recovered", counted(len(pending), "answer"))
            self.fold()

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
        names = [label] if isinstance(label, str) else label
        needs_label, takes_label = action in (None, "add"), action in (None, "add", "confirm")
        is_known = takes_label or action in list(ACTIONS)
        if not is_known or (names is None and needs_label) or (names is not None and not takes_label):
            msg = (
                "an answer has a `label`, or an `action`: skip, unknown, clear or confirm; with a label, add keeps the "
                "labels that the node has, and confirm says that the label was checked"
            )
            raise InputError(msg)
        if names is not None:
            names = _check_names(names)
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
            return self._save([change for change in entry if change[1] != change[2]])

    def undo(self) -> int:
        """Take the last answer back, also one of an earlier session, and return the revision."""
        with self._mutex:
            if not self._stack:
                msg = "there is no answer left to undo"
                raise InputError(msg)
            return self._save([(node, after, before) for node, before, after in self._stack[-1]], undo=True)

    def fold(self) -> bool:
        """Write the answers to the file, of which .bak keeps the first version; return whether the file has them."""
        with self._mutex:
            if self.saved or self.look_outside():
                return self.saved
            try:
                for node in self._unwritten:
                    self._text.set_answer(node, self.value(node), self._replaced_labels(node))
                data = self._text.data()
                keep_backup(self.path)
                with contextlib.suppress(ChangedOutsideError), atomic_path(self.path) as temporary:
                    temporary.write_bytes(data)
                    if self.look_outside():  # while this was written
                        raise ChangedOutsideError
                    self._append({"file": hashlib.sha256(data).hexdigest()})
            except OutputError as error:
                self.problem = str(error)
                raise
            if not self.outside:
                self._seen, self.saved, self.problem = self._stat(), True, None
                self._unwritten.clear()
            return self.saved

    def _replaced_labels(self, node: str) -> list[str]:
        """Return the labels in other files that the label of a node replaces."""
        labels = self.value(node).labels
        return [name for name in self._start.get(node, Answer()).labels if labels and name not in labels]

    def look_outside(self) -> bool:
        """Return whether somebody else changed the file since it was read or written here."""
        if not self.outside and self._stat() != self._seen:
            self.outside = self._digest() != self._last
            self._seen = self._seen if self.outside else self._stat()
        return self.outside

    def take(self, what: object) -> None:
        """Go on after a change from outside with the `file`, with all labels of this `app`, or with `both`."""
        if what not in ("file", "app", "both"):
            msg = f"`take` is file, app or both, got {what!r}"
            raise InputError(msg)
        with self._mutex:
            mine, answered = self.values, {node for entry in self._stack for node, _, _ in entry}
            is_readable = True
            try:
                text, values = self._read()
            except UnseenError:
                if what != "app":
                    raise
                # the file becomes what it was before somebody broke it, with all answers
                text, values, is_readable = self._text, {}, False
            self._begin(text, values)
            entry = [(node, self.value(node), mine.get(node, Answer())) for node in {**self.values, **mine}]
            if what != "app":
                entry = [change for change in entry if what == "both" and change[0] in answered]
            self._restart([change for change in entry if change[1] != change[2]], is_undoable=is_readable)
        self.fold()

    def value(self, node: str) -> Answer:
        """Return what is known about a node."""
        return self.values.get(node, Answer())

    def labels(self) -> Labels:
        """Return what is known as labels of all nodes."""
        values = self.values.copy()  # at once: another thread may save an answer meanwhile
        return labels_of_answers(values, dict.fromkeys([*self.nodes, *values]))

    def close(self) -> None:
        """Fold what is left; the journal stays where there is something to undo."""
        with contextlib.suppress(OutputError):
            self.fold()
        if self.saved and not self._stack:
            self.journal.unlink(missing_ok=True)

    @property
    def undoable(self) -> int:
        """How many answers can be undone."""
        return len(self._stack)

    def _read(self) -> tuple[LabelText, dict[str, Answer]]:
        """Return the file and what it says; where there is none, what is known from other files."""
        if not self.path.exists():
            return new_text(self.path), self._start
        # by the name that the user gave: a notice about it is shown once
        text = read_text(self._name, self._options, self.nodes)
        labels = read_label_list(self._name, replace(self._options, header=text.has_header))
        return text, answers_of(labels)

    def _begin(self, text: LabelText, values: dict[str, Answer]) -> None:
        """Begin a session with what the file says."""
        self._text, self.values = text, dict(values)
        self._unwritten = dict.fromkeys(() if self.path.exists() else values)
        self.session, self.changes = secrets.token_hex(4), list[list[tuple[str, Answer]]]()
        self._seen, self._last, self.saved, self.outside = self._stat(), self._digest(), True, False
        self._stack: list[list[Change]] = []
        self.problem = None

    def _restart(self, entry: list[Change], *, is_undoable: bool = True) -> None:
        """Begin a new journal, with at most one entry."""
        record: dict[str, Any] = {"set": entry} if is_undoable else {"set": entry, "final": True}
        lines: list[dict[str, Any]] = [{"file": self._last}, *([record] if entry else [])]
        with atomic_path(self.journal) as temporary:
            self._copy_mode(temporary)
            temporary.write_text("".join(_as_line(line) for line in lines), encoding="ascii")
        self._copy_mode(self.journal)
        if entry:
            self._remember(lines[1])
            self._apply(entry)

    def _entries(self) -> list[dict[str, Any]]:
        """Return the lines of the journal; one that a crash cut off was never told as saved, and is removed."""
        if not self.journal.exists():
            return []
        content = self.journal.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.truncate(self.journal, len(whole))
        try:
            entries = [json.loads(line) for line in whole.splitlines()]
            return [
                {**entry, "set": _as_changes(entry["set"])} if "set" in entry else entry for entry in entries
            ]
        except (ValueError, TypeError):
            msg = f"{self.journal} is damaged; move it away to start with the labels in {self.path.name} only"
            raise InputError(msg) from None

    def _save(self, entry: list[Change], *, undo: bool = False) -> int:
        if entry or undo:
            record: dict[str, Any] = {"set": entry, "undo": True} if undo else {"set": entry}
            self._append(record)
            self._remember(record)
            self._apply(entry)
        return len(self.changes)

    def _append(self, record: Mapping[str, Any]) -> None:
        """Write a line to the journal and sync it; where that fails, nothing of it stays."""
        with explain_errors(self.path), self.journal.open("ab", buffering=0) as file:
            start = file.tell()
            try:
                line = memoryview(_as_line(record).encode("ascii"))
                while line:
                    line = line[file.write(line) :]
                os.fsync(file.fileno())
            except OSError:
                file.truncate(start)
                raise
        self._last = record.get("file", self._last)

    def _remember(self, entry: Mapping[str, Any]) -> None:
        if entry.get("undo"):
            self._stack.pop()
        elif "set" in entry and not entry.get("final"):
            self._stack.append(entry["set"])

    def _apply(self, entry: Iterable[Change]) -> None:
        for node, _, after in entry:
            self._unwritten[node] = None
            self.values[node] = after
            if after == Answer():
                del self.values[node]
        self.changes.append([(node, after) for node, _, after in entry])
        self.saved = False

    def _value_after(
        self, node: str, names: list[str] | None, action: str | None, drawn: tuple[str, int]
    ) -> Answer:
        """Return what is known about a node after an answer; a random question stays one, even if it is cleared."""
        before = self.value(node)
        if before.drawn in (RANDOM, SCORE):
            drawn = before.drawn, before.pool
        after = self._labels_after(node, names, action)
        return (
            after
            if after == Answer() and drawn[0] != RANDOM
            else after._replace(drawn=drawn[0], pool=drawn[1])
        )

    def _labels_after(self, node: str, names: list[str] | None, action: str | None) -> Answer:
        if action in ACTIONS:
            return ACTIONS[action]
        before = self.value(node).labels
        if action == "confirm":
            if not (names or before):
                msg = f"the node {node!r} has no label to confirm"
                raise InputError(msg)
            return Answer(tuple(names or before), CONFIRMED)
        return Answer(tuple(sorted({*before, *(names or ())}) if action == "add" else names or ()))

    def _digest(self) -> str:
        try:
            return hashlib.sha256(self.path.read_bytes()).hexdigest()
        except FileNotFoundError:
            return ""
        except OSError:
            return "not readable"

    def _copy_mode(self, path: Path) -> None:
        """Give a file the mode of the label file, which others may not be allowed to read."""
        with contextlib.suppress(OSError):
            shutil.copymode(self.path, path)

    def _stat(self) -> tuple[int, int, int] | None:
        try:
            stat = self.path.stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_size, stat.st_ino


def _as_line(record: Mapping[str, Any]) -> str:
    """Return a record as a line of the journal."""
    if "set" in record:
        changes = [[node, *(value.to_list() for value in values)] for node, *values in record["set"]]
        record = {**record, "set": changes}
    return json.dumps(record) + "\n"


def _as_changes(entry: Iterable[Any]) -> list[Change]:
    """Return the changes that a line of the journal holds."""
    return [
        (node, *(Answer(tuple(labels), *others) for labels, *others in values)) for node, *values in entry
    ]


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
