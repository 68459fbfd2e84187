"""Objects of networkx, pandas, polars, numpy and Python: no id, weight or feature may end up at another node."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given

import unseen
from drawn import ROUNDS, assert_same, dense, facts, label_sets, labelled_graphs, relation_graphs
from unseen.data.objects import (
    answer_table,
    features_to_arrow,
    graph_from_networkx,
    to_arrow,
    to_networkx,
)
from unseen.data.objects_plain import as_graph, as_labels
from unseen.errors import InputError


@pytest.mark.slow
@ROUNDS
@given(labelled_graphs())
def test_networkx_round_trip(drawn: tuple[unseen.Graph, unseen.Labels]) -> None:
    graph, labels = drawn
    theirs = to_networkx(graph, labels)
    has = graph.features is not None
    ours = unseen.Graph(
        graph.adjacency, np.array(dense(graph.features)) if has else None, graph.node_ids, graph.feature_names
    )
    assert_same(ours, graph_from_networkx(theirs, features="features" if has else None))
    back = unseen.Labels.from_values([theirs.nodes[node].get("label") for node in theirs], list(theirs))
    assert label_sets(back) == label_sets(labels)
    assert graph_from_networkx(to_networkx(graph, features=None)).features is None


@pytest.mark.slow
@ROUNDS
@given(labelled_graphs())
def test_arrow_round_trip(drawn: tuple[unseen.Graph, unseen.Labels]) -> None:
    graph, labels = drawn
    features = None if graph.features is None else features_to_arrow(graph)
    expected = unseen.Graph(graph.adjacency, dense(graph.features), graph.node_ids, None)
    for edges in (to_arrow(graph), to_arrow(graph).to_pandas(), pl.from_arrow(to_arrow(graph))):
        back = unseen.read_graph(edges, nodes=graph.node_ids, features=features, symmetrize="error")
        assert_same(expected, unseen.Graph(back.adjacency, dense(back.features), back.node_ids, None))
    table = answer_table(labels)
    for each in (table, table.to_pandas(), pl.from_arrow(table)):
        assert label_sets(unseen.read_labels(each, graph)) == label_sets(labels)


def test_networkx_kinds() -> None:
    directed = nx.DiGraph()
    directed.add_edge("a", "b", weight=2)
    directed.add_edge("b", "a", weight=5)
    directed.add_node("alone")
    graph = unseen.Graph.from_networkx(directed)
    assert graph.node_ids.tolist() == ["a", "b", "alone"]
    assert graph.adjacency[0, 1] == 5
    assert unseen.Graph.from_networkx(directed, symmetrize="sum").adjacency[0, 1] == 7
    assert unseen.Graph.from_networkx(directed, weight=None).adjacency[0, 1] == 1
    assert unseen.Graph.from_networkx(nx.grid_2d_graph(2, 1)).node_ids.tolist() == ["(0, 0)", "(1, 0)"]
    assert unseen.Graph.from_networkx(nx.Graph()).n_nodes == 0
    multi = nx.MultiGraph()
    multi.add_edge(3, 1, weight=2)
    multi.add_edge(3, 1)
    multi.add_edge(1, 1)
    graph = unseen.Graph.from_networkx(multi, symmetrize="sum")
    assert graph.node_ids.tolist() == [3, 1]
    assert graph.adjacency.toarray().tolist() == [[0, 3], [3, 1]]


PART, UNEVEN, HALF_TYPED = nx.path_graph(3), nx.path_graph(3), nx.Graph([("a", "b")])
PART.nodes[0]["x"] = [1.0]
nx.set_node_attributes(UNEVEN, {0: [1.0], 1: [1.0, 2.0], 2: [1.0]}, "x")
HALF_TYPED.nodes["a"]["type"] = "x"
OPPOSITE = nx.MultiGraph([("a", "b", {"weight": 2}), ("a", "b", {"weight": -2})])
NO_X = r"of 3 nodes have no attribute 'x' that is a number, or a vector .*; the first is 1"
FAULTY: list[tuple[Any, dict[str, Any], str]] = [
    ([("a", "b")], {}, "expected a networkx graph, got list"),
    (nx.Graph([("a", "b", {"weight": "heavy"})]), {}, "the edge 'a' - 'b': the weight is 'heavy'"),
    (nx.Graph([(1, "1")]), {}, "as strings, two of these are both '1'"),
    (nx.DiGraph([("a", "b"), ("b", "a")]), {"symmetrize": "error"}, "the pair a - b is"),
    (PART, {"features": "x"}, f"2 {NO_X}"),
    (UNEVEN, {"features": "x"}, f"1 {NO_X}"),
    (HALF_TYPED, {}, "`graph`, the node 'b': the cell of `type` is empty"),
    (OPPOSITE, {}, "the edge 'a' - 'b': the pair a - b has the weight -2 here and 2"),
]


@pytest.mark.parametrize(("theirs", "options", "sentence"), FAULTY, ids=lambda value: str(value)[:40])
def test_networkx_at_fault(theirs: Any, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(unseen.InputError, match=sentence):
        unseen.Graph.from_networkx(theirs, **options)


@ROUNDS
@given(relation_graphs().filter(lambda graph: "" not in graph.node_ids.tolist()))
def test_networkx_and_back(graph: unseen.Graph) -> None:
    features = "features" if graph.stored_features else None
    back = unseen.Graph.from_networkx(to_networkx(graph), features=features)
    assert back.node_ids.tolist() == graph.node_ids.tolist()
    assert facts(back) == facts(graph)


def test_networkx_attributes() -> None:
    theirs = nx.MultiDiGraph()
    theirs.add_edge("a", "b", type="likes", sign=-1, weight=2)
    theirs.add_edge("a", "b", type="knows")
    theirs.add_edge("a", "b", type="likes", weight=1)
    graph = unseen.Graph.from_networkx(theirs)
    relations = [(r.name, r.directed, r.matrix[0, 1]) for r in graph.relations]
    assert relations == [("likes", True, -2), ("knows", True, 1)]
    assert not unseen.Graph.from_networkx(theirs, edge_type=None, sign=None).is_heterogeneous
    signed = unseen.Graph.from_networkx(nx.Graph([("a", "b", {"sign": -1})]), features=np.eye(2))
    assert signed.is_signed
    assert not signed.is_directed
    assert type(unseen.Graph.from_networkx(HALF_TYPED, node_type=None)) is unseen.Graph
    assert signed.features is not None


def test_features_to_arrow_needs_features() -> None:
    with pytest.raises(unseen.InputError, match=r"the graph has no features to convert"):
        features_to_arrow(unseen.Graph.from_edges([0], [1]))
    assert isinstance(to_arrow(unseen.Graph.from_edges([], [], nodes=[1])), pa.Table)


@pytest.mark.parametrize("src", [[1, "a"], ["a", 1]])
def test_mixed_pandas_ids_get_a_sentence(src: list[Any]) -> None:
    frame = pd.DataFrame({"src": src, "dst": ["b", "c"]})
    with pytest.raises(unseen.InputError, match=r"the column 'src' of `edges` holds values of several types"):
        unseen.read_graph(frame)
    assert unseen.read_graph(frame.astype(str)).n_edges == 2


# Lists, arrays, dicts, series and frames

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
        pa.Table.from_pandas(FRAME).to_batches()[0],
        FRAME.astype({"src": "category"}),
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
    made: Any
    for made in (
        as_labels(labels, graph),
        unseen.read_labels(labels, graph),
        unseen.read(PAIRS, labels=labels).labels,
    ):
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


def test_discover_audit_suggest_and_fit_take_them_and_attributes_by_name() -> None:
    data = unseen.planted_partition(120, 3, random_state=0)
    theirs = data.graph.to_networkx()
    known = {node: f"c{code}" for node, code in enumerate(data.labels.codes) if code and node % 2}
    nx.set_node_attributes(theirs, known, "team")
    labels = unseen.Labels.from_values(known, data.graph.node_ids)
    shuffled = labels.to_pandas().sample(frac=1, random_state=0)
    uses: list[Any] = [
        lambda *case: unseen.discover(*case, random_state=0).nodes.to_pylist(),
        lambda *case: unseen.audit(*case, random_state=0).table.to_pylist(),
        lambda *case: unseen.suggest(*case, budget=3, random_state=0)[0].node,
        lambda *case: unseen.RECTPlus(random_state=0).fit_transform(*case).vectors.tolist(),
    ]
    for use in uses:
        expected = use(unseen.Graph.from_networkx(theirs), labels)
        for each in ("team", shuffled):
            assert use(theirs, each) == expected
    assert unseen.suggest(theirs, None, budget=1, random_state=0)
    with pytest.raises(InputError, match="unknown node attribute 'teem'; did you mean 'team'"):
        unseen.discover(theirs, "teem")
    with pytest.raises(InputError, match=r"names a node attribute of a networkx graph; .* of type list"):
        unseen.discover([("a", "b")], "team")
