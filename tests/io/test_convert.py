"""Round trips through other libraries: no id, weight or feature may end up at another node."""

from __future__ import annotations

import logging
import sys
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData

import unseen
from unseen.io.convert import (
    features_to_arrow,
    graph_from_networkx,
    graph_from_pyg,
    labels_from_pyg,
    labels_to_arrow,
    to_arrow,
    to_networkx,
    to_pandas,
    to_pyg,
    to_scipy,
)

ROUNDS = settings(max_examples=40, deadline=None, derandomize=True, database=None)
WEIGHT = st.floats(min_value=2.0**-10, max_value=2.0**10, width=32)
NAME = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


@st.composite
def graphs(draw: st.DrawFn) -> unseen.Graph:
    ids: list[Any] = draw(
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8, unique=True)
        | st.lists(NAME, min_size=1, max_size=8, unique=True)
    )
    n = len(ids)
    dense = np.zeros((n, n))
    for i, j, w in draw(
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), WEIGHT), max_size=12)
    ):
        dense[i, j] = dense[j, i] = w
    kind = draw(st.sampled_from(["none", "dense", "sparse"]))
    if kind == "none":
        return unseen.Graph(sp.csr_array(dense), None, ids)  # type: ignore[arg-type]
    m = draw(st.integers(1, 3))
    value = st.floats(-1000, 1000, width=32) if kind == "dense" else st.sampled_from([0.0, 0.0, 1.0, 2.5])
    values = draw(st.lists(value, min_size=n * m, max_size=n * m))
    features = np.array(values, dtype=np.float32).reshape(n, m)
    names = draw(st.none() | st.lists(NAME, min_size=m, max_size=m, unique=True))
    matrix = features if kind == "dense" else sp.csr_array(features)
    return unseen.Graph(sp.csr_array(dense), matrix, ids, names)  # type: ignore[arg-type]


@st.composite
def labelled_graphs(draw: st.DrawFn) -> tuple[unseen.Graph, unseen.Labels]:
    graph = draw(graphs())
    n = graph.n_nodes
    value = (
        st.none()
        | st.sampled_from(["x", "y", "z z"])
        | st.lists(st.sampled_from(["x", "y", "w"]), max_size=3)
    )
    return graph, unseen.Labels.from_values(draw(st.lists(value, min_size=n, max_size=n)), graph.node_ids)


def dense(features: Any) -> Any:
    if features is None:
        return None
    return features.toarray().tolist() if sp.issparse(features) else np.asarray(features).tolist()


def assert_same(a: unseen.Graph, b: unseen.Graph) -> None:
    assert a.node_ids.tolist() == b.node_ids.tolist()
    assert a.node_ids.dtype == b.node_ids.dtype
    assert a.adjacency.toarray().tolist() == b.adjacency.toarray().tolist()
    assert dense(a.features) == dense(b.features)
    assert sp.issparse(a.features) == sp.issparse(b.features)
    assert a.feature_names == b.feature_names


def label_sets(labels: unseen.Labels) -> list[set[str]]:
    return [{labels.classes[k] for k in np.flatnonzero(row)} for row in labels.indicator.toarray()]


@ROUNDS
@given(labelled_graphs())
def test_networkx_round_trip(drawn: tuple[unseen.Graph, unseen.Labels]) -> None:
    graph, labels = drawn
    made = to_networkx(graph, labels)
    assert_same(graph, graph_from_networkx(made, features=None if graph.features is None else "features"))
    back = unseen.Labels.from_values([made.nodes[node].get("label") for node in made], list(made))
    assert label_sets(back) == label_sets(labels)
    assert graph_from_networkx(to_networkx(graph, features=None)).features is None


@ROUNDS
@given(labelled_graphs())
def test_pyg_round_trip(drawn: tuple[unseen.Graph, unseen.Labels]) -> None:
    graph, labels = drawn
    data = to_pyg(graph, labels)
    data.validate(raise_on_error=True)
    for symmetrize in ("max", "sum", "error"):
        assert_same(graph, graph_from_pyg(data, symmetrize=symmetrize))  # type: ignore[arg-type]
    back = labels_from_pyg(data)
    assert label_sets(back) == label_sets(labels)
    assert back.classes == labels.classes
    assert back.node_ids.tolist() == graph.node_ids.tolist()
    assert label_sets(labels_from_pyg(data, mask="train_mask")) == label_sets(labels)


@ROUNDS
@given(labelled_graphs())
def test_arrow_round_trip(drawn: tuple[unseen.Graph, unseen.Labels]) -> None:
    graph, labels = drawn
    features = None if graph.features is None else features_to_arrow(graph)
    expected = unseen.Graph(graph.adjacency, dense(graph.features), graph.node_ids, None)
    for edges in (to_arrow(graph), to_pandas(graph), pl.from_arrow(to_arrow(graph))):
        back = unseen.read_graph(edges, nodes=graph.node_ids, features=features, symmetrize="error")
        assert_same(expected, unseen.Graph(back.adjacency, dense(back.features), back.node_ids, None))
    for table in (
        labels_to_arrow(labels),
        labels_to_arrow(labels).to_pandas(),
        pl.from_arrow(labels_to_arrow(labels)),
    ):
        assert label_sets(unseen.read_labels(table, graph)) == label_sets(labels)


@ROUNDS
@given(graphs())
def test_scipy_round_trip(graph: unseen.Graph) -> None:
    matrix = to_scipy(graph)
    assert_same(
        graph,
        unseen.Graph.from_scipy(
            matrix, features=graph.features, node_ids=graph.node_ids, feature_names=graph.feature_names
        ),
    )
    before = graph.adjacency.toarray().tolist()
    matrix.data[:] = 7
    assert graph.adjacency.toarray().tolist() == before


@ROUNDS
@given(graphs())
def test_feature_names_survive_arrow(graph: unseen.Graph) -> None:
    if graph.features is None or graph.feature_names is None or "node" in graph.feature_names:
        return
    names = features_to_arrow(graph).column_names
    assert names == ["node", *graph.feature_names]


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
    with pytest.raises(unseen.InputError, match=r"the pair a - b is listed more than once"):
        unseen.Graph.from_networkx(directed, symmetrize="error")
    multi = nx.MultiGraph()
    multi.add_edge(3, 1, weight=2)
    multi.add_edge(3, 1)
    multi.add_edge(1, 1)
    graph = unseen.Graph.from_networkx(multi, symmetrize="sum")
    assert graph.node_ids.tolist() == [3, 1]
    assert graph.adjacency.toarray().tolist() == [[0, 3], [3, 1]]


def test_networkx_names_that_are_no_ids(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    graph = unseen.Graph.from_networkx(nx.grid_2d_graph(2, 1))
    assert graph.node_ids.tolist() == ["(0, 0)", "(1, 0)"]
    assert "node names became strings" in caplog.text
    mixed = nx.Graph([(1, "a")])
    assert unseen.Graph.from_networkx(mixed).node_ids.tolist() == ["1", "a"]
    with pytest.raises(unseen.InputError, match=r"as strings, two of these are both '1'"):
        unseen.Graph.from_networkx(nx.Graph([(1, "1")]))


def test_networkx_at_fault() -> None:
    with pytest.raises(unseen.InputError, match=r"expected a networkx graph, got list"):
        unseen.Graph.from_networkx([("a", "b")])
    heavy = nx.Graph()
    heavy.add_edge("a", "b", weight="heavy")
    with pytest.raises(
        unseen.InputError, match=r"the edge 'a' - 'b' has weight 'heavy'; edge weights must be numb"
    ):
        unseen.Graph.from_networkx(heavy)
    negative = nx.Graph()
    negative.add_edge("a", "b", weight=-1)
    with pytest.raises(unseen.InputError, match=r"\(a - b\) has the negative weight -1"):
        unseen.Graph.from_networkx(negative)
    part = nx.path_graph(3)
    part.nodes[0]["x"] = [1.0]
    with pytest.raises(unseen.InputError, match=r"2 of 3 nodes have no attribute 'x', the first is 1"):
        unseen.Graph.from_networkx(part, features="x")
    nx.set_node_attributes(part, {0: [1.0], 1: [1.0, 2.0], 2: [1.0]}, "x")
    with pytest.raises(
        unseen.InputError, match=r"the attribute 'x' of node 1 is no number or vector like those"
    ):
        unseen.Graph.from_networkx(part, features="x")


def test_networkx_features() -> None:
    path = nx.path_graph(["b", "a"])
    nx.set_node_attributes(path, {"a": 1, "b": 2}, "size")
    assert dense(unseen.Graph.from_networkx(path, features="size").features) == [[2], [1]]
    nx.set_node_attributes(path, {"a": {"web": 1}, "b": {"mail": 2, "web": 3}}, "words")
    graph = unseen.Graph.from_networkx(path, features="words")
    assert graph.feature_names == ("mail", "web")
    assert dense(graph.features) == [[2, 3], [0, 1]]
    assert sp.issparse(graph.features)
    assert dense(unseen.Graph.from_networkx(path, features=np.eye(2)).features) == [[1, 0], [0, 1]]


EDGE_INDEX = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 2]])


def test_pyg_weights() -> None:
    weights = torch.tensor([1.0, 3.0, 2.0, 5.0])
    for data in (
        Data(edge_index=EDGE_INDEX, edge_weight=weights, num_nodes=4),
        Data(edge_index=EDGE_INDEX, edge_attr=weights[:, None], num_nodes=4),
    ):
        graph = unseen.Graph.from_pyg(data)
        assert graph.adjacency.toarray().tolist() == [[0, 3, 0, 0], [3, 0, 2, 0], [0, 2, 5, 0], [0, 0, 0, 0]]
        assert unseen.Graph.from_pyg(data, symmetrize="sum").adjacency[0, 1] == 4
        with pytest.raises(unseen.InputError, match=r"the adjacency is not symmetric"):
            unseen.Graph.from_pyg(data, symmetrize="error")


def test_pyg_weights_that_are_vectors(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    graph = unseen.Graph.from_pyg(Data(edge_index=EDGE_INDEX, edge_attr=torch.ones(4, 3), num_nodes=3))
    assert graph.adjacency.max() == 1
    assert "`edge_attr` has 3 columns and was not used" in caplog.text


@pytest.mark.parametrize("layout", ["dense", "coo", "csr", "bfloat16", "vector"])
@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support:UserWarning")
def test_pyg_features(layout: str) -> None:
    x = torch.tensor([[1.0, 0.0], [0.0, 2.5], [0.0, 0.0]])
    given_x = {"coo": x.to_sparse, "csr": x.to_sparse_csr, "bfloat16": x.bfloat16, "vector": lambda: x[:, 0]}
    graph = unseen.Graph.from_pyg(Data(x=given_x.get(layout, lambda: x)(), edge_index=EDGE_INDEX))
    assert dense(graph.features) == (x[:, :1] if layout == "vector" else x).tolist()
    assert sp.issparse(graph.features) == (layout in ("coo", "csr"))
    assert graph.n_nodes == 3


def test_pyg_number_of_nodes() -> None:
    assert unseen.Graph.from_pyg(Data(edge_index=EDGE_INDEX)).n_nodes == 3
    assert unseen.Graph.from_pyg(Data(edge_index=EDGE_INDEX, y=torch.zeros(5))).n_nodes == 5
    assert (
        unseen.Graph.from_pyg(Data(edge_index=torch.zeros((2, 0), dtype=torch.long), num_nodes=2)).n_nodes
        == 2
    )


def test_pyg_at_fault() -> None:
    with pytest.raises(unseen.InputError, match=r"expected a torch_geometric\.data\.Data .* got HeteroData"):
        unseen.Graph.from_pyg(HeteroData())
    with pytest.raises(unseen.InputError, match=r"the data has no `edge_index`"):
        unseen.Graph.from_pyg(Data(x=torch.eye(2)))
    with pytest.raises(unseen.InputError, match=r"`edge_index` names the node 2, but the data has 2 nodes"):
        unseen.Graph.from_pyg(Data(x=torch.eye(2), edge_index=EDGE_INDEX))
    with pytest.raises(unseen.InputError, match=r"`edge_index` names the node -1"):
        unseen.Graph.from_pyg(Data(edge_index=EDGE_INDEX - 1, num_nodes=3))
    with pytest.raises(unseen.InputError, match=r"`edge_index` must be whole numbers of shape \(2, edges\)"):
        unseen.Graph.from_pyg(Data(edge_index=EDGE_INDEX.T, num_nodes=3))
    with pytest.raises(
        unseen.InputError, match=r"`edge_weight` has shape \(3,\).* one number for each of 4 edges"
    ):
        unseen.Graph.from_pyg(Data(edge_index=EDGE_INDEX, edge_weight=torch.ones(3), num_nodes=3))
    twice = Data(edge_index=torch.tensor([[0, 0], [1, 1]]), num_nodes=2)
    with pytest.raises(unseen.InputError, match=r"`edge_index` lists a pair more than once"):
        unseen.Graph.from_pyg(twice, symmetrize="error")
    wide = unseen.Graph.from_edges([0], [1], [1e300])
    with pytest.raises(unseen.InputError, match=r"edge weights go beyond what float32"):
        to_pyg(wide)


def test_labels_from_pyg() -> None:
    y = torch.tensor([2, -1, 0, 2])
    mask = torch.tensor([True, True, True, False])
    labels = labels_from_pyg(Data(y=y, train_mask=mask))
    assert (labels.classes, labels.codes.tolist()) == (("0", "2"), [1, -1, 0, 1])
    assert labels_from_pyg(Data(y=y, train_mask=mask), mask="train_mask").codes.tolist() == [1, -1, 0, -1]
    named = labels_from_pyg(Data(y=y), classes=["zero", "one", "two"])
    assert (named.classes, named.codes.tolist()) == (("zero", "one", "two"), [2, -1, 0, 2])
    floats = labels_from_pyg(Data(y=torch.tensor([[1.0], [float("nan")]])))
    assert floats.codes.tolist() == [0, -1]
    several = labels_from_pyg(Data(y=torch.tensor([[1, 1], [0, 0], [0, 1]])))
    assert label_sets(several) == [{"0", "1"}, set(), {"1"}]


def test_labels_from_pyg_at_fault() -> None:
    with pytest.raises(unseen.InputError, match=r"the data has no `y`"):
        labels_from_pyg(Data())
    with pytest.raises(unseen.InputError, match=r"the data has no mask 'val_mask'"):
        labels_from_pyg(Data(y=torch.tensor([0])), mask="val_mask")
    with pytest.raises(unseen.InputError, match=r"the mask 'm' has shape \(2,\) .* expected 1 booleans"):
        labels_from_pyg(Data(y=torch.tensor([0]), m=torch.tensor([True, False])), mask="m")
    with pytest.raises(unseen.InputError, match=r"`classes` has 1 names but `y` has the class number 3"):
        labels_from_pyg(Data(y=torch.tensor([3])), classes=["a"])
    with pytest.raises(unseen.InputError, match=r"`y` holds 0\.5; class numbers must be whole"):
        labels_from_pyg(Data(y=torch.tensor([0.5])))
    with pytest.raises(unseen.InputError, match=r"`y` holds -2; class numbers start at 0"):
        labels_from_pyg(Data(y=torch.tensor([-2])))


def test_features_to_arrow_needs_features() -> None:
    with pytest.raises(unseen.InputError, match=r"the graph has no features to convert"):
        features_to_arrow(unseen.Graph.from_edges([0], [1]))
    assert isinstance(to_arrow(unseen.Graph.from_edges([], [], nodes=[1])), pa.Table)


def test_to_pandas_without_pandas_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        unseen.UnsupportedError, match="to_pandas needs pandas; install it with: pip install pandas"
    ):
        to_pandas(unseen.Graph.from_edges([0], [1]))


@pytest.mark.parametrize("src", [[1, "a"], ["a", 1]])
def test_mixed_pandas_ids_get_a_sentence(src: list[Any]) -> None:
    frame = pd.DataFrame({"src": src, "dst": ["b", "c"]})
    with pytest.raises(
        unseen.InputError, match=r"the column 'src' of `edges` holds values of several types; .*str"
    ):
        unseen.read_graph(frame)
    assert unseen.read_graph(frame.astype(str)).n_edges == 2
