"""The codec of label files: setting some labels changes no other byte, and what is written is read back."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from unseen.data.labels_file import Answer, answer_table, answers_of, edit_table, labels_of_answers, read_text
from unseen.data.labels_text import LabelText
from unseen.data.options import Options
from unseen.data.read import read_label_list

ODD_IDS = ["a", "007", "=1+1", "@x", "-1", "#5", "# x", "ü ö", "a,b", "a;b", 'say "hi"', "a|b", "two\nlines"]
ODD_IDS += ["tab\tbed", " x ", "'", "NA", "skipped", "node"]
CLASSES = ["red", "a b", "x,y", "x;y", 'q"q', "ü", "confirmed", "#1", "-2", "+3"]
OTHER = st.sampled_from(
    ["", "7", "=1+1", '"quoted, ""twice"""', '" blanks "', "a b", '"two\r\nlines"', "it's", '5" pipe']
)
COMMENTS = st.sampled_from(["# a comment", "#", "", "   ", '# with, "a quote', "# x;y\tz"])


@st.composite
def label_files(draw: st.DrawFn) -> tuple[bytes, str, dict[str, set[str]], list[str]]:
    """Return a label file with comments, quotes and blanks, its delimiter, its labels, and its columns."""
    delimiter = draw(st.sampled_from([",", ";", "\t"]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    names = [
        "node",
        "label",
        *draw(st.lists(st.sampled_from(["age", "note", "x y"]), unique=True, max_size=2)),
    ]
    order = draw(st.permutations(names))
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
    path = folder / "labels.csv"
    path.write_bytes(data)
    return answers_of(read_label_list(path, Options(delimiter=delimiter)))


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
    if "status" not in text.columns:
        assert_only_labels_differ(before, after, delimiter, set(nodes), order)


def assert_only_labels_differ(
    before: bytes, after: bytes, delimiter: str, nodes: set[str], order: list[str]
) -> None:
    """Compare two files without the label cells of `nodes`, and without the new rows at the end."""
    place = {"header": True, "node": order.index("node"), "label": order.index("label")}
    old, new = (LabelText(each, delimiter, **place) for each in (before, after))
    for text in (old, new):
        for node in nodes & old.rows.keys():
            for row in text.rows[node]:
                if row < len(old._lines):
                    text._write(row, "label", "")
    assert new._lines[: len(old._lines)] == old._lines
    assert (new._header, new._mark, new._is_open) == (old._header, old._mark, old._is_open)
    added = {node for node, rows in new.rows.items() if rows[-1] >= len(old._lines)}
    assert added <= nodes


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


def test_a_column_that_would_make_a_row_of_a_comment_is_refused() -> None:
    text = LabelText(b"node,label\n#x,y,z\na,red\n", ",", header=True)
    with pytest.raises(unseen.OutputError, match="the comment '#x,y,z' would be read as a row"):
        text.set_answer("a", Answer(("red",), "confirmed"))


def test_a_first_line_that_alone_is_unknown_is_a_header(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("foo,bar\na,red\nb,blue\n")
    assert not read_text(tmp_path / "labels.csv").has_header
    assert read_text(tmp_path / "labels.csv", nodes={"a": None, "b": None}).has_header
    assert not read_text(tmp_path / "labels.csv", nodes={"a": None}).has_header


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
