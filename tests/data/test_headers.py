"""Headers: detected per file, never at the cost of a row of data, and never without a notice."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unseen
from unseen.data.headers import explain_header
from unseen.data.layouts import inspect_file

from .first_rows import FIRST_ROWS, FirstRow


def write(path: Path, content: str) -> Path:
    path.write_text(content, "utf-8")
    return path


def ids(graph: unseen.Graph) -> list[str]:
    return sorted(graph.node_ids.tolist())


def read(row: FirstRow, folder: Path, **options: Any) -> unseen.Graph:
    """Return the graph of a file, beside edges that know the ids of all its rows of data."""
    path = row.write(folder)
    if row.role == "edges":
        return unseen.read_graph(path, **options)
    known = row.ids()
    pairs = zip(known, [*known[1:], known[0]], strict=True)
    edges = write(folder / "known.csv", "src,dst\n" + "".join(f"{a},{b}\n" for a, b in pairs))
    return unseen.read_graph(edges, **{row.role: path}, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("row", FIRST_ROWS, ids=lambda row: f"{row.role}: {row.first}")
def test_first_rows_as_people_have_them(
    row: FirstRow, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "unseen")
    graph = read(row, tmp_path)
    if row.role == "edges":
        layout = inspect_file(row.write(tmp_path), "edges")
        assert layout.has_header == row.is_header
        assert graph.n_edges == read(row, tmp_path, header=row.is_header).n_edges
        usual = {"src", "dst"} <= set(row.first.split(",")) or "source" in row.first.lower().split(",")
        usual = usual or row.first.startswith("Source;")
        assert usual or row.is_header == ("was taken as a header" in caplog.text)
    else:
        assert set(graph.node_ids) == set(row.ids())


@pytest.mark.parametrize("first", ["src,dst", "from,to", "gene1,gene2"])
def test_the_user_may_say_that_there_is_no_header(first: str, tmp_path: Path) -> None:
    assert unseen.read_graph(write(tmp_path / "e.csv", f"{first}\na,b\n"), header=False).n_edges == 2


@pytest.mark.parametrize(
    ("role", "first", "below"),
    [
        ("edges", "a,b,NA", ["b,c,1"]),
        ("edges", "a,b,?", ["c,d,1"]),
        ("features", "P1,NA,3", ["P2,1,2"]),
        ("features", "P1,unknown,missing", ["P2,1,2"]),
        ("labels", "P1,none", ["P2,1"]),
    ],
)
def test_a_missing_value_is_not_a_name(role: Any, first: str, below: list[str]) -> None:
    assert explain_header(role, first.split(","), [row.split(",") for row in below]) is None


def test_an_edge_that_may_be_a_header_gets_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path / "e.csv", "zig,zag\na,b\nb,c\nc,a\na,d\n")
    assert unseen.read_graph(path).n_edges == 5
    (warning,) = caplog.records
    assert warning.levelno == logging.WARNING
    assert "line 1 (zig, zag)" in caplog.text
    assert "--header" in caplog.text
    caplog.clear()
    unseen.read_graph(path, header=False)
    unseen.read_graph(write(tmp_path / "few.csv", "a,b\nc,d\ne,f\n"))
    unseen.read_graph(write(tmp_path / "long.csv", "a,b\n" + "c,d\n" * 300 + "a,d\n"))
    assert not caplog.records
    assert unseen.read_graph(path, header=True).n_edges == 4


def test_the_first_line_is_parsed_as_the_others_are(tmp_path: Path) -> None:
    graph = unseen.read_graph(write(tmp_path / "e.csv", '" a",b\nb," a"\n" a",c\n'))
    assert ids(graph) == [" a", "b", "c"]


EDGES = "a b\nb c\nc a\n"


@pytest.mark.parametrize("kind", ["labels", "features", "text"])
def test_the_only_unknown_id_in_line_one_is_a_header(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "unseen")
    edges = write(tmp_path / "p.txt", EDGES)
    first, rest = {
        "labels": ("zig,zag", "a,x\nb,y\nc,x\n"),
        "features": ("zig,0,1", "a,1,2\nb,3,4\nc,5,6\n"),
        "text": ("zig,zag", "a,red chair\nb,red table\nc,old table\n"),
    }[kind]
    path = write(tmp_path / "p.csv", f"{first}\n{rest}")
    data = unseen.read(edges, **{kind: path})  # type: ignore[arg-type]
    assert (ids(data.graph), data.graph.n_edges) == (["a", "b", "c"], 3)
    assert "line 1 (zig, " in caplog.text
    assert "was taken as a header" in caplog.text
    if kind == "labels":
        assert data.labels is not None
        assert data.labels.classes == ("x", "y")
        assert unseen.read_labels(path, data.graph).classes == ("x", "y")
        assert inspect_file(path, "labels").has_header is False
        assert inspect_file(path, "labels", known_ids=["a", "b", "c"]).columns == {
            "node": "zig",
            "label": "zag",
        }
    if kind == "features":
        assert np.asarray(data.graph.features).tolist() == [[1, 2], [3, 4], [5, 6]]
        assert data.graph.feature_names == ("0", "1")
    known = unseen.read_graph(edges, nodes=["zig"], **({kind: path} if kind != "text" else {}))  # type: ignore[arg-type]
    assert "zig" in ids(known)


def test_labels_that_name_many_new_nodes_are_taken_as_they_are(tmp_path: Path) -> None:
    edges = write(tmp_path / "p.txt", EDGES)
    labels = write(tmp_path / "p.csv", "p,u\na,x\nq,y\n")
    assert ids(unseen.read_graph(edges, labels=labels)) == ["a", "b", "c", "p", "q"]


def test_a_node_called_like_a_column_keeps_its_label(tmp_path: Path) -> None:
    edges = write(tmp_path / "p.txt", "a name\nname c\n")
    labels = write(tmp_path / "p.csv", "name,red\na,red\nc,blue\n")
    graph = unseen.read_graph(edges, labels=labels)
    assert len(unseen.read_labels(labels, graph).labelled) == 3


def test_header_said_for_one_of_two_files(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    edges = write(tmp_path / "e.csv", "zig,zag\na,b\nb,c\n")
    labels = write(tmp_path / "l.csv", "a,x\nb,y\n")
    features = write(tmp_path / "f.csv", "a,1,2\nb,3,4\nc,5,6\n")
    data = unseen.read(edges, labels=labels, features=features, header=True)
    assert ids(data.graph) == ["a", "b", "c"]
    assert data.labels is not None
    assert data.labels.classes == ("x", "y")
    assert np.asarray(data.graph.features).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert "l.csv', line 1 (a, x) is read as data in spite of header=True" in caplog.text
    for content in ("a,b\nb,c\nc,a\n", "x,y,0.5\na,b,1\n"):  # ids that occur again, a number
        kept = unseen.read_graph(write(tmp_path / "g.csv", content), header=True)
        assert kept.n_edges == content.count("\n")


def test_naming_a_cell_of_the_first_row_makes_it_a_header(tmp_path: Path) -> None:
    graph = unseen.read_graph(write(tmp_path / "e.csv", "zig,zag,zug\na,b,c\nb,c,a\n"), src="zag", dst="zug")
    assert (ids(graph), graph.n_edges) == (["a", "b", "c"], 2)


def test_first_row_of_nodes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    edges = write(tmp_path / "p.txt", EDGES)
    nodes = write(tmp_path / "n.txt", "vertex\na\nz\n")
    assert ids(unseen.read_graph(edges, nodes=nodes)) == ["a", "b", "c", "z"]
    assert not caplog.text
    assert ids(unseen.read_graph(edges, nodes=write(nodes, "z\na\nb\n"))) == ["a", "b", "c", "z"]
    assert "line 1 (z) is read as data, though its id occurs nowhere else" in caplog.text


def test_a_delimiter_is_taken_where_it_fits(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.txt", "a b;c\nc;d\n")
    nodes = write(tmp_path / "n.txt", "z z\n")
    features = write(tmp_path / "f.csv", "node,x\na b,1\nc,2\nd,3\nz z,4\n")
    labels = write(tmp_path / "l.tsv", "node\tlabel\na b\tred; or so\nc\tblue\n")
    graph = unseen.read_graph(edges, nodes, features, labels, delimiter=";")
    assert ids(graph) == ["a b", "c", "d", "z z"]
    assert np.asarray(graph.features).ravel().tolist() == [4, 1, 2, 3]
    assert unseen.read_labels(labels, graph, delimiter=";").classes == ("blue", "red; or so")
    with pytest.raises(unseen.InputError, match="has 1 column;"):
        unseen.read_graph(edges, delimiter="|")
