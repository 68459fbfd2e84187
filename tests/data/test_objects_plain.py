"""Lists, arrays, dicts, series, frames and networkx graphs stand where edges or labels are."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import unseen
from unseen.data.objects_plain import as_graph, as_labels
from unseen.errors import InputError

PAIRS = [("a", "b", 2.0), ("b", "c", 1.0)]
FRAME = pd.DataFrame(PAIRS, columns=["src", "dst", "weight"])


@pytest.mark.parametrize(
    "edges",
    [
        PAIRS,
        [("a", "b", {"weight": 2}), ("b", "c", {})],
        [["a", "b", 2], ["b", "c"]],
        {"src": ["a", "b"], "dst": ["b", "c"], "weight": [2, 1]},
        {"a": {"b": 2.0}, "b": {"a": 2.0, "c": 1.0}, "c": {"b": 1.0}},
        FRAME,
        pl.from_pandas(FRAME),
        pl.from_pandas(FRAME).lazy(),
        nx.Graph([("a", "b", {"weight": 2}), ("b", "c", {})]).edges(data=True),
    ],
    ids=lambda each: type(each).__name__,
)
def test_edges(edges: Any) -> None:
    for graph in (unseen.read_graph(edges), as_graph(edges)):
        assert graph.node_ids.tolist() == ["a", "b", "c"]
        assert graph.adjacency.toarray().tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]


def test_numpy_edges_and_neighbour_lists() -> None:
    rows = np.array([[4, 5], [5, 6], [6, 7], [7, 4]])
    for edges in (rows, rows.T, np.column_stack([rows, np.full(4, 3.0)]), {4: [5], 5: [6], 6: [7], 7: [4]}):
        graph = as_graph(edges)
        assert graph.node_ids.tolist() == [4, 5, 6, 7]
        assert graph.n_edges == 4
    assert as_graph(np.column_stack([rows, np.full(4, 3.0)])).adjacency.max() == 3
    assert as_graph(rows.astype(str)).node_ids.tolist() == ["4", "5", "6", "7"]


@pytest.mark.parametrize(
    ("edges", "sentence"),
    [
        ([("a",)], r"entry 1 is \('a',\); an edge is \(u, v\) or \(u, v, weight\)"),
        ([("a", "b", "x")], "row 1: the weight is 'x', which is not a number"),
        ({"a": "b"}, "has 'b' for the node 'a'; a dict of edges lists the neighbours"),
        (np.eye(4), "of shape .4, 4.; edges are rows of two ids"),
        (np.array([[0.5, 1.0]]), "an array of decimals; its first two columns must be node numbers"),
        ("edges.csv", r"`graph` must be an unseen\.Graph, got str; see Graph.from_scipy and read_graph"),
        (sp.csr_array(np.eye(3)), r"`graph` must be an unseen\.Graph, got csr_array"),
    ],
)
def test_what_is_no_edge_is_said(edges: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        as_graph(edges)


@pytest.mark.parametrize(
    "labels",
    [
        {"c": "red", "a": ["blue", "red"]},
        pd.Series(["red", ["blue", "red"], None], index=["c", "a", "b"]),
        pd.Series(["red", "blue", "red"], index=["c", "a", "a"]),
        [("c", "red"), ("a", "blue"), ("a", "red")],
        pl.DataFrame({"node": ["c", "a"], "label": ["red", "blue|red"]}),
        pl.LazyFrame({"node": ["c", "a"], "label": ["red", "blue|red"]}),
        {"node": ["c", "a", "a"], "label": ["red", "blue", "red"]},
    ],
    ids=lambda each: type(each).__name__,
)
def test_labels_go_by_id(labels: Any) -> None:
    graph = as_graph(PAIRS)
    for made in (
        as_labels(labels, graph),
        unseen.read_labels(labels, graph),
        unseen.read(PAIRS, labels=labels).labels,
    ):
        assert made is not None
        assert made.classes == ("blue", "red")
        assert made.indicator.toarray().tolist() == [[True, True], [False, False], [False, True]]


def test_values_without_ids_are_one_a_node() -> None:
    graph = as_graph(PAIRS)
    for values in (
        ["x", None, "y"],
        np.array(["x", "", "y"]),
        *(each(["x", None, "y"]) for each in (pd.Series, pl.Series)),
    ):
        assert as_labels(values, graph).codes.tolist() == [0, -1, 1]
    with pytest.raises(InputError, match="there is a label for 'd', which is not among the 3 node ids"):
        as_labels({"d": "x"}, graph)
    assert as_labels([("x", "y"), ("x",), ()], graph).counts.tolist() == [2, 1]


def test_discover_suggest_and_fit_take_them() -> None:
    data = unseen.planted_partition(200, 4, random_state=0)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c0"], random_state=0)
    theirs: Any = nx.Graph()
    theirs.add_nodes_from(data.graph.node_ids.tolist())
    theirs.add_edges_from(zip(*(ends.tolist() for ends in data.graph.adjacency.nonzero()), strict=True))
    graph = unseen.Graph.from_networkx(theirs)
    series = split.seen_labels.to_pandas()
    expected = unseen.discover(graph, split.seen_labels, random_state=0).nodes
    shuffled = series.sample(frac=1, random_state=0)
    for labels in (series, shuffled, series.dropna(), series.dropna().to_dict()):
        assert unseen.discover(theirs, labels, random_state=0).nodes.equals(expected)
    assert unseen.suggest(theirs, shuffled, budget=1, random_state=0)
    assert unseen.suggest(theirs, None, budget=1, random_state=0)
    one, two = (
        unseen.RSDNE(n_components=4, random_state=0).fit_transform(g, each)
        for g, each in ((graph, split.seen_labels), (theirs, shuffled))
    )
    assert np.array_equal(one.vectors, two.vectors)


def test_an_attribute_of_networkx_names_the_labels() -> None:
    data = unseen.planted_partition(120, 3, random_state=0)
    theirs = data.graph.to_networkx()
    known = {node: f"c{code}" for node, code in enumerate(data.labels.codes) if code and node % 2}
    nx.set_node_attributes(theirs, known, "team")
    expected = unseen.discover(theirs, known, random_state=0)
    found = unseen.discover(theirs, "team", random_state=0)
    assert found.nodes.equals(expected.nodes)
    assert unseen.audit(theirs, "team", random_state=0).table.equals(
        unseen.audit(theirs, known, random_state=0).table
    )
    asked = [unseen.suggest(theirs, labels, budget=3, random_state=0)[0].node for labels in ("team", known)]
    assert asked[0] == asked[1]
    vectors = [
        unseen.RECTPlus(random_state=0).fit_transform(theirs, labels).vectors for labels in ("team", known)
    ]
    assert np.array_equal(*vectors)
    with pytest.raises(InputError, match="unknown node attribute 'teem'; did you mean 'team'"):
        unseen.discover(theirs, "teem")
    with pytest.raises(
        InputError, match="names a node attribute of a networkx graph; the graph is of type list"
    ):
        unseen.discover([("a", "b")], "team")
