"""Writing whole or not at all, and the sentence a user reads when it cannot be."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from unseen.errors import InputError, OutputError
from unseen.io.files import atomic_path, atomic_paths, atomic_write, make_folder, require_writable


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
