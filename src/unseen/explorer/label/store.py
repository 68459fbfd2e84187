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
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from unseen.data.files import atomic_path, explain_errors, keep_backup
from unseen.data.labels_file import answers_of, new_text, read_text
from unseen.data.labels_text import Answer, LabelText
from unseen.data.opened import data_suffix
from unseen.data.read import read_label_list
from unseen.data.sources import Options
from unseen.errors import InputError, OutputError, UnseenError, counted, logger
from unseen.explorer.label.answers import AnswerLog, Change
from unseen.labels import Labels

WRITTEN = (".csv", ".tsv")


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


class Store(AnswerLog):
    """The labels of a session, every change of which is on disk before it is told.

    Links to the label file are followed, and `options` say how it is read. Where there is none yet, the session starts
    from `start`: what other files say. If somebody else has changed the file, `outside` is true, and nothing is folded
    until `take` says what holds.
    """

    def __init__(
        self, path: Path, nodes: Iterable[object], start: Labels | None = None, options: Options | None = None
    ) -> None:
        super().__init__(nodes, start)
        self.path, self._name, self._options = path.resolve(), path, options or Options()
        self.journal = self.path.with_name(f"{self.path.name}.journal")
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

    def fold(self) -> bool:
        """Write the answers to the file, of which .bak keeps the first version; return whether the file has them."""
        with self._mutex:
            if self.saved or self.look_outside():
                return self.saved
            try:
                for node in self._unwritten:
                    self._text.set_answer(node, self.value(node), self.replaced_labels(node))
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

    def close(self) -> None:
        """Fold what is left; the journal stays where there is something to undo."""
        with contextlib.suppress(OutputError):
            self.fold()
        if self.saved and not self._stack:
            self.journal.unlink(missing_ok=True)

    def _read(self) -> tuple[LabelText, dict[str, Answer]]:
        """Return the file and what it says; where there is none, what is known from other files."""
        if not self.path.exists():
            return new_text(self.path), self.start
        # by the name that the user gave: a notice about it is shown once
        text = read_text(self._name, self._options, self.nodes)
        labels = read_label_list(self._name, replace(self._options, header=text.has_header))
        return text, answers_of(labels)

    def _begin(self, text: LabelText, values: dict[str, Answer]) -> None:
        """Begin a session with what the file says."""
        self._start_session(values)
        self._text, self._unwritten = text, dict.fromkeys(() if self.path.exists() else values)
        self._seen, self._last, self.saved, self.outside = self._stat(), self._digest(), True, False
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
            entries: list[dict[str, Any]] = [json.loads(line) for line in whole.splitlines()]
            for entry in entries:
                changes = entry.get("set", [])
                for change in changes:
                    change[1:] = (Answer(tuple(labels), *others) for labels, *others in change[1:])
            return entries
        except (AttributeError, ValueError, TypeError):
            msg = f"{self.journal} is damaged; move it away to start with the labels in {self.path.name} only"
            raise InputError(msg) from None

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

    def _apply(self, entry: Iterable[Change]) -> None:
        changes = list(entry)
        super()._apply(changes)
        self._unwritten |= dict.fromkeys(node for node, _, _ in changes)
        self.saved = False

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
