"""Files are written whole or not at all: a temporary file beside the target, then one rename.

The name of a temporary file carries the machine and the process that made it, so that a later run
removes what a killed process left behind and never touches what a living one still writes.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import platform
import re
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path

from unseen.errors import OutputError, UnseenError

AnyPath = str | PathLike[str]
STANDARD = "-"
"""The name of the standard output, and of the standard input where a file is read."""


@contextlib.contextmanager
def atomic_path(path: AnyPath) -> Iterator[Path]:
    """Give a temporary file beside `path` to write to; it becomes `path` when the block ends well.

    When the block fails or is interrupted, the temporary file is removed and an older file at
    `path` stays as it was.
    """
    with atomic_paths(path) as (temporary,):
        yield temporary


@contextlib.contextmanager
def atomic_paths(*paths: AnyPath) -> Iterator[tuple[Path, ...]]:
    """Give one temporary file a path, for files that belong together: all of them appear, or none.

    Each rename is atomic; should a later one fail, the earlier ones are undone. (Only a crash of
    the machine between two renames can leave a new file beside an old one.) What is called ``-`` is copied to the
    standard output once it is whole.
    """
    if [str(path) for path in paths] == [STANDARD]:
        with tempfile.TemporaryDirectory() as place:
            yield (Path(place, "whole"),)
            with Path(place, "whole").open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.flush()
        return
    targets = [_target(path) for path in paths]
    rubbish: list[Path] = []
    try:
        for target in targets:
            with explained(target):
                rubbish.append(_create_beside(target))
        temporaries = tuple(rubbish)
        with explained(*targets):
            yield temporaries
        for temporary, target in zip(temporaries, targets, strict=True):
            with explained(target):
                with contextlib.suppress(FileNotFoundError):
                    temporary.chmod(stat.S_IMODE(target.stat().st_mode))
                _flush(temporary)
        _rename_all(temporaries, targets, rubbish)
    finally:
        for leftover in rubbish:
            leftover.unlink(missing_ok=True)
    for folder in {target.parent for target in targets}:
        with contextlib.suppress(OSError):  # names are safe once the folder is flushed; not all systems can
            _flush(folder)


@contextlib.contextmanager
def new_folder(path: AnyPath) -> Iterator[Path]:
    """Make the folder `path` and those above it for the block; when it fails, remove those that it made."""
    folder = Path(path)
    missing = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    try:
        yield make_folder(folder)
    except BaseException:
        for each in missing:
            with contextlib.suppress(OSError):  # something else has been put there meanwhile
                each.rmdir()
        raise


@contextlib.contextmanager
def staged_folder(target: AnyPath) -> Iterator[Path]:
    """Give an empty folder beside `target` to fill; it becomes `target` when the block ends well.

    A folder that is at `target` already is replaced as a whole: look before whether that is right. When
    the block fails or is interrupted, nothing of it is left, and an older folder stays as it was.
    """
    place = _real(Path(target))
    if place.exists() and not place.is_dir():
        msg = f"cannot write {target}: it is a file; name a folder"
        raise OutputError(msg)
    with explained(place), new_folder(place.parent):
        _remove_leftovers(os.path.realpath(place.parent))
        staging, old = (_temporary(place.parent) for _ in range(2))
        try:
            staging.mkdir()
            yield staging
            try:
                if place.exists():
                    place.rename(old)
                staging.rename(place)
            except BaseException:
                if old.exists() and not place.exists():
                    old.rename(place)
                raise
        finally:
            _remove_folder(staging)
            _remove_folder(old)


def refuse_overwriting(output: AnyPath, inputs: Iterable[object]) -> None:
    """Raise an `OutputError` if `output` is one of the files that are read; links do not hide it.

    Parameters
    ----------
    output : path
        File that is to be written.
    inputs : iterable
        Paths of files that are read. An existing file in a folder that is read counts as read. What is no
        path (None, a table in memory) is passed over.
    """
    target = Path(output)
    paths = (Path(source) for source in inputs if isinstance(source, (str, PathLike)))
    if any(_is_read(target, path) for path in paths):
        msg = f"cannot write {target}: the same file is read as input and would be overwritten; choose another name"
        raise OutputError(msg)


def require_writable(path: AnyPath, *, example: str | None = None) -> None:
    """Raise the `OutputError` that writing `path` would end in, before hours of work are lost to it.

    Parameters
    ----------
    path : str or path
        The file to be.
    example : str, optional
        Name of a file of the kind wanted, for the message where `path` is a folder.
    """
    if str(path) == STANDARD:
        return
    target = _target(path, example)
    with explained(target):
        _create_beside(target).unlink()


def keep_backup(path: AnyPath) -> Path | None:
    """Copy the file `path`, with its mode, to ``path.bak`` before it is changed for the first time.

    Return the copy, None where there is one already.
    """
    file = _target(path)
    backup = file.with_name(f"{file.name}.bak")
    if backup.exists() or not file.exists():
        return None
    with atomic_path(backup) as temporary:
        temporary.chmod(0o600)
        shutil.copyfile(file, temporary)
        shutil.copymode(file, temporary)
    return backup


def make_folder(path: AnyPath) -> Path:
    """Make the folder `path` and those above it, where they are not there yet, and return it."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        msg = f"cannot make the folder {folder}: there is a file of that name; choose another"
        raise OutputError(msg) from error
    except OSError as error:
        raise _output_error(folder, error) from error
    return folder


@contextlib.contextmanager
def explained(*targets: Path) -> Iterator[None]:
    """Turn an `OSError` of the block into an `OutputError` that says why the first of `targets` cannot be written."""
    try:
        yield
    except UnseenError:
        raise
    except OSError as error:
        raise _output_error(targets[0], error) from error


def _target(path: AnyPath, example: str | None = None) -> Path:
    target = Path(path)
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return _real(target)
    except OSError as error:
        raise _output_error(target, error) from error
    if stat.S_ISDIR(mode):
        like = "" if example is None else f", e.g. {target / example}"
        msg = f"cannot write {target}: it is a folder; name a file in it{like}"
        raise OutputError(msg)
    if not stat.S_ISREG(mode):
        msg = f"cannot write {target}: it is a device or a pipe, not a file; name a file"
        raise OutputError(msg)
    return _real(target)


def _is_read(target: Path, source: Path) -> bool:
    try:
        if target.samefile(source):
            return True
        return source.is_dir() and target.resolve(strict=True).parent.samefile(source)
    except (OSError, RuntimeError):  # what does not exist, or is a link to itself, is not read
        return False


def _real(path: Path) -> Path:
    """Return where a link leads, so that it is written through instead of replaced."""
    if not path.is_symlink():
        return path
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # older Pythons raise the latter for a link to itself
        raise _output_error(path, OSError(errno.ELOOP, os.strerror(errno.ELOOP))) from None


def remove_temporaries() -> list[Path]:
    """Remove the temporary files of this process, and return those that cannot be removed.

    An interrupt may come between the creation of a file and the block that removes it.
    """
    pattern = f".unseen-{_machine()}-{os.getpid()}-*"
    found = [each for folder in _folders for each in folder.glob(pattern)]
    for path in found:
        with contextlib.suppress(OSError):
            _remove_folder(path) if path.is_dir() else path.unlink()
    return [path for path in found if os.path.lexists(path)]


_folders: set[Path] = set()
"""Where this process has made temporary files."""


def _temporary(folder: Path, suffix: str = "") -> Path:
    _folders.add(folder)
    return folder / f".unseen-{_machine()}-{os.getpid()}-{secrets.token_hex(4)}{suffix}"


@functools.cache
def _machine() -> str:
    """Return a short hash for the set of processes that this one can see: machine, start, and container."""
    parts = [platform.node()]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]


@functools.cache
def _remove_leftovers(folder: str) -> None:
    """Remove the temporary files and folders in `folder` whose process was killed; looks once per folder.

    Those of living processes stay, and so do those of other machines, whose processes cannot be seen.
    """
    mine = re.compile(rf"\.unseen-{_machine()}-(\d+)-[0-9a-f]{{8}}(\.|$)")
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = mine.match(entry.name)
            if match and not _is_running(int(match[1])):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    with contextlib.suppress(OSError):
                        Path(entry.path).unlink()


def _is_running(process: int) -> bool:
    if os.name != "posix":  # elsewhere the question would end the process
        return True
    try:
        os.kill(process, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)  # it is of another user
    return True


def _remove_folder(folder: Path) -> None:
    for _ in range(20):  # a thread of a database that was interrupted may still be writing there
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.05)


def _create_beside(target: Path) -> Path:
    # The suffix is kept because libraries look at it. Mode 0o666 leaves the rest to the user's umask.
    _remove_leftovers(os.path.realpath(target.parent))
    temporary = _temporary(target.parent, target.suffix[-16:])
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    return temporary


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _rename_all(temporaries: tuple[Path, ...], targets: list[Path], rubbish: list[Path]) -> None:
    undo: list[Callable[[], object]] = []
    try:
        for temporary, target in zip(temporaries, targets, strict=True):
            with explained(target):
                if len(targets) > 1:
                    undo.append(_way_back(target, rubbish))
                temporary.replace(target)
    except BaseException:
        for step in reversed(undo):
            with contextlib.suppress(OSError):
                step()
        raise


def _way_back(target: Path, rubbish: list[Path]) -> Callable[[], object]:
    if not target.exists():
        return lambda: target.unlink(missing_ok=True)
    backup = _temporary(target.parent)
    rubbish.append(backup)
    try:
        os.link(target, backup)
    except OSError:  # a file system without hard links
        shutil.copy2(target, backup)
    return lambda: backup.replace(target)


def _output_error(target: Path, error: OSError) -> OutputError:
    folder = target.parent
    no_right = f"you may not write to the folder {folder}; choose another place or change its rights"
    reasons = {
        errno.ENOENT: f"the folder {folder} does not take new files; choose another place"
        if folder.is_dir()
        else f"the folder {folder} does not exist; create it first",
        errno.ELOOP: "it is a link that leads back to itself; remove it or choose another name",
        errno.ENOTDIR: f"{folder} is a file, not a folder; choose another place",
        errno.EACCES: no_right,
        errno.EPERM: no_right,
        errno.EROFS: f"the folder {folder} is read-only; choose another place",
        errno.ENOSPC: "the disk is full; free some space or choose another disk",
        errno.EDQUOT: "your disk quota is used up; free some space or choose another disk",
        errno.EISDIR: "it is a folder; name a file in it",
        errno.ENAMETOOLONG: "the file name is too long; choose a shorter one",
    }
    reason = reasons.get(error.errno or 0) or f"{error.strerror or error}; choose another place"
    return OutputError(f"cannot write {target}: {reason}")
