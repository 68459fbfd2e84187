"""Writing whole or not at all, and the sentence a user reads when it cannot be."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from unseen.data.files import (
    atomic_path,
    atomic_paths,
    make_folder,
    new_folder,
    refuse_overwriting,
    require_writable,
    staged_folder,
)
from unseen.errors import InputError, OutputError


def atomic_write(path: str | Path, writer: Callable[[Path], object]) -> None:
    with atomic_path(path) as temporary:
        writer(temporary)


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_new_file_appears_and_nothing_else(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "a.txt") as temporary:
        temporary.write_text("new")
        assert temporary.parent == tmp_path, "another file system could not be renamed from"
        assert temporary.suffix == ".txt"
        assert not (tmp_path / "a.txt").exists()
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "new"


@pytest.mark.parametrize("failure", [KeyboardInterrupt, ValueError, MemoryError, SystemExit])
def test_failed_write_leaves_the_old_file_alone(tmp_path: Path, failure: type[BaseException]) -> None:
    (tmp_path / "a.txt").write_text("old")

    def fail(temporary: Path) -> None:
        temporary.write_text("half")
        raise failure

    with pytest.raises(failure):
        atomic_write(tmp_path / "a.txt", fail)
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_own_errors_pass_unchanged(tmp_path: Path) -> None:
    def fail(temporary: Path) -> None:
        msg = "the id 'a b' has a blank"
        raise InputError(msg)

    with pytest.raises(InputError, match=r"^the id 'a b' has a blank$"):
        atomic_write(tmp_path / "a.txt", fail)
    assert names(tmp_path) == []


def test_writer_may_replace_the_temporary_file(tmp_path: Path) -> None:
    """Some libraries open a file by another rename; only the name counts."""
    with atomic_path(tmp_path / "a.txt") as temporary:
        temporary.unlink()
        temporary.write_text("again")
    assert (tmp_path / "a.txt").read_text() == "again"


def test_mode_follows_umask_and_then_the_old_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        atomic_write(tmp_path / "a.txt", lambda t: t.write_text("x"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640
    (tmp_path / "a.txt").chmod(0o604)
    atomic_write(tmp_path / "a.txt", lambda t: t.write_text("y"))
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o604


def test_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.txt").symlink_to(tmp_path / "real" / "a.txt")
    atomic_write(tmp_path / "link.txt", lambda t: t.write_text("x"))
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real" / "a.txt").read_text() == "x"


def test_longest_name_works(tmp_path: Path) -> None:
    target = tmp_path / ("n" * 247 + ".parquet")
    atomic_write(target, lambda t: t.write_text("x"))
    assert target.read_text() == "x"


def test_pair_appears_together(tmp_path: Path) -> None:
    with atomic_paths(tmp_path / "a", tmp_path / "b") as (one, two):
        one.write_text("1")
        two.write_text("2")
    assert names(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("failure", [OSError(errno.EIO, "broken"), KeyboardInterrupt()])
def test_pair_is_undone_when_the_second_rename_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: bool, failure: BaseException
) -> None:
    if old:
        (tmp_path / "a").write_text("old a")
        (tmp_path / "b").write_text("old b")
    replace = os.replace

    def broken(source: Path, target: Path) -> None:
        if Path(target).name == "b" and Path(source).read_text() == "new":
            raise failure
        replace(source, target)

    monkeypatch.setattr(os, "replace", broken)
    expected = OutputError if isinstance(failure, OSError) else KeyboardInterrupt
    with pytest.raises(expected), atomic_paths(tmp_path / "a", tmp_path / "b") as (one, two):  # noqa: PT012
        one.write_text("new")
        two.write_text("new")
    assert names(tmp_path) == (["a", "b"] if old else [])
    if old:
        assert [(tmp_path / name).read_text() for name in "ab"] == ["old a", "old b"]


def test_pair_is_undone_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("old a")

    def no_links(source: Path, target: Path) -> None:
        raise OSError(errno.EPERM, "no links here")

    def write_pair() -> None:
        with atomic_paths(tmp_path / "a", tmp_path / "b") as (one, two):
            one.write_text("new")
            two.write_text("new")
            (tmp_path / "b").mkdir()  # in the meantime, by another process

    monkeypatch.setattr(os, "link", no_links)
    with pytest.raises(OutputError, match=r"cannot write .*b: "):
        write_pair()
    assert names(tmp_path) == ["a", "b"]
    assert (tmp_path / "a").read_text() == "old a"


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(
        OutputError, match=r"cannot write .*none/a\.txt: the folder .*none does not exist; create it"
    ):
        atomic_write(tmp_path / "none" / "a.txt", lambda t: t.write_text("x"))


def test_folder_at_the_path(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"it is a folder; name a file in it$"):
        atomic_write(tmp_path, lambda t: t.write_text("x"))
    with pytest.raises(OutputError, match=r"name a file in it, e\.g\. .*/page\.html$"):
        require_writable(tmp_path, example="page.html")


def test_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="is a file, not a folder"):
        atomic_write(tmp_path / "file" / "a.txt", lambda t: t.write_text("x"))


def test_device_is_refused() -> None:
    with pytest.raises(OutputError, match="is a device or a pipe"):
        atomic_write(os.devnull, lambda t: t.write_text("x"))


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="no such device here")
def test_stdout_that_is_a_pipe_is_called_so() -> None:
    program = "import sys; from unseen.data.files import require_writable; require_writable('/dev/stdout')"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "cannot write /dev/stdout: it is a device or a pipe, not a file; name a file" in result.stderr


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no such folder here")
def test_folder_that_takes_no_files() -> None:
    with pytest.raises(OutputError, match="the folder /proc does not take new files; choose another place"):
        require_writable("/proc/x")


def test_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "a")
    with pytest.raises(OutputError, match=r"a: it is a link that leads back to itself; remove it or"):
        require_writable(tmp_path / "a")
    with pytest.raises(OutputError, match="leads back to itself"), staged_folder(tmp_path / "a"):
        pass


@pytest.mark.parametrize("failure", [KeyboardInterrupt, ValueError, MemoryError, SystemExit])
def test_staged_folder_that_fails_leaves_nothing(tmp_path: Path, failure: type[BaseException]) -> None:
    with pytest.raises(failure), staged_folder(tmp_path / "new" / "parts") as staging:  # noqa: PT012
        (staging / "part-0").mkdir()
        raise failure
    assert names(tmp_path) == []
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "old").write_text("old")
    with pytest.raises(failure), staged_folder(tmp_path / "parts") as staging:
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
    assert names(tmp_path) == ["parts"]
    assert names(tmp_path / "parts") == ["new"]
    rename = Path.rename

    def broken(source: Path, target: Path) -> Path:
        if Path(target).name == "parts" and (source / "newer").exists():
            raise KeyboardInterrupt
        return rename(source, target)

    monkeypatch.setattr(Path, "rename", broken)
    with pytest.raises(KeyboardInterrupt), staged_folder(tmp_path / "parts") as staging:
        (staging / "newer").write_text("newer")
    assert names(tmp_path) == ["parts"]
    assert names(tmp_path / "parts") == ["new"]


def test_staged_folder_over_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    with pytest.raises(OutputError, match="a: it is a file; name a folder"), staged_folder(tmp_path / "a"):
        pass


def test_new_folder_keeps_what_was_there_before(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    with pytest.raises(ValueError, match="no"), new_folder(tmp_path / "old" / "a" / "b"):
        raise ValueError("no")
    assert names(tmp_path / "old") == []


def test_output_that_is_an_input_is_refused(tmp_path: Path) -> None:
    (tmp_path / "edges").mkdir()
    source = tmp_path / "edges" / "graph.txt"
    source.write_text("0 1")
    (tmp_path / "link.txt").symlink_to(source)
    (tmp_path / "hard.txt").hardlink_to(source)
    for target in (
        source,
        tmp_path / "link.txt",
        tmp_path / "hard.txt",
        tmp_path / "edges" / ".." / "link.txt",
    ):
        with pytest.raises(OutputError, match=r"the same file is read as input and would be overwritten"):
            refuse_overwriting(target, [None, object(), "missing.csv", str(source)])
    with pytest.raises(OutputError, match="the same file"):
        refuse_overwriting(source, [tmp_path / "edges"])
    refuse_overwriting(tmp_path / "edges" / "new.txt", [tmp_path / "edges", source])
    refuse_overwriting(tmp_path / "other.txt", [source])


def test_too_long_a_name(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="the file name is too long; choose a shorter one"):
        atomic_write(tmp_path / ("n" * 300), lambda t: t.write_text("x"))


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.EACCES, "you may not write to the folder"),
        (errno.EROFS, "is read-only; choose another place"),
        (errno.EIO, "choose another place"),
    ],
)
def test_unwritable_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, sentence: str
) -> None:
    def refuse(*args: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OutputError, match=sentence):
        atomic_write(tmp_path / "a.txt", lambda t: t.write_text("x"))


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_folder_without_rights(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="you may not write to the folder"):
        atomic_write(tmp_path / "a.txt", lambda t: t.write_text("x"))


@pytest.mark.parametrize(
    ("number", "sentence"), [(errno.ENOSPC, "the disk is full"), (errno.EDQUOT, "disk quota")]
)
def test_full_disk(tmp_path: Path, number: int, sentence: str) -> None:
    def full(temporary: Path) -> None:
        temporary.write_text("half")
        raise OSError(number, os.strerror(number))

    with pytest.raises(OutputError, match=f"{sentence}.*; free some space or choose another disk"):
        atomic_write(tmp_path / "a.txt", full)
    assert names(tmp_path) == []


def test_require_writable_leaves_nothing(tmp_path: Path) -> None:
    require_writable(tmp_path / "a.txt")
    assert names(tmp_path) == []
    (tmp_path / "a.txt").write_text("old")
    require_writable(tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text() == "old"


def test_make_folder(tmp_path: Path) -> None:
    assert make_folder(tmp_path / "a" / "b").is_dir()
    assert make_folder(tmp_path / "a" / "b").is_dir(), "a second time changes nothing"
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="there is a file of that name"):
        make_folder(tmp_path / "file")
    with pytest.raises(OutputError, match=r"cannot write .*below: .*is a file, not a folder"):
        make_folder(tmp_path / "file" / "below")
