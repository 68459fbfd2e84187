"""Files are written whole or not at all: to a temporary folder beside the target, then one rename."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path

from unseen.errors import OutputError, UnseenError

AnyPath = str | PathLike[str]
STANDARD = "-"
"""The name of the standard output, and of the standard input where a file is read."""
_temporaries: set[Path] = set()
"""The temporary folders of this process."""
_NO_RIGHTS = "you may not write to the folder {folder}; choose another place or change its rights"
_REASONS = {
    errno.ELOOP: "it is a link that leads back to itself; remove it or choose another name",
    errno.ENOTDIR: "{folder} is a file, not a folder; choose another place",
    errno.EACCES: _NO_RIGHTS,
    errno.EPERM: _NO_RIGHTS,
    errno.EROFS: "the folder {folder} is read-only; choose another place",
    errno.ENOSPC: "the disk is full; free some space or choose another disk",
    errno.EDQUOT: "your disk quota is used up; free some space or choose another disk",
    errno.EISDIR: "it is a folder; name a file in it",
    errno.EEXIST: "there is a file of that name; choose another",
    errno.ENAMETOOLONG: "the file name is too long; choose a shorter one",
}


@contextlib.contextmanager
def atomic_path(path: AnyPath) -> Iterator[Path]:
    """Give a temporary file to write to; it becomes `path` when the block ends well.

    When the block fails or is interrupted, the temporary file is removed and an older file at
    `path` stays as it was.
    """
    with atomic_paths(path) as (temporary,):
        yield temporary


@contextlib.contextmanager
def atomic_paths(*paths: AnyPath) -> Iterator[tuple[Path, ...]]:
    """Give one temporary file a path, for files that belong together: all of them appear, or none.

    Each rename is atomic; should a later one fail, the earlier ones are undone. (Only a crash of the machine between
    two renames can leave a new file beside an old one.) A path ``-`` is copied to the standard output at the end.
    """
    if [str(path) for path in paths] == [STANDARD]:
        with tempfile.TemporaryDirectory() as place:
            yield (Path(place, "whole"),)
            with Path(place, "whole").open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.flush()
        return
    files, renamed = dict[Path, Path](), list[Path]()
    with contextlib.ExitStack() as stack:
        for target in map(_find_target, paths):
            # libraries look at the suffix of a file
            files[target] = stack.enter_context(_workspace(target)) / f"new{target.suffix[-16:]}"
            files[target].touch()
        with explain_errors(next(iter(files))):
            yield tuple(files.values())
        for target, temporary in files.items():
            with explain_errors(target):
                with contextlib.suppress(FileNotFoundError):
                    temporary.chmod(stat.S_IMODE(target.stat().st_mode))
                with temporary.open("rb") as file:
                    os.fsync(file.fileno())
        try:
            for target, temporary in files.items():
                with explain_errors(target):
                    if len(files) > 1:
                        if target.exists():
                            _keep_old(target, temporary.with_name("old"))
                        renamed.append(target)
                    temporary.replace(target)
        except BaseException:
            for target in renamed:
                old = files[target].with_name("old")
                with contextlib.suppress(OSError):
                    old.replace(target) if old.exists() else target.unlink(missing_ok=True)
            raise


def _keep_old(target: Path, backup: Path) -> None:
    try:
        backup.hardlink_to(target)
    except OSError:  # not all file systems have hard links
        shutil.copy2(target, backup)


@contextlib.contextmanager
def _workspace(target: Path) -> Iterator[Path]:
    """Make a temporary folder beside `target`, from which files can be renamed to it; it is removed at the end."""
    folder = target.parent / f".unseen-{secrets.token_hex(8)}"
    _temporaries.add(folder)
    try:
        with explain_errors(target):
            folder.mkdir(0o700)
        yield folder
    finally:
        _remove(folder)


@contextlib.contextmanager
def new_folder(path: AnyPath) -> Iterator[None]:
    """Make the folder `path` and those above it for the block; when it fails, remove those that it made."""
    folder = Path(path)
    missing = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    try:
        make_folder(folder)
        yield
    except BaseException:
        for each in missing:
            with contextlib.suppress(OSError):  # something else has been put there meanwhile
                each.rmdir()
        raise


@contextlib.contextmanager
def staged_folder(target: AnyPath) -> Iterator[Path]:
    """Give an empty folder to fill; it becomes `target` when the block ends well.

    A folder that is at `target` already is replaced as a whole: look before whether that is right. When
    the block fails or is interrupted, nothing of it is left, and an older folder stays as it was.
    """
    place = Path(os.path.realpath(target))
    if place.exists() and not place.is_dir():
        msg = f"cannot write {target}: it is a file; name a folder"
        raise OutputError(msg)
    with explain_errors(place), new_folder(place.parent), _workspace(place) as folder:
        staging, old = folder / "new", folder / "old"
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


def refuse_overwriting(output: AnyPath, inputs: Iterable[object]) -> None:
    """Raise an `OutputError` if `output` is one of the files that are read; links do not hide it.

    `inputs` are paths of files that are read; an existing file in a folder that is read counts as read. Other objects
    (None, a table in memory) are passed over.
    """
    target = Path(output)
    for source in inputs:
        is_same = False
        if isinstance(source, (str, PathLike)):
            with contextlib.suppress(
                OSError, RuntimeError
            ):  # of files that do not exist, or link to themselves
                is_inside = Path(source).is_dir() and target.resolve(strict=True).parent.samefile(source)
                is_same = is_inside or target.samefile(source)
        if is_same:
            msg = f"cannot write {target}: the same file is read as input and would be overwritten; choose another name"
            raise OutputError(msg)


def require_writable(path: AnyPath, *, example: str | None = None) -> None:
    """Raise the `OutputError` that writing `path` would end in, before hours of work are lost to it.

    `example` is the name of a file of the kind wanted, for the message where `path` is a folder.
    """
    if str(path) != STANDARD:
        with _workspace(_find_target(path, example)):
            pass


def keep_backup(path: AnyPath) -> Path | None:
    """Copy the file `path`, with its mode, to ``path.bak`` before it is changed for the first time.

    Return the copy, None where there is one already.
    """
    file = _find_target(path)
    backup = file.with_name(f"{file.name}.bak")
    if backup.exists() or not file.exists():
        return None
    with atomic_path(backup) as temporary:
        shutil.copy(file, temporary)
    return backup


def make_folder(path: AnyPath) -> None:
    """Make the folder `path` and those above it, where they are not there yet."""
    with explain_errors(Path(path)):
        Path(path).mkdir(parents=True, exist_ok=True)


def remove_temporaries() -> list[Path]:
    """Remove the temporary folders of this process, and return those that cannot be removed.

    An interrupt may come between the creation of a folder and the block that removes it.
    """
    for path in list(_temporaries):
        _remove(path)
    return [path for path in _temporaries if os.path.lexists(path)]


@contextlib.contextmanager
def explain_errors(target: Path) -> Iterator[None]:
    """Turn an `OSError` of the block into an `OutputError` that says why `target` cannot be written."""
    try:
        yield
    except UnseenError:
        raise
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, f"{error.strerror or error}; choose another place")
        if error.errno == errno.ENOENT:
            reason = "the folder {folder} does not exist; create it first"
            if target.parent.is_dir():
                reason = "the folder {folder} does not take new files; choose another place"
        msg = f"cannot write {target}: {reason.format(folder=target.parent)}"
        raise OutputError(msg) from error


def _find_target(path: AnyPath, example: str | None = None) -> Path:
    """Return the file that is written: a link is followed, a folder or a device is refused."""
    target, mode = Path(path), stat.S_IFREG
    with explain_errors(target), contextlib.suppress(FileNotFoundError):
        mode = target.stat().st_mode
    if stat.S_ISREG(mode):
        return target.resolve() if target.is_symlink() else target
    what = "a device or a pipe, not a file; name a file"
    if stat.S_ISDIR(mode):
        what = "a folder; name a file in it" + ("" if example is None else f", e.g. {target / example}")
    msg = f"cannot write {target}: it is {what}"
    raise OutputError(msg)


def _remove(path: Path) -> None:
    for _ in range(20):  # a thread of a database that was interrupted may still be writing there
        if not os.path.lexists(path):
            _temporaries.discard(path)
            return
        shutil.rmtree(path, ignore_errors=True)
        time.sleep(0.05)
