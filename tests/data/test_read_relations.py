"""Files with types, directions and signs: what is read, and what is refused with file and line."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

import unseen
from reading import write

EDGES = "src,dst,weight,type\nann,p1,1,wrote\np2,bob,2,wrote\np1,v1,1,in\np1,p2,-3,cites\n"
NODES = "node,type\nann,author\nbob,author\np1,paper\np2,paper\nv1,venue\n"


def read(tmp_path: Path, edges: str = EDGES, nodes: str | None = NODES, **options: Any) -> unseen.Data:
    listed = None if nodes is None else write(tmp_path / "nodes.csv", nodes)
    return unseen.read(write(tmp_path / "edges.csv", edges), listed, **options)


def entries(relation: unseen.Relation, graph: unseen.Graph) -> dict[tuple[str, str], float]:
    coo, ids = relation.matrix.tocoo(), graph.node_ids
    return {(ids[i], ids[j]): w for i, j, w in zip(coo.row, coo.col, coo.data, strict=True)}


def test_types_and_signs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    graph = read(tmp_path).graph
    assert [(r.name, r.source_type, r.target_type, r.directed) for r in graph.relations] == [
        ("wrote", "author", "paper", False),
        ("in", "paper", "venue", False),
        ("cites", "paper", "paper", False),
    ]
    assert entries(graph.relations[0], graph) == {("ann", "p1"): 1, ("bob", "p2"): 2}
    assert entries(graph.relations[2], graph) == {("p1", "p2"): -3, ("p2", "p1"): -3}
    assert graph.node_types is not None
    assert graph.node_types.tolist() == ["author", "author", "paper", "paper", "venue"]
    assert caplog.messages[-1].endswith(
        "5 nodes of 3 types, 4 edges in 3 relations (1 of negative weight); edges taken as undirected"
    )
    assert read(tmp_path, drop_negative=True).report.dropped_negative == 1
    assert not read(tmp_path, absolute=True).graph.is_signed


def test_directed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    graph = read(tmp_path, "src,dst\na,b\nb,a\nb,c\na,b\n", None, directed=True).graph
    assert entries(graph.relations[0], graph) == {("a", "b"): 1, ("b", "a"): 1, ("b", "c"): 1}
    assert "1 repeat (the larger weight kept)" in caplog.text
    assert caplog.messages[-1].endswith("edges taken as directed, 1 pair of nodes linked both ways")
    read(tmp_path, "src,dst\na,b\nb,a\n", None, directed=True)
    assert caplog.messages[-1].endswith(
        "linked both ways (all: nothing is lost without directed=True, --directed)"
    )


def test_without_a_type_column_relations_are_called_by_their_ends(tmp_path: Path) -> None:
    graph = read(tmp_path, "src,dst\nann,p1\np1,v1\np2,bob\n").graph
    assert [(r.name, r.n_edges) for r in graph.relations] == [("author-paper", 2), ("paper-venue", 1)]
    directed = read(tmp_path, "src,dst\nann,p1\np1,v1\np2,bob\n", directed=True).graph
    assert [r.name for r in directed.relations] == ["author-paper", "paper-venue", "paper-author"]
    untyped = read(tmp_path, "src,dst,type\na,b,likes\nb,a,knows\n", None).graph
    assert [(r.name, r.source_type) for r in untyped.relations] == [("likes", None), ("knows", None)]
    assert untyped.is_heterogeneous
    assert untyped.node_types is None


def test_signs_in_a_column_of_their_own(tmp_path: Path) -> None:
    graph = read(tmp_path, "src,dst,weight,sign\na,b,2,-1\nb,c,3,1\n", None).graph
    assert entries(graph.relations[0], graph)["a", "b"] == -2
    assert read(tmp_path, "src,dst,sign\na,b,-1\n", None).graph.is_signed


def test_matrices_keep_sign_and_direction() -> None:
    matrix = sp.csr_array([[0, -2.0], [3, 0]])
    directed = unseen.read_graph(matrix, directed=True)
    assert directed.relations[0].matrix.toarray().tolist() == [[0, -2], [3, 0]]
    assert unseen.read_graph(matrix).adjacency.toarray().tolist() == [[0, 3], [3, 0]]


def test_features_by_type(tmp_path: Path) -> None:
    authors = write(tmp_path / "authors.csv", "node,age\nbob,40\nann,30\n")
    graph = read(tmp_path, features={"author": authors, "paper": np.eye(2)}).graph
    assert graph.features_of("author").tolist() == [[30], [40]]  # type: ignore[union-attr]
    assert graph.features_of("paper").tolist() == [[1, 0], [0, 1]]  # type: ignore[union-attr]
    assert graph.features_of("venue") is None
    assert graph.feature_names == ("author:age", "paper:0", "paper:1")
    papers = pa.table({"node": ["p1", "p2"], "year": [1.0, 2.0]})
    typed = unseen.read(
        write(tmp_path / "e.csv", "src,dst\nann,p1\nbob,p2\n"), features={"author": authors, "paper": papers}
    )
    assert typed.graph.node_types is not None
    assert typed.graph.node_types.tolist() == ["author", "paper", "author", "paper"]
    everyone = write(tmp_path / "x.csv", "node,x\nann,1\nbob,2\np1,3\np2,4\nv1,5\n")
    assert read(tmp_path, features=everyone).graph.features_of("paper").tolist() == [[3], [4]]  # type: ignore[union-attr]


def test_neo4j(tmp_path: Path) -> None:
    nodes = "personId:ID(Person),name,:LABEL\n1,Ann,Person\n2,Bob,Person\n9,Song,Song\n"
    edges = ":START_ID(Person),since:int,weight:double,:END_ID,:TYPE\n1,1999,2.5,9,LIKES\n2,1999,1,1,KNOWS\n"
    graph = read(tmp_path, edges, nodes, directed=True).graph
    assert [(r.name, r.source_type, r.target_type) for r in graph.relations] == [
        ("LIKES", "Person", "Song"),
        ("KNOWS", "Person", "Person"),
    ]
    assert entries(graph.relations[0], graph) == {("1", "9"): 2.5}


@pytest.mark.parametrize(
    ("more", "nodes", "match"),
    [
        ("bob,x,1,wrote\n", "", r"edges\.csv', line 6: the node 'x' has no type; name it in `nodes`"),
        ("", "ann,paper\n", r"nodes\.csv', line 7: the node 'ann' is of type 'paper' here and of type 'author'"),
        ("", "x,\n", r"nodes\.csv', line 7: the cell of `type` is empty"),
        ("ann,v1,1,wrote\n", "", r"line 6: the relation 'wrote' leads from 'author' to 'paper', but here .* 'venue'"),
        ("bob,p1,nan,wrote\n", "", r"line 6: the weight is nan; edge weights must be finite"),
        ("bob,p1,-inf,wrote\n", "", r"line 6: the weight is -inf; edge weights must be finite"),
        ("p1,ann,-1,wrote\n", "", r"line 6: the pair ann - p1 has the weight -1 here and 1 elsewhere"),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path: Path, more: str, nodes: str, match: str) -> None:
    with pytest.raises(unseen.InputError, match=match):
        read(tmp_path, EDGES + more, NODES + nodes)


@pytest.mark.parametrize(
    ("edges", "match"),
    [
        ("src,dst,type\na,b,\n", r"edges\.csv', line 2: the cell of `type` is empty"),
        ("src,dst,sign\na,b,plus\n", r"line 2: the sign is 'plus', which is not a number"),
        ("src,dst,sign\na,b,2\n", r"line 2: the sign is 2; it must be 1 or -1"),
    ],
)
def test_what_is_refused_without_types(tmp_path: Path, edges: str, match: str) -> None:
    with pytest.raises(unseen.InputError, match=match):
        read(tmp_path, edges, None)


@pytest.mark.parametrize(
    ("features", "match"),
    [
        ({"auhtor": "ann,1\nbob,2\n"}, r"f\.csv' holds features: unknown node type 'auhtor'; did you mean 'author'"),
        ({"author": "ann,1\n"}, r"f\.csv' has no row for 1 of the 2 nodes of type 'author', the first is 'bob'"),
        ({"author": "ann,1\nbob,2\np1,3\n"}, r"f\.csv', line 4: the node 'p1' is of type 'author' here and of type"),
        ({"paper": np.eye(3)}, r"has 3 rows for 2 nodes of type 'paper'; it names no nodes"),
    ],
)  # fmt: skip
def test_features_that_are_refused(tmp_path: Path, features: dict[str, Any], match: str) -> None:
    sources = {
        key: write(tmp_path / "f.csv", f"node,x\n{value}") if isinstance(value, str) else value
        for key, value in features.items()
    }
    with pytest.raises(unseen.InputError, match=match):
        read(tmp_path, features=sources)
    with pytest.raises(unseen.InputError, match=r"type 'author', but nothing says which nodes these are"):
        read(tmp_path, "src,dst\na,b\n", None, features={"author": np.eye(2)})
