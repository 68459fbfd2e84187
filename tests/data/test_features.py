"""Features as people have them: missing values, categories and texts in files, frames and attributes of nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data, HeteroData

import unseen
from unseen.engine.partition import partition
from unseen.errors import InputError

PAIRS = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
CELLS = {"": None, "NA": "NA", "NaN": float("nan"), "null": "null"}


def frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"node": list("abcd"), **columns})


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(("missing", "value"), [("median", 3.0), ("zero", 0.0)])
def test_missing_numbers_in_text(
    tmp_path: Path, cell: str, missing: Any, value: float, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "unseen")
    lines = f"node,age,size,none\na,1,2,\nb,{cell},2,\nc,3,2,{cell}\nd,9,2,\n"
    (tmp_path / "f.csv").write_text(lines, encoding="utf-8")
    graph = unseen.read_graph(PAIRS, features=tmp_path / "f.csv", missing=missing)
    assert graph.feature_names == ("age", "size")
    assert graph.features.tolist() == [[1, 2], [value, 2], [3, 2], [9, 2]]
    assert "1 missing number replaced by" in caplog.text
    assert "'age' (1)" in caplog.text
    assert "'none' has no values and is not used" in caplog.text
    with pytest.raises(InputError, match=r"line 3: the feature 'age' is missing; .*--missing"):
        unseen.read_graph(PAIRS, features=tmp_path / "f.csv", missing="error")


@pytest.mark.parametrize("kind", ["frame", "parquet", "float32", "nullable", "matrix", "sparse", "lists"])
def test_missing_numbers_in_tables_and_matrices(tmp_path: Path, kind: str) -> None:
    column = np.array([1.0, np.nan, 3.0, 9.0])
    source: Any = frame(age=column)
    if kind == "parquet":
        source.to_parquet(tmp_path / "f.parquet")
        source = tmp_path / "f.parquet"
    elif kind == "float32":
        source = frame(age=column.astype(np.float32))
    elif kind == "nullable":
        source = frame(age=pd.array([1, None, 3, 9], dtype="Int64"))
    elif kind in ("matrix", "sparse"):
        source = np.c_[column, np.arange(4.0)]
        source = sp.csr_array(source) if kind == "sparse" else source
    elif kind == "lists":
        source = frame(age=[[1.0], None, [3.0], [9.0]])
    features = unseen.read_graph(PAIRS, list("abcd"), source).features
    dense = features.toarray() if sp.issparse(features) else features
    assert dense[:, 0].tolist() == [1, 3, 3, 9]


def test_infinite_values_stay_errors(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("node,x\na,1\nb,inf\nc,\nd,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 3: the feature 'x' is inf"):
        unseen.read_graph(PAIRS, features=tmp_path / "f.csv")
    with pytest.raises(InputError, match="row 0, column 0 is inf"):
        unseen.read_graph(PAIRS, list("abcd"), np.array([[np.inf], [np.nan], [0], [0]]))


def test_a_table_without_any_value() -> None:
    with pytest.raises(InputError, match="no column beside ids and labels that can be a feature"):
        unseen.read_graph(PAIRS, features=frame(x=[None] * 4))
    with pytest.raises(
        InputError, match=r"`missing` \(--missing\) must be 'median', 'zero' or 'error', got 'mean'"
    ):
        unseen.read_graph(PAIRS, missing="mean")  # type: ignore[arg-type]


def test_missing_categories_and_texts() -> None:
    shop = frame(country=["DE", "NA", None, "FR"], about=["an old oak chair", None, "an old oak table", ""])
    graph = unseen.read_graph(PAIRS, features=shop)
    assert graph.feature_names == ("country=DE", "country=FR", "an", "oak", "old")
    assert graph.features.toarray()[1].tolist() == [0] * 5
    assert graph.texts.tolist() == ["an old oak chair", "", "an old oak table", ""]
    two = shop.assign(more=shop["about"])
    assert unseen.read_graph(PAIRS, features=two).texts is None


def test_missing_numbers_of_a_graph_in_parts(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("src,dst\na,b\nb,c\n", encoding="utf-8")
    (tmp_path / "f.csv").write_text("node,x\na,1\nb,\nc,2\n", encoding="utf-8")
    files = {"features": tmp_path / "f.csv", "parts": 1}
    with pytest.raises(InputError, match=r"line 3: the feature 'x' is missing; .*--missing zero"):
        partition(tmp_path / "e.csv", tmp_path / "parts", **files)
    partition(tmp_path / "e.csv", tmp_path / "parts", missing="zero", **files)


@pytest.mark.parametrize(
    "features",
    [
        {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0},
        {"a": [1.0], "b": [2.0], "c": [3.0], "d": [4.0]},
        {"a": {"size": 1}, "b": {"size": 2}, "c": {"size": 3}, "d": {"size": 4}},
        {"node": list("abcd"), "size": [1, 2, 3, 4]},
        pd.Series([1, 2, 3, 4], pd.Index(list("abcd"), name="product"), name="size"),
        frame(size=[1, 2, 3, 4]).set_index("node").rename_axis("product"),
        pd.DataFrame({"size": [1, 2, 3, 4]}, index=list("abcd")),
    ],
)
def test_objects_that_hold_features(features: Any) -> None:
    graph = unseen.read_graph(PAIRS, features=features)
    assert graph.features.ravel().tolist() == [1, 2, 3, 4]


def test_a_frame_with_a_named_index_holds_labels() -> None:
    graph = unseen.read_graph(PAIRS)
    labels = frame(category=["x", "y", None, "x"]).set_index("node").rename_axis("product")
    assert unseen.read_labels(labels, graph).codes.tolist() == [0, 1, -1, 0]
    both = labels.assign(size=[1, 2, 3, 4])
    assert unseen.read_labels(both, graph, label_column="category").codes.tolist() == [0, 1, -1, 0]


def people() -> nx.Graph:
    graph = nx.Graph(PAIRS)
    teams, ages = dict(zip("abc", ["x", "y", "x"], strict=True)), dict(zip("abd", [30, 40, 60], strict=True))
    for name, values in (("team", teams), ("age", ages)):
        nx.set_node_attributes(graph, values, name)
    return graph


@pytest.mark.parametrize("suffix", ["", ".graphml", ".gexf", ".gml"])
def test_attributes_of_nodes(tmp_path: Path, suffix: str) -> None:
    source: Any = people()
    if suffix:
        getattr(nx, f"write_{suffix[1:]}")(source, tmp_path / f"g{suffix}")
        source = tmp_path / f"g{suffix}"
    data = unseen.read(source, label_column="team")
    assert data.graph.features is None
    assert data.labels.to_lists() == {"a": ["x"], "b": ["y"], "c": ["x"]}
    data = unseen.read(source, features=source, labels=source, label_column="team")
    assert data.graph.feature_names == ("age",)
    assert data.graph.features.ravel().tolist() == [30, 40, 40, 60]
    with pytest.raises(InputError, match=r"has no column 'teem'.*'team', 'age'"):
        unseen.read(source, label_column="teem")


def test_attributes_of_pyg_data() -> None:
    edges = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    data = Data(edge_index=edges, x=torch.ones(4, 2), y=torch.tensor([0, 1, -1, 0]), num_nodes=4)
    data.team, data.age = ["x", "y", None, "x"], torch.tensor([1.0, float("nan"), 3.0, 9.0])
    usual = unseen.read(data)
    assert (
        usual.graph.adjacency.toarray().tolist() == unseen.Graph.from_pyg(data).adjacency.toarray().tolist()
    )
    assert usual.graph.features.shape == (4, 2)
    assert usual.labels.codes.tolist() == [0, 1, -1, 0]
    assert unseen.read(data, label_column="team").labels.to_lists() == {0: ["x"], 1: ["y"], 3: ["x"]}
    whole = unseen.read(data, features=data, label_column="team").graph
    assert whole.feature_names == ("x 0", "x 1", "age")
    assert whole.features[:, 2].tolist() == [1, 3, 3, 9]
    with pytest.raises(InputError, match=r"the data has no `teem` to take labels from; it has .*'team'"):
        unseen.read(data, label_column="teem")


def test_pyg_data_of_several_types() -> None:
    data = HeteroData()
    data["paper"].x, data["paper"].y = torch.eye(2), torch.tensor([1, -1])
    data["author"].num_nodes, data["author"].team = 1, ["x"]
    data["author", "wrote", "paper"].edge_index = torch.tensor([[0, 0], [0, 1]])
    read = unseen.read(data, features=data)
    assert read.graph.node_types.tolist() == ["paper", "paper", "author"]
    assert read.labels.to_lists() == {"paper:0": ["1"]}
    assert unseen.read(data, label_column="team").labels.to_lists() == {"author:0": ["x"]}
    with pytest.raises(InputError, match="has its own nodes and features"):
        unseen.read(data, nodes=["a"])
