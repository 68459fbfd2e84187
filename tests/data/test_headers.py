"""Headers nobody announced: no row of data is lost to one, and none becomes a node unnoticed."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

import unseen


def write(path: Path, content: str) -> Path:
    path.write_text(content, "utf-8")
    return path


def ids(graph: unseen.Graph) -> list[str]:
    return sorted(graph.node_ids.tolist())


@pytest.mark.parametrize("names", ["from,to", "u,v", "node1,node2", "head,tail", "start,end", "From,To"])
def test_less_usual_names_of_ends(tmp_path: Path, names: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    assert ids(unseen.read_graph(write(tmp_path / "e.csv", f"{names}\na,b\nb,c\n"))) == ["a", "b", "c"]
    assert f"line 1 ({names.replace(',', ', ')}) was taken as a header" in caplog.text


def test_less_usual_names_with_weight_and_order(tmp_path: Path) -> None:
    graph = unseen.read_graph(write(tmp_path / "e.csv", "weight;to;from\n2;b;a, x\n3;c;b\n"))
    assert ids(graph) == ["a, x", "b", "c"]
    assert graph.adjacency.max() == 3


def test_nodes_that_are_called_like_ends_stay_nodes(tmp_path: Path) -> None:
    graph = unseen.read_graph(write(tmp_path / "e.txt", "u v\nv w\nw u\n"))
    assert (ids(graph), graph.n_edges) == (["u", "v", "w"], 3)
    told = unseen.read_graph(write(tmp_path / "t.txt", "from to\na b\n"), header=False)
    assert ids(told) == ["a", "b", "from", "to"]


def test_an_edge_of_its_own_in_line_one_gets_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    unseen.read_graph(write(tmp_path / "e.csv", "person,friend\na,b\nb,c\nc,a\n"))
    (warning,) = caplog.records
    assert warning.levelno == logging.WARNING
    assert "line 1 (person, friend) was read as an edge though its ids stand in no other line" in caplog.text
    caplog.clear()
    unseen.read_graph(tmp_path / "e.csv", header=False)
    unseen.read_graph(write(tmp_path / "few.csv", "a,b\nc,d\ne,f\n"))
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize("names", ["id_1,id_2", "id1,id2", "node_1,node_2", "node_id node_id", "#a b"])
def test_any_names_above_numbers_only_are_a_header(
    tmp_path: Path, names: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "unseen")
    gap = "," if "," in names else " "
    path = write(tmp_path / "e.txt", f"{names}\n1{gap}2\n2{gap}3\n")
    assert ids(unseen.read_graph(path)) == ["1", "2", "3"]
    assert "was taken as a header: all other ids are numbers" in caplog.text
    assert ids(unseen.read_graph(path, nodes=names.replace(",", " ").split()[:1]))[-1] != "3"
    assert unseen.read_graph(path, header=False).n_edges == 3


EDGES = "a b\nb c\nc a\n"


def test_names_of_labels_are_known(tmp_path: Path) -> None:
    edges = write(tmp_path / "p.txt", EDGES)
    for names in ("name,category", "vertex,target", "key,y", "name,class"):
        labels = write(tmp_path / "p.csv", f"{names}\na,x\nb,y\n")
        graph = unseen.read_graph(edges, labels=labels)
        assert (ids(graph), graph.n_edges) == (["a", "b", "c"], 3)
        assert unseen.read_labels(labels, graph).classes == ("x", "y")


def test_a_header_of_labels_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    labels = write(tmp_path / "p.csv", "name,category\na,x\nb,y\n")
    unseen.read(write(tmp_path / "p.txt", EDGES), labels=labels)
    assert caplog.text.count("was taken as a header") == 1


def test_a_node_called_like_a_header_keeps_its_label(tmp_path: Path) -> None:
    edges = write(tmp_path / "p.txt", "a name\nname c\n")
    labels = write(tmp_path / "p.csv", "name,category\na,x\n")
    graph = unseen.read_graph(edges, labels=labels)
    assert unseen.read_labels(labels, graph).classes == ("category", "x")


@pytest.mark.parametrize("kind", ["labels", "features"])
def test_a_stranger_in_line_one_is_refused_with_both_ways_out(tmp_path: Path, kind: str) -> None:
    edges = write(tmp_path / "p.txt", EDGES)
    first, rest = (
        ("paper,subject", "a,x\nb,y\nc,x\n") if kind == "labels" else ("paper,0,1", "a,1,2\nb,3,4\nc,5,6\n")
    )
    path = write(tmp_path / "p.csv", f"{first}\n{rest}")
    sentence = (
        r"line 1: the id 'paper' stands in no other source .*header=True \(--header\).*`nodes` \(--nodes\)"
    )
    with pytest.raises(unseen.InputError, match=sentence):
        unseen.read_graph(edges, **{kind: path})
    if kind == "labels":
        assert ids(unseen.read_graph(edges, nodes=["paper"], labels=path)) == ["a", "b", "c", "paper"]
    graph = unseen.read_graph(edges, **{kind: path}, header=True)
    assert (ids(graph), graph.n_edges) == (["a", "b", "c"], 3)  # and the edges lost none of theirs
    if kind == "labels":
        assert unseen.read_labels(path, graph, header=True).classes == ("x", "y")
    else:
        assert np.asarray(graph.features).tolist() == [[1, 2], [3, 4], [5, 6]]
        assert graph.feature_names == ("0", "1")


def test_labels_that_name_many_new_nodes_are_taken_as_they_are(tmp_path: Path) -> None:
    edges = write(tmp_path / "p.txt", EDGES)
    labels = write(tmp_path / "p.csv", "p,x\na,x\nq,y\n")
    assert ids(unseen.read_graph(edges, labels=labels)) == ["a", "b", "c", "p", "q"]


def test_header_told_for_one_of_two_files(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    edges = write(tmp_path / "p.txt", "a b\nc d\n")  # no id twice: only the labels tell that it is an edge
    labels = write(tmp_path / "p.csv", "paper,subject\na,x\nb,y\nc,x\n")
    graph = unseen.read_graph(edges, labels=labels, header=True)
    assert (ids(graph), graph.n_edges) == (["a", "b", "c", "d"], 2)
    assert "p.csv', line 1 (paper, subject) was taken as a header" in caplog.text
    assert "p.txt', line 1 (a, b) was kept as a row, though header=True" in caplog.text
    other = write(tmp_path / "e.csv", "person,friend\na,b\nb,c\n")
    rows = write(tmp_path / "l.csv", "a,x\nb,y\n")
    assert ids(unseen.read_graph(other, labels=rows, header=True)) == ["a", "b", "c"]
    assert "e.csv', line 1 (person, friend) was taken as a header" in caplog.text
    assert "l.csv', line 1 (a, x) was kept as a row" in caplog.text
    graph = unseen.read_graph(other, header=True)
    assert unseen.read_labels(rows, graph, header=True).classes == ("x", "y")


def test_features_keep_a_first_row_of_a_known_node(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "person,friend\na,b\nb,c\n")
    features = write(tmp_path / "f.csv", "a,1,2\nb,3,4\nc,5,6\n")
    graph = unseen.read_graph(edges, features=features, header=True)
    assert np.asarray(graph.features).tolist() == [[1, 2], [3, 4], [5, 6]]


def test_edges_with_weights_keep_a_first_line_of_data(tmp_path: Path) -> None:
    graph = unseen.read_graph(write(tmp_path / "e.csv", "x,y,0.5\na,b,1\n"), header=True)
    assert graph.n_edges == 2


def test_first_line_of_nodes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    edges = write(tmp_path / "p.txt", EDGES)
    assert ids(unseen.read_graph(edges, nodes=write(tmp_path / "n.txt", "vertex\na\nz\n"))) == [
        "a",
        "b",
        "c",
        "z",
    ]
    assert not caplog.text
    assert ids(unseen.read_graph(edges, nodes=write(tmp_path / "n.txt", "z\na\nb\n"))) == ["a", "b", "c", "z"]
    assert "line 1 (z) was read as a node though it alone stands in no other source" in caplog.text


def test_a_row_kept_against_the_word_is_named_in_messages(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", "a,b,1\nb,c,x\n")
    with pytest.raises(unseen.InputError, match=r"line 2: the weight is 'x'"):
        unseen.read_graph(path, header=True)


def test_a_delimiter_is_taken_where_it_fits(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.txt", "a b;c\nc;d\n")
    nodes = write(tmp_path / "n.txt", "z z\n")
    features = write(tmp_path / "f.csv", "node,x\na b,1\nc,2\nd,3\nz z,4\n")
    labels = write(tmp_path / "l.tsv", "node\tlabel\na b\tred; or so\nc\tblue\n")
    graph = unseen.read_graph(edges, nodes, features, labels, delimiter=";")
    assert ids(graph) == ["a b", "c", "d", "z z"]
    assert np.asarray(graph.features).ravel().tolist() == [4, 1, 2, 3]
    assert unseen.read_labels(labels, graph, delimiter=";").classes == ("blue", "red; or so")
    with pytest.raises(unseen.InputError, match="has one column"):
        unseen.read_graph(edges, delimiter="|")
