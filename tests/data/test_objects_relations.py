"""Graphs of relations go to networkx and PyTorch Geometric and come back the same."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from unseen.data.objects import to_networkx
from unseen.data.objects_pyg import labels_from_pyg, to_pyg

ROUNDS = settings(max_examples=40, deadline=None, derandomize=True, database=None)
TYPES = ["author", "paper", "venue"]


@st.composite
def graphs(draw: Any) -> unseen.Graph:
    n = draw(st.integers(3, 8))
    types = [*TYPES, *(draw(st.sampled_from(TYPES)) for _ in range(n - 3))]
    types = draw(st.permutations(types))
    relations = []
    for k in range(draw(st.integers(1, 3))):
        source, target = draw(st.sampled_from(TYPES)), draw(st.sampled_from(TYPES))
        matrix = np.zeros((n, n))
        for _ in range(draw(st.integers(1, 4))):
            i = draw(st.sampled_from([i for i in range(n) if types[i] == source]))
            j = draw(st.sampled_from([i for i in range(n) if types[i] == target]))
            matrix[i, j] = matrix[i, j] or draw(st.sampled_from([-2.0, 1.0, 3.0]))
            if source == target and matrix[j, i] == -matrix[i, j]:
                matrix[j, i] = matrix[i, j]
        relations.append(unseen.Relation(f"r{k}", source, target, matrix, draw(st.booleans())))  # type: ignore[arg-type]
    count = types.count("paper")
    features = {"paper": np.arange(2.0 * count).reshape(count, 2)} if draw(st.booleans()) else None
    names = {"paper": ["x", "y"]} if features and draw(st.booleans()) else None
    ids = draw(st.permutations(range(n))) if draw(st.booleans()) else [f"n{k}" for k in range(n)]
    return unseen.Graph.from_relations(relations, ids, types, features, names)


def facts(graph: unseen.Graph) -> dict[str, Any]:
    ids = graph.node_ids.tolist()
    relations = {}
    for r in graph.relations:
        coo = r.matrix.tocoo()
        entries = {(ids[i], ids[j]): w for i, j, w in zip(coo.row, coo.col, coo.data, strict=True)}
        relations[r.name, r.source_type, r.target_type, r.directed] = entries
    types = dict(zip(ids, graph.node_types.tolist(), strict=True)) if graph.node_types is not None else None
    papers = None if types is None else graph.features_of("paper")
    rows = [node for node in ids if types and types[node] == "paper"]
    features = None if papers is None else dict(zip(rows, np.asarray(papers).tolist(), strict=True))
    return {"relations": relations, "types": types, "features": features, "names": graph.feature_names}


@ROUNDS
@given(graphs())
def test_networkx_and_back(graph: unseen.Graph) -> None:
    back = unseen.Graph.from_networkx(to_networkx(graph), features="features")
    assert back.node_ids.tolist() == graph.node_ids.tolist()
    assert facts(back) == facts(graph)


@pytest.mark.slow
@ROUNDS
@given(graphs())
def test_pytorch_geometric_and_back(graph: unseen.Graph) -> None:
    pytest.importorskip("torch_geometric")
    back = unseen.Graph.from_pyg(to_pyg(graph))
    assert sorted(map(str, back.node_ids)) == sorted(map(str, graph.node_ids))
    assert facts(back) == facts(graph)


def test_networkx_attributes() -> None:
    theirs = nx.MultiDiGraph()
    theirs.add_edge("a", "b", type="likes", sign=-1, weight=2)
    theirs.add_edge("a", "b", type="knows")
    theirs.add_edge("a", "b", type="likes", weight=1)
    graph = unseen.Graph.from_networkx(theirs)
    assert [(r.name, r.directed, r.matrix[0, 1]) for r in graph.relations] == [
        ("likes", True, -2),
        ("knows", True, 1),
    ]
    assert not unseen.Graph.from_networkx(theirs, edge_type=None, sign=None).is_heterogeneous
    signed = unseen.Graph.from_networkx(nx.Graph([("a", "b", {"sign": -1})]), features=np.eye(2))
    assert signed.is_signed
    assert not signed.is_directed
    assert signed.features is not None


def test_networkx_at_fault() -> None:
    theirs = nx.Graph([("a", "b")])
    theirs.nodes["a"]["type"] = "x"
    with pytest.raises(unseen.InputError, match=r"`graph`, the node 'b': the type is empty; name it"):
        unseen.Graph.from_networkx(theirs)
    assert type(unseen.Graph.from_networkx(theirs, node_type=None)) is unseen.Graph
    opposite = nx.MultiGraph([("a", "b", {"weight": 2}), ("a", "b", {"weight": -2})])
    with pytest.raises(
        unseen.InputError, match=r"the edge 'a' - 'b': the pair a - b has the weight -2 here and 2"
    ):
        unseen.Graph.from_networkx(opposite)


def test_hetero_data_of_others() -> None:
    torch = pytest.importorskip("torch")
    data_module = pytest.importorskip("torch_geometric.data")
    data = data_module.HeteroData()
    data["author"].x = torch.eye(2)
    data["paper"].num_nodes = 3
    data["author", "wrote", "paper"].edge_index = torch.tensor([[0, 1], [0, 2]])
    data["paper", "cites", "paper"].edge_index = torch.tensor([[0, 1], [1, 2]])
    graph = unseen.Graph.from_pyg(data)
    assert graph.node_ids.tolist() == ["author:0", "author:1", "paper:0", "paper:1", "paper:2"]
    assert [(r.name, r.directed, r.n_edges) for r in graph.relations] == [
        ("wrote", False, 2),
        ("cites", True, 2),
    ]
    data["author", "wrote", "paper"].edge_index = torch.tensor([[2], [0]])
    with pytest.raises(
        unseen.InputError, match=r"`edge_index` of 'wrote' names the node 2, but 'author' has 2"
    ):
        unseen.Graph.from_pyg(data)
    data["author", "in", "venue"].edge_index = torch.tensor([[0], [0]])
    del data["author", "wrote", "paper"]
    with pytest.raises(
        unseen.InputError,
        match=r"`edge_index` of 'in' names the node 0, but 'venue' has 0 nodes",
    ):
        unseen.Graph.from_pyg(data)


def test_one_type_without_a_name_comes_back() -> None:
    pytest.importorskip("torch_geometric")
    matrix = np.array([[0, -1.0], [0, 0]])
    graph = unseen.Graph.from_relations([unseen.Relation("r", None, None, matrix, directed=True)])  # type: ignore[arg-type]
    back = unseen.Graph.from_pyg(to_pyg(graph))
    assert (back.node_types, back.relations[0].source_type, back.relations[0].matrix[0, 1]) == (
        None,
        None,
        -1,
    )


def test_labels_of_one_type_go_to_pytorch_geometric_and_back() -> None:
    pytest.importorskip("torch_geometric")
    wrote = np.zeros((4, 4))
    wrote[0, 2] = wrote[1, 3] = 1
    relation = unseen.Relation("wrote", "author", "paper", wrote)  # type: ignore[arg-type]
    graph = unseen.Graph.from_relations([relation], list("abpq"), ["author", "author", "paper", "paper"])
    labels = unseen.Labels.from_values(["x", "y", None, None], graph.node_ids)
    data = to_pyg(graph, labels)
    assert data["author"].y.tolist() == [0, 1]
    assert data["author"].train_mask.tolist() == [True, True]
    assert "y" not in data["paper"]
    back = labels_from_pyg(data)
    assert back.classes == ("x", "y")
    assert (back.align_to(graph).indicator != labels.indicator).nnz == 0
    with pytest.raises(unseen.InputError, match="the data has no `y` to take labels from"):
        labels_from_pyg(to_pyg(graph))
