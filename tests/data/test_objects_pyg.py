"""Round trips through PyTorch Geometric: no id, weight or feature may end up at another node."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

import unseen
from drawn import ROUNDS, assert_same, dense, facts, label_sets, labelled_graphs, relation_graphs
from unseen.data.objects_pyg import graph_from_pyg, labels_from_pyg, to_pyg

torch = pytest.importorskip("torch")
Data = pytest.importorskip("torch_geometric.data").Data
HeteroData = pytest.importorskip("torch_geometric.data").HeteroData


@pytest.mark.slow
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


EDGE_INDEX = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 2]])


def test_pyg_weights(caplog: pytest.LogCaptureFixture) -> None:
    weights = torch.tensor([1.0, 3.0, 2.0, 5.0])
    for data in (
        Data(edge_index=EDGE_INDEX, edge_weight=weights, num_nodes=4),
        Data(edge_index=EDGE_INDEX, edge_attr=weights[:, None], num_nodes=4),
    ):
        graph = unseen.Graph.from_pyg(data)
        assert graph.adjacency.toarray().tolist() == [[0, 3, 0, 0], [3, 0, 2, 0], [0, 2, 5, 0], [0, 0, 0, 0]]
        assert unseen.Graph.from_pyg(data, symmetrize="sum").adjacency[0, 1] == 4
        with pytest.raises(unseen.InputError, match=r"not symmetric"):
            unseen.Graph.from_pyg(data, symmetrize="error")
    caplog.set_level(logging.INFO, "unseen")
    vectors = Data(edge_index=EDGE_INDEX, edge_attr=torch.ones(4, 3), num_nodes=3)
    assert unseen.Graph.from_pyg(vectors).adjacency.max() == 1
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
    none = torch.zeros((2, 0), dtype=torch.long)
    assert unseen.Graph.from_pyg(Data(edge_index=none, num_nodes=2)).n_nodes == 2


PLAIN = {"edge_index": EDGE_INDEX, "num_nodes": 3}
TWICE = {"edge_index": torch.tensor([[0, 0], [1, 1]]), "num_nodes": 2}
FAULTY: list[tuple[Callable[..., object], dict[str, object], dict[str, object], str]] = [
    (graph_from_pyg, {"x": torch.eye(2)}, {}, "the data has no `edge_index`"),
    (graph_from_pyg, {"x": torch.eye(2), "edge_index": EDGE_INDEX}, {}, "names the node 2, but the data has 2"),
    (graph_from_pyg, PLAIN | {"edge_index": EDGE_INDEX - 1}, {}, "`edge_index` names the node -1"),
    (graph_from_pyg, PLAIN | {"edge_index": EDGE_INDEX.T}, {}, "must be whole numbers of shape"),
    (graph_from_pyg, PLAIN | {"edge_weight": torch.ones(3)}, {}, r"`edge_weight` has shape \(3,\).* each of 4 edges"),
    (graph_from_pyg, TWICE, {"symmetrize": "error"}, "`edge_index` lists a pair more than once"),
    (labels_from_pyg, {}, {}, "the data has no `y`"),
    (labels_from_pyg, {"y": torch.tensor([0])}, {"attribute": "team"}, "no `team` to take labels from; it has 'y'"),
    (labels_from_pyg, {"y": torch.tensor([3]), "class_names": ["a"]}, {}, "has 1 names but `y` has the class number 3"),
    (labels_from_pyg, {"y": torch.tensor([0.5])}, {}, r"`y` holds 0\.5; class numbers are whole and start at 0"),
    (labels_from_pyg, {"y": torch.tensor([-2])}, {}, "`y` holds -2; class numbers are whole and start at 0"),
]  # fmt: skip


@pytest.mark.parametrize(("read", "content", "options", "sentence"), FAULTY)
def test_pyg_at_fault(
    read: Callable[..., object], content: dict[str, object], options: dict[str, object], sentence: str
) -> None:
    with pytest.raises(unseen.InputError, match=sentence):
        read(Data(**content), **options)


def test_what_pyg_cannot_hold_or_lacks() -> None:
    with pytest.raises(unseen.InputError, match="the HeteroData has no edges, so that there is no relation"):
        graph_from_pyg(HeteroData())
    with pytest.raises(unseen.InputError, match="edge weights go beyond what float32"):
        to_pyg(unseen.Graph.from_edges([0], [1], [1e300]))


def test_labels_from_pyg() -> None:
    y = torch.tensor([2, -1, 0, 2])
    labels = labels_from_pyg(Data(y=y))
    assert (labels.classes, labels.codes.tolist()) == (("0", "2"), [1, -1, 0, 1])
    named = labels_from_pyg(Data(y=y, class_names=["zero", "one", "two"]))
    assert (named.classes, named.codes.tolist()) == (("zero", "one", "two"), [2, -1, 0, 2])
    floats = labels_from_pyg(Data(y=torch.tensor([[1.0], [float("nan")]])))
    assert floats.codes.tolist() == [0, -1]
    several = labels_from_pyg(Data(y=torch.tensor([[1, 1], [0, 0], [0, 1]])))
    assert label_sets(several) == [{"0", "1"}, set(), {"1"}]


@pytest.mark.slow
@ROUNDS
@given(relation_graphs())
def test_pytorch_geometric_and_back(graph: unseen.Graph) -> None:
    back = unseen.Graph.from_pyg(to_pyg(graph))
    assert sorted(map(str, back.node_ids)) == sorted(map(str, graph.node_ids))
    assert facts(back) == facts(graph)


def test_hetero_data_of_others() -> None:
    data = HeteroData()
    data["author"].x = torch.eye(2)
    data["paper"].num_nodes = 3
    data["author", "wrote", "paper"].edge_index = torch.tensor([[0, 1], [0, 2]])
    data["paper", "cites", "paper"].edge_index = torch.tensor([[0, 1], [1, 2]])
    graph = unseen.Graph.from_pyg(data)
    assert graph.node_ids.tolist() == ["author:0", "author:1", "paper:0", "paper:1", "paper:2"]
    relations = [(r.name, r.directed, r.n_edges) for r in graph.relations]
    assert relations == [("wrote", False, 2), ("cites", True, 2)]
    data["author", "wrote", "paper"].edge_index = torch.tensor([[2], [0]])
    with pytest.raises(unseen.InputError, match="of 'wrote' names the node 2, but 'author' has 2"):
        unseen.Graph.from_pyg(data)
    data["author", "in", "venue"].edge_index = torch.tensor([[0], [0]])
    del data["author", "wrote", "paper"]
    with pytest.raises(unseen.InputError, match="of 'in' names the node 0, but 'venue' has 0 nodes"):
        unseen.Graph.from_pyg(data)


def test_one_type_without_a_name_comes_back() -> None:
    matrix = np.array([[0, -1.0], [0, 0]])
    graph = unseen.Graph.from_relations([unseen.Relation("r", None, None, matrix, directed=True)])  # type: ignore[arg-type]
    back = unseen.Graph.from_pyg(to_pyg(graph))
    assert (back.node_types, back.relations[0].source_type) == (None, None)
    assert back.relations[0].matrix[0, 1] == -1


def test_labels_of_one_type_go_to_pytorch_geometric_and_back() -> None:
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
