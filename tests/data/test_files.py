"""Writing whole or not at all, and the sentence a user reads when it cannot be."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from unseen.data.files import (
    atomic_path,
    atomic_paths,
    keep_backup,
    make_folder,
    new_folder,
    refuse_overwriting,
    require_writable,
    staged_folder,
)
from unseen.errors import InputError, OutputError

FAILURES = [KeyboardInterrupt, ValueError, MemoryError, SystemExit]


def atomic_write(path: str | Path, text: str = "x", failure: BaseException | None = None) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(text)
        if failure is not None:
            raise failure


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_new_file_appears_and_nothing_else(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "a.txt") as temporary:
        temporary.unlink()  # some libraries open a file by another rename; only the name counts
        temporary.write_text("new")
        assert temporary.parent.parent == tmp_path, "another file system could not be renamed from"
        assert temporary.suffix == ".txt"
        assert not (tmp_path / "a.txt").exists()
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "new"
    atomic_write(tmp_path / ("n" * 247 + ".parquet"))
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    atomic_write(tmp_path / "link.txt", "through")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "through"


def test_mode_follows_umask_and_then_the_old_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        atomic_write(tmp_path / "a.txt")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640
    (tmp_path / "a.txt").chmod(0o604)
    atomic_write(tmp_path / "a.txt")
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o604
    backup = keep_backup(tmp_path / "a.txt")
    assert backup is not None
    assert stat.S_IMODE(backup.stat().st_mode) == 0o604
    assert keep_backup(tmp_path / "a.txt") is None


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("has_links", [True, False])
@pytest.mark.parametrize("failure", [OSError(errno.EIO, "broken"), KeyboardInterrupt(), None])
def test_a_pair_appears_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: bool, has_links: bool, failure: BaseException | None
) -> None:
    for name in "ab" if old else "":
        (tmp_path / name).write_text(f"old {name}")
    replace = os.replace

    def fail_at_second(source: Path, target: Path) -> None:
        if failure is not None and Path(target).name == "b" and Path(source).read_text() == "new":
            raise failure
        replace(source, target)

    def refuse_links(source: Path, target: Path) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "replace", fail_at_second)
    if not has_links:
        monkeypatch.setattr(os, "link", refuse_links)
    expected = pytest.raises(OutputError if isinstance(failure, OSError) else KeyboardInterrupt)
    with (
        contextlib.nullcontext() if failure is None else expected,
        atomic_paths(tmp_path / "a", tmp_path / "b") as pair,
    ):
        for path in pair:
            path.write_text("new")
    assert names(tmp_path) == (["a", "b"] if old or failure is None else [])
    for path in tmp_path.iterdir():
        assert path.read_text() == ("new" if failure is None else f"old {path.name}")


def test_what_cannot_be_written_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, sentence in {
        "none/a.txt": r"cannot write .*none/a\.txt: the folder .*none does not exist; create it",
        "": r"it is a folder; name a file in it$",
        "file/a.txt": "is a file, not a folder",
        "/dev/null": "is a device or a pipe, not a file; name a file",
        "/proc/x": "the folder /proc does not take new files; choose another place",
        "loop": "loop: it is a link that leads back to itself; remove it or",
        "n" * 300: "the file name is too long; choose a shorter one",
    }.items():
        for write in (require_writable, atomic_write):
            with pytest.raises(OutputError, match=sentence):
                write(tmp_path / name)
    with pytest.raises(OutputError, match=r"name a file in it, e\.g\. .*/page\.html$"):
        require_writable(tmp_path, example="page.html")
    require_writable(tmp_path / "file")
    require_writable(tmp_path / "new")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OutputError, match=r"there is a file of that name|is a file, not a folder"):
            make_folder(folder)
    for _ in range(2):  # a second time changes nothing
        make_folder(tmp_path / "made" / "new")
    with pytest.raises(ValueError, match="no"), new_folder(tmp_path / "made" / "c" / "d"):
        raise ValueError("no")
    assert names(tmp_path / "made") == ["new"]
    assert names(tmp_path) == ["file", "loop", "made"]
    assert (tmp_path / "file").read_text() == "x"


@pytest.mark.parametrize(
    "number", [errno.EACCES, errno.EROFS, errno.EIO, errno.ENOSPC, errno.EDQUOT], ids=errno.errorcode.get
)
def test_errors_of_the_system_are_explained(tmp_path: Path, number: int) -> None:
    with pytest.raises(OutputError, match=r"cannot write .*a\.txt: .*; (choose|free some space)"):
        atomic_write(tmp_path / "a.txt", "half", OSError(number, os.strerror(number)))
    with pytest.raises(InputError, match=r"^our own$"):
        atomic_write(tmp_path / "a.txt", "half", InputError("our own"))
    assert names(tmp_path) == []


@pytest.mark.parametrize("failure", FAILURES)
def test_staged_folder_that_fails_leaves_nothing(tmp_path: Path, failure: type[BaseException]) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "old").write_text("old")
    for name in ("new/parts", "parts"):
        with pytest.raises(failure), staged_folder(tmp_path / name) as staging:  # noqa: PT012
            (staging / "part-0").mkdir()
            raise failure
    assert names(tmp_path) == ["parts"]
    assert names(tmp_path / "parts") == ["old"]


def test_staged_folder_is_removed_although_a_thread_still_writes_there(tmp_path: Path) -> None:
    stop = threading.Event()

    def write(staging: Path) -> None:
        for number in range(200):
            if stop.wait(0.001) or not staging.exists():
                return
            try:
                (staging / f"spill-{number}").write_text("x")
            except OSError:
                return

    with pytest.raises(KeyboardInterrupt), staged_folder(tmp_path / "parts") as staging:  # noqa: PT012
        writer = threading.Thread(target=write, args=(staging,))
        writer.start()
        raise KeyboardInterrupt
    stop.set()
    writer.join()
    assert names(tmp_path) == []


def test_staged_folder_replaces_the_old_one_or_gives_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for content in ("old", "new"):
        with staged_folder(tmp_path / "parts") as staging:
            (staging / content).write_text(content)
    assert names(tmp_path / "parts") == ["new"]
    rename = Path.rename

    def interrupt(source: Path, target: Path) -> Path:
        if Path(target).name == "parts" and (source / "newer").exists():
            raise KeyboardInterrupt
        return rename(source, target)

    monkeypatch.setattr(Path, "rename", interrupt)
    with pytest.raises(KeyboardInterrupt), staged_folder(tmp_path / "parts") as staging:
        (staging / "newer").write_text("newer")
    assert names(tmp_path) == ["parts"]
    assert names(tmp_path / "parts") == ["new"]
    (tmp_path / "a").write_text("x")
    with pytest.raises(OutputError, match="a: it is a file; name a folder"), staged_folder(tmp_path / "a"):
        pass


def test_output_that_is_an_input_is_refused(tmp_path: Path) -> None:
    (tmp_path / "edges").mkdir()
    source = tmp_path / "edges" / "graph.txt"
    source.write_text("0 1")
    (tmp_path / "link.txt").symlink_to(source)
    (tmp_path / "hard.txt").hardlink_to(source)
    links = (tmp_path / "link.txt", tmp_path / "hard.txt", tmp_path / "edges" / ".." / "link.txt")
    for target in (source, *links):
        with pytest.raises(OutputError, match=r"the same file is read as input and would be overwritten"):
            refuse_overwriting(target, [None, object(), "missing.csv", str(source)])
    with pytest.raises(OutputError, match="the same file"):
        refuse_overwriting(source, [tmp_path / "edges"])
    refuse_overwriting(tmp_path / "edges" / "new.txt", [tmp_path / "edges", source])
    refuse_overwriting(tmp_path / "other.txt", [source])
