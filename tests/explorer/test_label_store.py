"""Answers on disk: saved before they count, folded into the file, undone to the beginning, safe from crashes."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

import unseen
from labelling import NODES
from unseen.data.labels_text import Answer
from unseen.explorer.label.store import Store, check_file, lock_file

START = "node,label\nn1,red\nn2,red|blue\nn3,\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "labels.csv").write_text(START)
    return tmp_path / "labels.csv"


@pytest.fixture
def store(path: Path) -> Store:
    """A session with one answer, which is not in the file yet."""
    store = Store(path, NODES)
    store.answer(["n4"], "a")
    return store


def known(store: Store) -> dict[str, list[str] | str]:
    """Return the labels of each node, or else its status."""
    return {node: list(value.labels) or value.status for node, value in store.values.items()}


def names_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def said(store: Store, *nodes: str) -> list[list[str] | str]:
    return [known(store).get(node, []) for node in nodes]


def test_answers_are_in_the_journal_at_once_and_in_the_file_when_folded(path):
    store = Store(path, NODES)
    assert store.answer(["n4"], "green") == 1
    assert store.answer(["n5", "n6"], action="skip") == 2
    assert path.read_text() == START
    assert [json.loads(line) for line in store.journal.read_text().splitlines()][1:] == [
        {"set": [["n4", [[], ""], [["green"], ""]]]},
        {"set": [["n5", [[], ""], [[], "skipped"]], ["n6", [[], ""], [[], "skipped"]]]},
    ]
    assert store.fold()
    assert path.read_text() == (
        "node,label,status\nn1,red,\nn2,red|blue,\nn3,,\nn4,green,\nn5,,skipped\nn6,,skipped\n"
    )
    assert path.with_name("labels.csv.bak").read_text() == START
    store.answer(["n1"], "unknown")
    store.answer(["n5"], "skip")  # classes may be called so
    store.answer(["n2"], "green", "add")
    store.answer(["n6"], action="clear")
    store.close()
    assert path.read_text() == (
        "node,label,status\nn1,unknown,\nn2,red|blue|green,\nn3,,\nn4,green,\nn5,skip,\n"
    )
    assert path.with_name("labels.csv.bak").read_text() == START
    assert names_in(path.parent) == ["labels.csv", "labels.csv.bak", "labels.csv.journal"]


def test_undo_goes_back_to_the_beginning_over_sessions(path):
    store = Store(path, NODES)
    for node, name in (("n4", "a"), ("n1", "b"), ("n4", "c")):
        store.answer([node], name)
    store.undo()
    store.close()
    store = Store(path, NODES)
    assert (said(store, "n4", "n1"), store.undoable) == ([["a"], ["b"]], 2)
    store.undo()
    store.undo()
    with pytest.raises(unseen.InputError, match="there is no answer left to undo"):
        store.undo()
    store.close()
    assert path.read_text() == START + "n4,\n"  # a row of an earlier session stays, without a label
    assert not store.journal.exists()


def test_without_a_file_it_starts_from_what_is_given(tmp_path):
    start = unseen.Labels.from_values(["red"], [7])
    store = Store(tmp_path / "labels.csv", [7, 8], start)
    assert not store.path.exists()
    store.answer(["8"], "blue")
    again = Store(tmp_path / "labels.csv", [7, 8], start)  # as after a crash
    assert known(again) == {"7": ["red"], "8": ["blue"]}
    again.close()
    assert store.path.read_text() == "node,label\n7,red\n8,blue\n"
    assert "labels.csv.bak" not in names_in(tmp_path)


@pytest.mark.parametrize("at", ["line", "file", "rename"])
def test_a_crash_loses_nothing_that_was_saved(path, store, monkeypatch, at):
    store.fold()
    store.answer(["n5"], "b")
    if at == "line":  # cut off within a line that was never told as saved
        with store.journal.open("a") as file:
            file.write('{"set": [["n6", [], ["c')
    if at == "file":
        monkeypatch.setattr("unseen.data.labels_text.LabelText.data", crash)
    if at == "rename":
        monkeypatch.setattr(Path, "replace", crash)
    if at != "line":
        with pytest.raises(RuntimeError):
            store.fold()
        monkeypatch.undo()
    again = Store(path, NODES)
    assert said(again, "n4", "n5", "n6") == [["a"], ["b"], []]
    assert again.undoable == 2
    assert again.saved
    assert not again.outside
    assert path.read_text() == START + "n4,a\nn5,b\n"


def crash(*_: object) -> None:
    raise RuntimeError


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EIO])
@pytest.mark.parametrize("call", ["write", "fsync"])
def test_what_cannot_be_written_is_not_saved(path, store, monkeypatch, error, call):
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
    assert (said(store, "n5"), store.undoable) == ([[]], 1)
    monkeypatch.undo()
    store.answer(["n5"], "b")
    assert said(Store(path, NODES), "n5") == [["b"]]


def test_a_change_from_outside_is_noticed_and_nothing_is_overwritten(path, store):
    path.write_text("node,label\nn1,new\nn4,other\n")
    assert store.look_outside()
    store.answer(["n5"], "b")
    assert not store.fold()
    assert "other" in path.read_text()
    with pytest.raises(unseen.InputError, match="`take` is file, app or both, got 'none'"):
        store.take("none")


def test_a_change_from_outside_while_answers_are_written_is_not_overwritten(path, store, monkeypatch):
    write = Path.write_bytes

    def write_after_another_program(self, data):
        write(path, b"node,label\nn1,new\n")
        return write(self, data)

    monkeypatch.setattr(Path, "write_bytes", write_after_another_program)
    assert not store.fold()
    assert (path.read_text(), store.outside) == ("node,label\nn1,new\n", True)
    monkeypatch.undo()
    store.take("both")
    assert path.read_text() == "node,label\nn1,new\nn4,a\n"


@pytest.mark.parametrize(
    ("take", "expected"),
    [
        ("file", "n1,new\nn4,other\n"),
        ("both", "n1,new\nn4,a\nn5,b\n"),
        ("app", "n1,red\nn4,a\nn2,blue\nn2,red\nn5,b\n"),
    ],
)
def test_after_a_change_from_outside_the_user_decides(path, store, take, expected):
    store.answer(["n5"], "b")
    path.write_text("node,label\nn1,new\nn4,other\n")
    session = store.session
    assert store.look_outside()
    store.take(take)
    assert path.read_text() == "node,label\n" + expected
    assert (store.outside, store.session == session) == (False, False)
    assert store.undoable == (0 if take == "file" else 1)
    assert Store(path, NODES).values == store.values


def test_a_file_changed_between_sessions_is_taken_as_it_is(path, store, caplog):
    store.close()
    path.write_text("node,label\nn9,z\n")
    with caplog.at_level("INFO", "unseen"):
        again = Store(path, NODES)
    assert known(again) == {"n9": ["z"]}
    assert again.undoable == 0
    assert "was changed since the last session" in caplog.text


def test_a_file_changed_after_a_crash_is_asked_about(path, store):
    path.write_text("node,label\nn9,z\n")
    again = Store(path, NODES)
    assert again.outside
    assert said(again, "n4") == [["a"]]
    again.take("both")
    assert path.read_text() == "node,label\nn9,z\nn4,a\n"


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\0garbage", b'node,label\nn1,"red\n', b"", b"node,label,status\nn1\n"]
)
def test_a_file_broken_from_outside_does_not_block_keeping_the_answers(path, store, content):
    store.fold()
    store.answer(["n5"], action="skip")
    path.write_bytes(content)
    assert store.look_outside()
    store.answer(["n6"], "c")  # saved in the journal
    for take in ("file", "both"):
        with pytest.raises(unseen.InputError):
            store.take(take)
        assert path.read_bytes() == content
    store.take("app")
    expected = "node,label,status\nn1,red,\nn2,red|blue,\nn3,,\nn4,a,\nn5,,skipped\nn6,c,\n"
    assert path.read_text() == expected
    again = Store(path, NODES)
    assert again.values == store.values
    assert again.undoable == 0  # an undo would go back to the broken file


@pytest.mark.parametrize(
    ("nodes", "label", "action", "sentence"),
    [
        (["n1"], None, None, "an answer has a `label`, or an `action`"),
        (["n1"], "a", "skip", "an answer has a `label`, or an `action`"),
        (["n1"], None, "delete", "an answer has a `label`, or an `action`"),
        (["n4"], None, "confirm", "the node 'n4' has no label to confirm"),
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
        lock_file(path),
        pytest.raises(unseen.OutputError, match=r"another `unseen label` is using .*labels\.csv"),
        lock_file(path),
    ):
        pass
    with lock_file(path):
        pass
    assert "labels.csv.lock" not in names_in(path.parent)


def test_a_read_only_file_is_refused(path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(unseen.OutputError, match=r"it is read-only; name another \.csv with --save FILE"):
        check_file(path)


def test_a_link_does_not_evade_the_lock_nor_the_backup(path):
    link = path.with_name("link.csv")
    link.symlink_to(path)
    with lock_file(path), pytest.raises(unseen.OutputError), lock_file(link):
        pass
    store = Store(link, NODES)
    store.answer(["n4"], "a")
    store.close()
    assert link.is_symlink()
    assert path.read_text() == START + "n4,a\n"
    assert names_in(path.parent) == ["labels.csv", "labels.csv.bak", "labels.csv.journal", "link.csv"]


def test_backup_and_journal_have_the_mode_of_the_file(path):
    path.chmod(0o600)
    store = Store(path, NODES)
    store.answer(["n4"], "a")
    store.close()
    modes = [each.stat().st_mode & 0o777 for each in path.parent.iterdir()]
    assert modes == [0o600] * 3


def test_confirmed_answers_are_kept(tmp_path):
    path = tmp_path / "ask.csv"
    path.write_text("node,label,replaces,status\nn1,red,blue,\nn2,,,skipped\nn3,red,,confirmed\nn4,red,,\n")
    store = Store(path, NODES)
    confirmed = Answer(("red",), "confirmed")
    assert [store.value(node) for node in ("n1", "n3")] == [confirmed, confirmed]
    store.answer(["n4"], action="confirm")
    store.answer(["n5"], "red", "confirm")
    assert store.labels().answers == {"n2": "skipped", **dict.fromkeys(["n1", "n3", "n4", "n5"], "confirmed")}
    store.close()
    assert path.read_text() == (
        "node,label,replaces,status\nn1,red,blue,\nn2,,,skipped\nn3,red,,confirmed\nn4,red,,confirmed\n"
        "n5,red,,confirmed\n"
    )
    assert Store(path, NODES).values == store.values


def test_an_answer_names_the_label_that_it_replaces_in_another_file(tmp_path):
    start = unseen.Labels.from_values(["red", ["red", "blue"], "blue"], ["n1", "n2", "n3"])
    store = Store(tmp_path / "labels.csv", NODES, start)
    store.answer(["n1"], "green")
    store.answer(["n2"], "green")
    store.close()
    assert store.path.read_text() == (
        "node,label,replaces\nn1,green,red\nn2,green,blue\nn2,green,red\nn3,blue,\n"
    )
    other = tmp_path / "other.csv"
    start.save(other)
    graph = unseen.Graph.from_edges(["n1"], ["n2"], nodes=NODES)
    both = unseen.read_labels([other, store.path], graph)
    assert both.to_lists() == {"n1": ["green"], "n2": ["green"], "n3": ["blue"]}


def test_how_a_question_was_drawn_is_kept_with_its_answer(path):
    store, asked = Store(path, NODES), {"n4": ("random", 6), "n5": ("random", 6), "n6": ("score", 0)}
    store.answer(["n4"], "green", questions=asked)
    store.answer(["n6"], "green", questions=asked)
    store.answer(["n5"], action="skip", questions=asked)
    store.fold()
    rows = ["n4,green,random,6,", "n6,green,score,,", "n5,,random,6,skipped"]
    assert path.read_text().splitlines()[-3:] == rows
    drawn = [(node, status.drawn, status.is_new) for node, status in store.labels().answers.items()]
    assert drawn == [("n4", "random", True), ("n6", "score", False), ("n5", "random", False)]
    store.answer(["n5"], action="clear", questions=asked)  # it was asked, and has no answer
    store.fold()
    assert path.read_text().splitlines()[-1] == "n5,,random,6,"
    again = Store(path, NODES)
    assert again.value("n5") == Answer((), "", "random", 6)
    again.undo()
    again.undo()
    again.undo()
    assert (again.value("n4").drawn, again.value("n6")) == ("random", Answer())


def test_a_group_is_marked_once_the_file_has_questions(path):
    store = Store(path, NODES)
    store.answer(["n4"], "green", questions={"n4": ("random", 6)})
    store.answer(["n5", "n6"], "green")
    store.fold()
    assert path.read_text().splitlines()[-2:] == ["n5,green,group,", "n6,green,group,"]
    assert store.labels().guesses == {"n5", "n6"}
