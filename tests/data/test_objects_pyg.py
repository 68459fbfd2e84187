"""Round trips through PyTorch Geometric: no id, weight or feature may end up at another node."""

from __future__ import annotations

import logging

import pytest
import scipy.sparse as sp
from hypothesis import given

import unseen
from unseen.data.objects_pyg import graph_from_pyg, labels_from_pyg, to_pyg

from .drawn import ROUNDS, assert_same, dense, label_sets, labelled_graphs

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


def test_pyg_weights() -> None:
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
    with pytest.raises(unseen.InputError, match=r"the HeteroData has no edges, so that there is no relation"):
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
    labels = labels_from_pyg(Data(y=y))
    assert (labels.classes, labels.codes.tolist()) == (("0", "2"), [1, -1, 0, 1])
    named = labels_from_pyg(Data(y=y, class_names=["zero", "one", "two"]))
    assert (named.classes, named.codes.tolist()) == (("zero", "one", "two"), [2, -1, 0, 2])
    floats = labels_from_pyg(Data(y=torch.tensor([[1.0], [float("nan")]])))
    assert floats.codes.tolist() == [0, -1]
    several = labels_from_pyg(Data(y=torch.tensor([[1, 1], [0, 0], [0, 1]])))
    assert label_sets(several) == [{"0", "1"}, set(), {"1"}]


def test_labels_from_pyg_at_fault() -> None:
    with pytest.raises(unseen.InputError, match=r"the data has no `y`"):
        labels_from_pyg(Data())
    with pytest.raises(unseen.InputError, match=r"the data has no `team` to take labels from; it has 'y'"):
        labels_from_pyg(Data(y=torch.tensor([0])), "team")
    with pytest.raises(unseen.InputError, match=r"`class_names` has 1 names but `y` has the class number 3"):
        labels_from_pyg(Data(y=torch.tensor([3]), class_names=["a"]))
    with pytest.raises(unseen.InputError, match=r"`y` holds 0\.5; class numbers must be whole"):
        labels_from_pyg(Data(y=torch.tensor([0.5])))
    with pytest.raises(unseen.InputError, match=r"`y` holds -2; class numbers start at 0"):
        labels_from_pyg(Data(y=torch.tensor([-2])))
