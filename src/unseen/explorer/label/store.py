"""Answers on disk: a journal beside the file of labels, and the file itself, into which the journal is folded.

An answer is a line of ``labels.csv.journal``, synced before it counts as saved. Folding writes ``labels.csv`` anew and
notes its sha256 in the journal before the new file takes its place. Whatever was lost in between, the next start finds
the line of the journal that the file belongs to, and repeats the answers after it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from unseen.data.files import atomic_path, explained, keep_backup
from unseen.data.opened import data_suffix
from unseen.data.options import Options
from unseen.data.read import read_label_list
from unseen.data.writers import as_text
from unseen.errors import InputError, OutputError, counted, logger
from unseen.explorer.label.rows import read_rows
from unseen.labels import ANSWERS, Labels, refused_class

Value = list[str] | str
"""What is known of a node: its classes, or ``skip`` or ``unknown``; no classes where nothing is known."""
Change = tuple[str, Value, Value]
"""A node, what was known of it, and what is known now."""
WRITTEN = (".csv", ".tsv")
MAX_NAME = 200
"""Characters of a class name."""


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep a second app from the same file of labels; the lock ends with the process, whatever ends that."""
    place = path.with_name(f"{path.name}.lock")
    with explained(path):
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
            msg = f"another `unseen label` works on {path}; close it first, or write to another file with --save FILE"
            raise OutputError(msg) from None
        try:
            yield
        finally:
            place.unlink(missing_ok=True)


def check_file(path: Path) -> None:
    """Raise the error for a file of labels that answers cannot be written to."""
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
        The file of labels; where there is none yet, the session starts from `start`.
    nodes : iterable
        All nodes that may be answered about.
    start : Labels or None
        What is known at the start, where there is no file.
    options : Options or None
        How the file is read.

    Attributes
    ----------
    values : dict
        What is known of each node.
    changes : list
        All changes since `session` began, one list per answer; its length is the revision.
    outside : bool
        Whether somebody else changed the file; nothing is folded then until `take` says what holds.
    """

    saved: bool

    def __init__(
        self, path: Path, nodes: Iterable[object], start: Labels | None = None, options: Options | None = None
    ) -> None:
        self.path, self.nodes, self._options = path, dict.fromkeys(map(str, nodes)), options
        self.journal = path.with_name(f"{path.name}.journal")
        self._start, self._mutex = start, threading.Lock()
        self._stack: list[list[Change]] = []
        self._begin()
        entries = self._entries()
        digest = self._digest()
        own = [k for k, entry in enumerate(entries) if entry.get("file") == digest]
        last = max((k for k, entry in enumerate(entries) if "file" in entry), default=-1)
        after = entries[own[-1] + 1 if own else last + 1 :]
        pending = [entry for entry in after if "set" in entry]
        self.outside = bool(entries) and not own and bool(pending)
        if entries and not own and not pending:
            logger.info(
                "%s was changed since the last session, whose answers cannot be undone any more", path
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

    def answer(self, nodes: list[str], label: object = None, action: str | None = None) -> int:
        """Save one answer about some nodes and return the revision; an error where it could not be saved."""
        names = [label] if isinstance(label, str) else label
        if action not in (None, "add", "clear", *ANSWERS) or (names is None) == (action in (None, "add")):
            msg = (
                "an answer has a `label`, or an `action`: skip, unknown or clear; `add` with a label adds it"
            )
            raise InputError(msg)
        if names is not None:
            names = _checked_names(names)
        unknown = next((node for node in nodes if node not in self.nodes), None)
        if unknown is not None or not nodes:
            msg = "an answer needs a node" if unknown is None else f"the graph has no node {unknown[:80]!r}"
            raise InputError(msg)
        if any(not node or "\n" in node or "\r" in node or "\0" in node for node in nodes):
            msg = "a node whose id is empty or has a line break cannot stand in a text file; rename it in the graph"
            raise InputError(msg)
        with self._mutex:
            entry = [(node, self.value(node), self._value_after(node, names, action)) for node in nodes]
            return self._save([change for change in entry if change[1] != change[2]])

    def undo(self) -> int:
        """Take the last answer back, also one of an earlier session, and return the revision."""
        with self._mutex:
            if not self._stack:
                msg = "there is no answer left to undo"
                raise InputError(msg)
            return self._save([(node, after, before) for node, before, after in self._stack[-1]], undo=True)

    def fold(self) -> bool:
        """Write all labels to the file, as it was before kept once as .bak; return whether the file has them now."""
        with self._mutex:
            if self.saved or self.look_outside():
                return self.saved
            fill = as_text(self.labels(), "labels", self.path)[self.path]
            rows = read_rows(self.path, self._options) if self.path.exists() else None
            keep_backup(self.path)
            with atomic_path(self.path) as temporary:
                if rows is None:
                    fill(temporary)
                else:
                    temporary.write_text(rows.text(self.values), encoding="utf-8")
                digest = hashlib.sha256(temporary.read_bytes()).hexdigest()
                self._append({"file": digest})
            self._seen, self.saved = self._stat(), True
            return True

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
            self._begin()
            entry = [(node, self.value(node), mine.get(node, [])) for node in {**self.values, **mine}]
            if what != "app":
                entry = [change for change in entry if what == "both" and change[0] in answered]
            self._restart([change for change in entry if change[1] != change[2]])
        self.fold()

    def value(self, node: str) -> Value:
        """Return what is known of a node."""
        return self.values.get(node, [])

    def labels(self) -> Labels:
        """Return what is known as labels of all nodes."""
        classes = {node: value for node, value in self.values.items() if isinstance(value, list)}
        labels = Labels.from_values(classes, [*self.nodes, *(n for n in self.values if n not in self.nodes)])
        answers = {node: value for node, value in self.values.items() if isinstance(value, str)}
        return Labels(labels.indicator, labels.classes, labels.node_ids, answers)

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

    def _begin(self) -> None:
        """Read the file, or start from what was given."""
        labels = read_label_list(self.path, self._options) if self.path.exists() else self._start
        self.values: dict[str, Value] = {}
        if labels is not None:
            self.values = {str(node): value for node, value in labels.to_lists().items()}
            self.values |= {str(node): said for node, said in labels.answers.items() if said in ANSWERS}
        self.session, self.changes = secrets.token_hex(4), list[list[tuple[str, Value]]]()
        self._seen, self._last, self.saved, self.outside = self._stat(), self._digest(), True, False
        self._stack = []

    def _restart(self, entry: list[Change]) -> None:
        """Begin the journal anew, with at most one entry."""
        lines: list[dict[str, Any]] = [{"file": self._last}, *([{"set": entry}] if entry else [])]
        with atomic_path(self.journal) as temporary:
            temporary.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="ascii")
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
            return [json.loads(line) for line in whole.splitlines()]
        except ValueError:
            msg = (
                f"{self.journal} is damaged; move it away to start with the labels of {self.path.name} alone"
            )
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
        with explained(self.path), self.journal.open("ab", buffering=0) as file:
            start = file.tell()
            try:
                line = memoryview((json.dumps(record) + "\n").encode("ascii"))
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
        elif "set" in entry:
            self._stack.append([(node, before, after) for node, before, after in entry["set"]])

    def _apply(self, entry: Iterable[Change]) -> None:
        for node, _, after in entry:
            self.values[node] = after
            if not after:
                del self.values[node]
        self.changes.append([(node, after) for node, _, after in entry])
        self.saved = False

    def _value_after(self, node: str, names: list[str] | None, action: str | None) -> Value:
        if names is None:
            return [] if action == "clear" else str(action)
        before = self.value(node)
        return sorted({*before, *names}) if action == "add" and isinstance(before, list) else names

    def _digest(self) -> str:
        return hashlib.sha256(self.path.read_bytes()).hexdigest() if self.path.exists() else ""

    def _stat(self) -> tuple[int, int, int] | None:
        try:
            stat = self.path.stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_size, stat.st_ino


def _checked_names(names: object) -> list[str]:
    """Return class names, sorted, if every one of them can be written to a file and read back."""
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        msg = "`label` must be the name of a class, or a list of names"
        raise InputError(msg)
    for name in names:
        if refusal := refused_class(name[: 2 * MAX_NAME]):
            raise InputError(refusal)
        if len(name) > MAX_NAME or not name.isprintable():
            msg = f"the class name {name[:40]!r} is too long or has signs that cannot be printed; use up to {MAX_NAME}"
            raise InputError(msg)
    return sorted(set(names))
