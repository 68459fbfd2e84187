"""Labels in every layout, what counts as no label, and the codec that changes labels and no other byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from reading import labels_of, write
from unseen.data.labels_file import Answer, answer_table, answers_of, edit_table, labels_of_answers, read_text
from unseen.data.labels_text import LabelText
from unseen.data.read import read_label_list
from unseen.data.sources import Options
from unseen.data.write import write_part

GRAPH = unseen.Graph.from_edges(["a", "b", "c"], ["b", "c", "d d"])
EXPECTED = {"a": {"red"}, "b": {"red", "blue"}, "d d": {"10"}}
ROWS = {"node": ["a", "b", "b", "c", "d d"], "label": ["red", "red", "blue", None, "10"]}
LISTS = {"node": ["a", "b", "c", "d d"], "label": [["red"], ["blue", "red"], [], ["10", None]]}


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("l.csv", "node,label\na,red\nb,red|blue\nd d,10\n"),
        ("l.csv", "d d,10\nb,blue\na,red\nb,red\nb,red\n"),
        ("l.csv", "label,node\n10,d d\nred | blue,b\nred,a\n"),
        ("l.tsv", "id\tclass\na\tred\nb\tblue|red|\nc\t\nd d\t10\n"),
        ("l.csv", "paper,label\na,red\nb,red|blue\nd d,10\n"),
        ("l.csv", "node,topic\na,red\nb,red|blue\nd d,10\n"),
        ("l.csv", "node,label,note\na,red,x\nb,red|blue,y\nd d,10,z\n"),
        ("l.csv", "a,red\nb,red|-1|blue\nc,NaN\nc,nan\nc,-1\nc,\nd d,10\n"),
        ("l.parquet", pa.table(ROWS)),
        ("", pa.table(LISTS)),
        ("", pd.DataFrame(ROWS)),
        ("", pd.DataFrame(ROWS).astype({"label": "category"})),
        ("", pl.DataFrame(ROWS)),
        ("", pd.DataFrame(LISTS).set_index("node").rename_axis("product")),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, str) else type(value).__name__,
)
def test_one_set_of_labels_in_many_clothes(tmp_path: Path, name: str, source: Any) -> None:
    labels = unseen.read_labels(write(tmp_path / name, source) if name else source, GRAPH)
    assert labels_of(labels) == EXPECTED
    assert (labels.classes, labels.node_ids.tolist()) == (("10", "blue", "red"), ["a", "b", "c", "d d"])


def test_words_for_missing_values_are_no_classes_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = {"node": ["a", "b", "c", "d d"], "label": ["NA", "None", "0", "null"]}
    text = write(tmp_path / "l.csv", "node,label\na,NA\nb,None\nc,0\nd d,null\n")
    made = [unseen.Labels.from_values(rows["label"])]
    made += [unseen.read_labels(source, GRAPH) for source in (text, pa.table(rows))]
    assert [labels.classes for labels in made] == [("0",)] * 3
    assert caplog.text.count("3 labels taken as missing, written NA") == 3


def test_group_txt(tmp_path: Path) -> None:
    path = write(tmp_path / "group.txt", "# node, classes\n a  red\nb\tred blue \n\nc\n")
    assert labels_of(unseen.read_labels(path, GRAPH)) == {"a": {"red"}, "b": {"red", "blue"}}


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([10, 2, -1], ("10", "2")),
        ([10.0, 2.0, float("nan")], ("10", "2")),
        ([1.5, 2.0, -1.0], ("1.5", "2")),
        ([True, False, None], ("False", "True")),
        (["x|y", "y", "-1"], ("x", "y")),
        ([["x|y"], ["z"], None], ("x|y", "z")),  # lists are not split at the bar
    ],
)
def test_types_of_a_label_column(values: list[object], classes: tuple[str, ...]) -> None:
    labels = unseen.read_labels(pa.table({"node": ["a", "b", "c"], "label": values}), GRAPH)
    assert labels.classes == classes
    assert labels.labelled.tolist() == [0, 1]
    empty = unseen.read_labels(pa.table({"node": ["a"], "label": pa.nulls(1)}), GRAPH)
    assert (empty.classes, len(empty.labelled), empty.n_nodes) == ((), 0, 4)


def test_an_unknown_id_is_missing_from_what_was_named(tmp_path: Path) -> None:
    path = write(tmp_path / "l.csv", "node,label\na,x\n007,y\n")
    for where, more in (("the graph", r".* labels=\.\.\."), ("the embedding", "remove such rows$")):
        with pytest.raises(unseen.InputError, match=rf"line 3: {where} has no node '007'; {more}"):
            unseen.read_labels(path, GRAPH, where=where)


def test_several_files_of_labels_add_up(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    one = write(tmp_path / "one.csv", "node,label\na,red|blue\nb,red\n")
    two = write(tmp_path / "two.csv", "node,label\nb,blue\nc,green\na,blue|red\n")
    labels = unseen.read([("a", "b"), ("b", "c")], labels=[one, two]).labels
    assert labels is not None
    assert labels_of(labels) == {"a": {"red", "blue"}, "b": {"red", "blue"}, "c": {"green"}}
    assert "the node 'b' is labelled red in " in caplog.text
    assert "one.csv' and blue in " in caplog.text
    assert "'a'" not in caplog.text  # the same labels twice are no contradiction


@pytest.mark.parametrize(
    ("text", "labels", "answers"),
    [
        ("status,x\na,,skipped,x\nb,unknown,,x\nc,, Unknown ,x\n", {"b": "unknown"}, {"a": "skipped", "c": "unknown"}),
        # a label outweighs a skip, and nothing is there to confirm for c
        ("status\na,red,confirmed\nb,red,skipped\nc,,confirmed\n", {"a": "red", "b": "red"}, {"a": "confirmed"}),
        ("status\na,x,active\nb,,closed\n", {"a": "x"}, {}),  # a column of the user's own
        ("status,unseen_status\na,x,old,confirmed\nb,,,skipped\n", {"a": "x"}, {"a": "confirmed", "b": "skipped"}),
    ],
)  # fmt: skip
def test_a_status_is_kept_apart_from_labels(
    tmp_path: Path, text: str, labels: dict[str, str], answers: dict[str, str]
) -> None:
    path = write(tmp_path / "ask.csv", f"node,label,{text}")
    read = unseen.read_labels(path, GRAPH)
    assert (labels_of(read), read.answers) == ({node: {name} for node, name in labels.items()}, answers)
    more = pa.table({"node": ["a"], "label": ["x"]})  # a label takes the place of a skip
    assert unseen.read_labels([path, more], GRAPH).answers.get("a") != "skipped"


def test_a_label_takes_the_place_of_the_one_that_it_replaces(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="unseen")
    nodes = ["a", "b", "c", "d d"]
    labels = pa.table({"node": nodes, "label": ["x", "y", "x|z", "x"]})
    ask = {"node": nodes, "label": ["y", "y", "new", ""], "status": ["", "", "", "skipped"]}
    asked = pa.table({**ask, "replaces": list("xyzx")})
    read = unseen.read_labels([labels, asked], GRAPH)
    assert labels_of(read) == {"a": {"y"}, "b": {"y"}, "c": {"x", "new"}, "d d": {"x"}}
    assert read.answers == dict.fromkeys(nodes, "confirmed")
    assert caplog.messages == ["2 labels replaced by answers: node 'a' is y instead of x, and so on"]
    assert labels_of(unseen.read_labels([asked, labels], GRAPH)) == labels_of(read)
    for own in (
        {"node": ["a", "c"], "label": ["", "z"], "replaces": ["x", ""], "status": ["", ""]},  # no answer yet
        {"node": ["c"], "label": ["z"], "replaces": ["q"]},  # of another label
    ):
        read = unseen.read_labels([labels, pa.table(own)], GRAPH)
        assert labels_of(read) == {"a": {"x"}, "b": {"y"}, "c": {"x", "z"}, "d d": {"x"}}


@pytest.mark.parametrize("name", ["l.csv", "l.tsv.gz", "l.parquet", "l.txt", "group.txt"])
def test_answers_are_read_back_or_refused(tmp_path: Path, name: str) -> None:
    answers = {"7": Answer(("x",)), "8": Answer(status="skipped"), "10": Answer(("x", "y"), "confirmed")}
    labels, path = labels_of_answers(answers, answers), tmp_path / name
    if name.endswith(".txt"):
        with pytest.raises(unseen.UnsupportedError, match=r"cannot hold answers"):
            write_part(labels, "labels", path)
        return
    write_part(labels, "labels", path)
    assert answers_of(read_label_list(path)) == answers


ODD_IDS = ["a", "007", "=1+1", "@x", "-1", "#5", "# x", "ü ö", "a,b", "a;b", 'say "hi"', "a|b", "two\nlines"]
ODD_IDS += ["tab\tbed", " x ", "'", "NA", "skipped", "node"]
CLASSES = ["red", "a b", "x,y", "x;y", 'q"q', "ü", "confirmed", "#1", "-2", "+3"]
OTHER = st.sampled_from(
    ["", "7", '"quoted, ""twice"""', '" blanks "', "a b", '"two\r\nlines"', "it's", '5" pipe']
)
COMMENTS = st.sampled_from(["# a comment", "#", "", "   ", '# with, "a quote', "# x;y\tz"])


@st.composite
def label_files(draw: st.DrawFn) -> tuple[bytes, str, dict[str, set[str]], list[str]]:
    """Return a label file with comments, quotes and blanks, its delimiter, its labels, and its columns."""
    delimiter = draw(st.sampled_from([",", ";", "\t"]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    others = draw(st.lists(st.sampled_from(["age", "note", "x y"]), unique=True, max_size=2))
    order = draw(st.permutations(["node", "label", *others]))
    ids = draw(st.lists(st.sampled_from(ODD_IDS), min_size=1, max_size=6))
    blank = st.sampled_from(["", "", " ", "  "])

    def cell(text: str) -> str:
        plain = text.replace(" ", "").isalnum() and text == text.strip() and draw(st.booleans())
        return text if plain or not text else '"' + text.replace('"', '""') + '"'

    lines, labels = [delimiter.join(order)], dict[str, set[str]]()
    for node in ids:
        own = draw(st.lists(st.sampled_from(CLASSES), unique=True, max_size=2))
        cells = {"node": cell(node), "label": cell(draw(st.sampled_from(["|", " | "])).join(own))}
        if not own:
            cells["label"] = draw(st.sampled_from(["", "NA", "-1"]))
        row = [cells[name] if name in cells else draw(OTHER) for name in order]
        lines.append(delimiter.join(draw(blank) + text + draw(blank) for text in row))
        labels.setdefault(node, set()).update(own)
    for _ in range(draw(st.integers(0, 3))):
        lines.insert(draw(st.integers(0, len(lines))), draw(COMMENTS))
    mark, last = draw(st.sampled_from(["", "\ufeff"])), draw(st.sampled_from([end, ""]))
    return (mark + end.join(lines) + last).encode(), delimiter, labels, order


def labels_in(data: bytes, folder: Path, delimiter: str) -> dict[str, Answer]:
    return answers_of(read_label_list(write(folder / "labels.csv", data), Options(delimiter=delimiter)))


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(drawn=label_files(), data=st.data())
def test_labels_change_and_nothing_else(tmp_path_factory: pytest.TempPathFactory, drawn, data) -> None:
    before, delimiter, labels, order = drawn
    folder = tmp_path_factory.mktemp("codec")
    known = labels_in(before, folder, delimiter)
    assert {node: set(answer.labels) for node, answer in known.items()} == {
        k: v for k, v in labels.items() if v
    }
    text = read_text(folder / "labels.csv", Options(delimiter=delimiter))
    assert text.data() == before
    assert text.columns["node"] == order.index("node")
    nodes = data.draw(st.lists(st.sampled_from(ODD_IDS), unique=True, max_size=4))
    for node in nodes:
        names = data.draw(st.lists(st.sampled_from(CLASSES), unique=True, max_size=2))
        status = data.draw(st.sampled_from(["", "confirmed"] if names else ["", "skipped", "unknown"]))
        answer = Answer(tuple(sorted(names)), status)
        text.set_answer(node, answer)
        known.pop(node, None)
        if answer != Answer():
            known[node] = answer
    after = text.data()
    assert labels_in(after, folder, delimiter) == known
    if "status" in text.columns:
        return
    # without the label cells of these nodes, and without new rows at the end, the files are the same
    place = {"header": True, "node": order.index("node"), "label": order.index("label")}
    old, new = (LabelText(each, delimiter, **place) for each in (before, after))
    for text in (old, new):
        for row in (row for node in set(nodes) & old.rows.keys() for row in text.rows[node]):
            if row < len(old._lines):
                text._write(row, "label", "")
    assert list(map("".join, new._lines[: len(old._lines)])) == list(map("".join, old._lines))
    assert (new._mark, new._is_open) == (old._mark, old._is_open)
    assert {node for node, rows in new.rows.items() if rows[-1] >= len(old._lines)} <= set(nodes)


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        ("n,l\na,red\n", {"a": ("blue",)}, "n,l\na,blue\n"),
        ("n,l\na,red|blue\n", {"a": ("blue",), "b": ("x", "y")}, "n,l\na,blue\nb,x|y\n"),
        ("n,l\na,red\na,blue\n", {"a": ("blue",), "b": ("x", "y")}, "n,l\na,\na,blue\nb,x\nb,y\n"),
        ("n,l\na,red\na,blue\n", {"a": ("blue", "green", "x")}, "n,l\na,green\na,blue\na,x\n"),
        ("n,l,age\na,red,7\n", {"a": ("red", "x")}, "n,l,age\na,red|x,7\n"),
        ("n,l,age\na,NA,7\nb,,8\n", {"a": ("x",), "b": ("y", "z")}, "n,l,age\na,x,7\nb,y|z,8\n"),
        ('n,l\na, "red" \n', {"a": ("blue",)}, 'n,l\na, "blue" \n'),
    ],
)
def test_where_labels_go(before: str, changes: dict[str, tuple[str, ...]], after: str) -> None:
    text = LabelText(before.encode(), ",", header=True)
    for node, labels in changes.items():
        text.set_answer(node, Answer(labels))
    assert text.data().decode() == after


@pytest.mark.parametrize(
    ("delimiter", "before", "after"),
    [
        (",", "a,red\r\nb,blue", "node,label,status\r\na,red,\r\nb,blue,confirmed\r\nc,,skipped"),
        (" ", "a  red\nb\tblue\n", 'node label status\na  red ""\nb\tblue confirmed\nc "" skipped\n'),
    ],
)
def test_a_status_in_a_file_without_a_header(tmp_path: Path, delimiter: str, before: str, after: str) -> None:
    (tmp_path / "labels.csv").write_text(before, newline="")
    text = read_text(tmp_path / "labels.csv")
    text.set_answer("b", Answer(("blue",), "confirmed"))
    text.set_answer("c", Answer(status="skipped"))
    assert text.data().decode() == after
    (tmp_path / "labels.csv").write_bytes(text.data())
    labels = read_label_list(tmp_path / "labels.csv")
    assert labels.answers == {"b": "confirmed", "c": "skipped"}
    assert labels.to_lists() == {"a": ["red"], "b": ["blue"]}


def test_what_cannot_be_written_and_first_lines_that_alone_are_unknown(tmp_path: Path) -> None:
    text = LabelText(b"node,label\n#x,y,z\na,red\n", ",", header=True)
    with pytest.raises(unseen.OutputError, match="the comment '#x,y,z' would be read as a row"):
        text.set_answer("a", Answer(("red",), "confirmed"))
    path = write(tmp_path / "labels.csv", "foo,bar\na,red\nb,blue\n")
    has_header = [read_text(path, nodes=nodes).has_header for nodes in (None, ["a", "b"], ["a"])]
    assert has_header == [False, True, False]


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(ODD_IDS),
        st.one_of(
            st.sets(st.sampled_from(CLASSES), min_size=1).map(lambda names: Answer(tuple(sorted(names)))),
            st.just(Answer(("red",), "confirmed")),
            st.sampled_from([Answer(status="skipped"), Answer(status="unknown")]),
        ),
        min_size=1,
    )
)
def test_answers_labels_and_tables_are_the_same(answers: dict[str, Answer]) -> None:
    labels = labels_of_answers(answers, answers)
    assert answers_of(labels) == answers
    assert answers_of(read_label_list(answer_table(labels))) == answers


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ([1, 2, None], pa.int64()),
        ([1.0, 2.0, None], pa.float64()),
        ([["1"], ["2", "1"], []], pa.list_(pa.string())),
        (["1", "2|1", ""], pa.string()),
    ],
)
def test_columns_of_every_type_take_new_labels(labels: list[object], kind: pa.DataType) -> None:
    table = pa.table({"node": ["a", "b", "c"], "label": pa.array(labels, kind), "age": [7, 8, 9]})
    numbers = edit_table(table, 0, 1, {"c": Answer(("3",)), "d": Answer(("1",))})
    assert numbers.column("label").type == kind
    for answers in (
        {"c": Answer(("3",)), "d": Answer(("1",))},
        {"c": Answer(("new",)), "a": Answer(("3", "new"))},
    ):
        before = answers_of(read_label_list(table))
        edited = edit_table(table, 0, 1, answers)
        assert answers_of(read_label_list(edited)) == before | answers
        assert edited.column("age").to_pylist()[:3] == [7, 8, 9]
