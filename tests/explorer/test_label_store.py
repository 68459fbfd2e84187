"""Answers on disk: saved before they count, folded into the file, undone to the beginning, safe from crashes."""

from __future__ import annotations

import csv
import errno
import json
import os
from pathlib import Path

import pytest

import unseen
from labelling import NODES
from unseen.data.options import Options
from unseen.data.read import read_label_list
from unseen.explorer.label.store import Store, check_file, locked

START = "node,label\nn1,red\nn2,red|blue\nn3,\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "labels.csv").write_text(START)
    return tmp_path / "labels.csv"


def rows(path: Path) -> list[str]:
    return sorted(path.read_text().splitlines()[1:])


def test_answers_are_in_the_journal_at_once_and_in_the_file_when_folded(path):
    store = Store(path, NODES)
    assert store.answer(["n4"], "green") == 1
    assert store.answer(["n5", "n6"], action="skip") == 2
    assert path.read_text() == START
    assert [json.loads(line) for line in store.journal.read_text().splitlines()][1:] == [
        {"set": [["n4", [], ["green"]]]},
        {"set": [["n5", [], "skip"], ["n6", [], "skip"]]},
    ]
    assert store.fold()
    assert rows(path) == ["n1,red,", "n2,blue,", "n2,red,", "n4,green,", "n5,,skip", "n6,,skip"]
    assert path.with_name("labels.csv.bak").read_text() == START
    store.answer(["n1"], "unknown")
    store.answer(["n5"], "skip")  # classes may be called so
    store.answer(["n2"], "green", "add")
    store.answer(["n6"], action="clear")
    store.close()
    assert rows(path) == ["n1,unknown", "n2,blue", "n2,green", "n2,red", "n4,green", "n5,skip"]
    assert path.with_name("labels.csv.bak").read_text() == START
    assert sorted(p.name for p in path.parent.iterdir()) == [
        "labels.csv",
        "labels.csv.bak",
        "labels.csv.journal",
    ]


def test_undo_goes_back_to_the_beginning_over_sessions(path):
    store = Store(path, NODES)
    for node, name in (("n4", "a"), ("n1", "b"), ("n4", "c")):
        store.answer([node], name)
    store.undo()
    store.close()
    store = Store(path, NODES)
    assert (store.value("n4"), store.value("n1"), store.undoable) == (["a"], ["b"], 2)
    store.undo()
    store.undo()
    with pytest.raises(unseen.InputError, match="there is no answer left to undo"):
        store.undo()
    store.close()
    assert rows(path) == ["n1,red", "n2,blue", "n2,red"]
    assert not store.journal.exists()


def test_the_same_answer_twice_is_one(path):
    store = Store(path, NODES)
    assert [store.answer(["n4"], "a") for _ in range(3)] == [1, 1, 1]
    assert store.undoable == 1


def test_without_a_file_it_starts_from_what_is_given(tmp_path):
    start = unseen.Labels.from_values(["red"], [7])
    store = Store(tmp_path / "labels.csv", [7, 8], start)
    assert not store.path.exists()
    store.answer(["8"], "blue")
    again = Store(tmp_path / "labels.csv", [7, 8], start)  # as after a crash
    assert again.values == {"7": ["red"], "8": ["blue"]}
    again.close()
    assert rows(store.path) == ["7,red", "8,blue"]
    assert not path_exists(tmp_path, ".bak")


def path_exists(folder: Path, ending: str) -> bool:
    return any(p.name.endswith(ending) for p in folder.iterdir())


@pytest.mark.parametrize("at", ["line", "file", "rename"])
def test_a_crash_loses_nothing_that_was_saved(path, monkeypatch, at):
    store = Store(path, NODES)
    store.answer(["n4"], "a")
    store.fold()
    store.answer(["n5"], "b")
    if at == "line":  # cut off within a line that was never told as saved
        with store.journal.open("a") as file:
            file.write('{"set": [["n6", [], ["c')
    if at == "file":
        monkeypatch.setattr("unseen.explorer.label.store.as_text", crash)
    if at == "rename":
        monkeypatch.setattr(Path, "replace", crash)
    if at != "line":
        with pytest.raises(RuntimeError):
            store.fold()
        monkeypatch.undo()
    again = Store(path, NODES)
    assert (again.value("n4"), again.value("n5"), again.value("n6")) == (["a"], ["b"], [])
    assert again.undoable == 2
    assert again.saved
    assert not again.outside
    assert rows(path) == ["n1,red", "n2,blue", "n2,red", "n4,a", "n5,b"]


def crash(*_: object) -> None:
    raise RuntimeError


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EIO])
@pytest.mark.parametrize("call", ["write", "fsync"])
def test_what_cannot_be_written_is_not_saved(path, monkeypatch, error, call):
    store = Store(path, NODES)
    store.answer(["n4"], "a")
    before = store.journal.read_bytes()

    class Full:
        def __init__(self, file):
            self.file = file

        def __getattr__(self, name):
            return getattr(self.file, name)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def write(self, data):
            self.file.write(data[:5])
            raise OSError(error, os.strerror(error))

    def refused(_):
        raise OSError(error, os.strerror(error))

    if call == "write":
        real = Path.open
        monkeypatch.setattr(Path, "open", lambda *args, **more: Full(real(*args, **more)))
    else:
        monkeypatch.setattr(os, "fsync", refused)
    with pytest.raises(unseen.OutputError, match=r"cannot write .*labels\.csv"):
        store.answer(["n5"], "b")
    assert store.journal.read_bytes() == before
    assert (store.value("n5"), store.undoable) == ([], 1)
    monkeypatch.undo()
    store.answer(["n5"], "b")
    assert Store(path, NODES).value("n5") == ["b"]


def test_a_change_from_outside_is_noticed_and_nothing_is_overwritten(path):
    store = Store(path, NODES)
    store.answer(["n4"], "a")
    path.write_text("node,label\nn1,new\nn4,other\n")
    assert store.look_outside()
    store.answer(["n5"], "b")
    assert not store.fold()
    assert "other" in path.read_text()
    with pytest.raises(unseen.InputError, match="`take` is file, app or both, got 'none'"):
        store.take("none")


@pytest.mark.parametrize(
    ("take", "expected"),
    [
        ("file", ["n1,new", "n4,other"]),
        ("both", ["n1,new", "n4,a", "n5,b"]),
        ("app", ["n1,red", "n2,blue", "n2,red", "n4,a", "n5,b"]),
    ],
)
def test_after_a_change_from_outside_the_user_decides(path, take, expected):
    store = Store(path, NODES)
    store.answer(["n4"], "a")
    store.answer(["n5"], "b")
    path.write_text("node,label\nn1,new\nn4,other\n")
    session = store.session
    assert store.look_outside()
    store.take(take)
    assert rows(path) == expected
    assert (store.outside, store.session == session) == (False, False)
    assert store.undoable == (0 if take == "file" else 1)
    assert Store(path, NODES).values == store.values


def test_a_file_changed_between_sessions_is_taken_as_it_is(path, caplog):
    store = Store(path, NODES)
    store.answer(["n4"], "a")
    store.close()
    path.write_text("node,label\nn9,z\n")
    with caplog.at_level("INFO", "unseen"):
        again = Store(path, NODES)
    assert again.values == {"n9": ["z"]}
    assert again.undoable == 0
    assert "was changed since the last session" in caplog.text


def test_a_file_changed_after_a_crash_is_asked_about(path):
    store = Store(path, NODES)
    store.answer(["n4"], "a")
    path.write_text("node,label\nn9,z\n")
    again = Store(path, NODES)
    assert again.outside
    assert again.value("n4") == ["a"]
    again.take("both")
    assert rows(path) == ["n4,a", "n9,z"]


@pytest.mark.parametrize(
    ("nodes", "label", "action", "sentence"),
    [
        (["n1"], None, None, "an answer has a `label`, or an `action`"),
        (["n1"], "a", "skip", "an answer has a `label`, or an `action`"),
        (["n1"], None, "delete", "an answer has a `label`, or an `action`"),
        (["n1"], 7, None, "`label` must be the name of a class, or a list of names"),
        (["n1"], [], None, "`label` must be the name of a class, or a list of names"),
        (["n1"], ["a", 1], None, "`label` must be the name of a class, or a list of names"),
        (["n1"], "a|b", None, "would not be read back"),
        (["n1"], "NA", None, "would not be read back"),
        (["n1"], "", None, "would not be read back"),
        (["n1"], "a\nb", None, "is too long or has signs that cannot be printed"),
        (["n1"], "\ud800", None, "is too long or has signs that cannot be printed"),
        (["n1"], "a" * 201, None, "is too long or has signs that cannot be printed"),
        (["x"], "a", None, "the graph has no node 'x'"),
        ([], "a", None, "an answer needs a node"),
        (["a\nb"], "a", None, "a node whose id is empty or has a line break cannot stand in a text file"),
    ],
)
def test_what_is_no_answer_gets_a_sentence_and_changes_nothing(path, nodes, label, action, sentence):
    store = Store(path, [*NODES, "a\nb"])
    before = store.journal.read_bytes()
    with pytest.raises(unseen.InputError) as caught:
        store.answer(nodes, label, action)
    assert sentence in str(caught.value)
    assert store.journal.read_bytes() == before


def test_a_damaged_journal_is_not_guessed_at(path):
    path.with_name("labels.csv.journal").write_text("{}\nnonsense\n")
    with pytest.raises(unseen.InputError, match="labels.csv.journal is damaged; move it away"):  # noqa: RUF043
        Store(path, NODES)


def test_a_second_app_on_the_same_file_is_refused(path):
    with (
        locked(path),
        pytest.raises(unseen.OutputError, match=r"another `unseen label` works on .*labels\.csv"),
        locked(path),
    ):
        pass
    with locked(path):
        pass
    assert not path_exists(path.parent, ".lock")


@pytest.mark.parametrize("name", ["l.parquet", "l.csv.gz", "l.txt", "l"])
def test_files_that_are_not_changed_in_place_are_refused(tmp_path, name):
    with pytest.raises(unseen.OutputError, match="is not changed in place; name a"):
        check_file(tmp_path / name)


def test_a_read_only_file_is_refused(path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(unseen.OutputError, match=r"it is read-only; name another \.csv with --save FILE"):
        check_file(path)


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t"), (".csv", ";")])
def test_other_columns_of_the_file_stay(tmp_path, suffix, delimiter):
    path = tmp_path / f"labels{suffix}"
    lines = [
        ["who", "node", "note", "label"],
        ["Eve", "n1", '"two, or ""three"""', "red"],
        ["Bob", "n2", "=1+1", "red"],
        ["Cyd", "n2", "again", "blue"],
        ["Dan", "n3", " not sure ", ""],
        ["", "n9", "", "red"],
    ]
    path.write_text("".join(delimiter.join(line) + "\n" for line in lines))
    store = Store(path, NODES)
    assert store.value("n2") == ["blue", "red"]
    store.answer(["n1"], "green")
    store.answer(["n3"], action="skip")
    store.answer(["n4"], "red")
    store.answer(["n9"], action="clear")
    store.close()
    with path.open(newline="") as file:
        assert list(csv.reader(file, delimiter=delimiter)) == [
            ["who", "node", "note", "label", "answer"],
            ["Eve", "n1", 'two, or "three"', "green", ""],
            ["Cyd", "n2", "again", "blue", ""],
            ["Bob", "n2", "=1+1", "red", ""],
            ["Dan", "n3", "not sure", "", "skip"],
            ["", "n4", "", "red", ""],
        ]
    again = Store(path, NODES)
    assert again.values == {"n1": ["green"], "n2": ["blue", "red"], "n3": "skip", "n4": ["red"]}
    for _ in range(again.undoable):
        again.undo()
    again.close()
    assert read_label_list(path).to_lists() == {"n1": ["red"], "n2": ["blue", "red"], "n9": ["red"]}
    assert "not sure" in path.read_text()


def test_columns_named_by_options_keep_their_names(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("package,section,size\nn1,red,7\n")
    options = Options(node_column="package", label_column="section")
    store = Store(path, NODES, options=options)
    store.answer(["n2"], "blue")
    store.close()
    assert path.read_text() == "package,section,size\nn1,red,7\nn2,blue,\n"
    assert Store(path, NODES, options=options).values == {"n1": ["red"], "n2": ["blue"]}


def test_a_checked_label_stays_a_label(tmp_path):
    path = tmp_path / "ask.csv"
    path.write_text(
        "node,label,answer,reason\nn1,red,,label in doubt: blue is probably wrong (70%)\nn2,,skip,\n"
    )
    store = Store(path, NODES)
    assert (store.value("n1"), store.value("n2")) == (["red"], "skip")
