"""Features as people have them: numbers with gaps, categories, texts and dates, in files, frames and attributes."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import torch
from sklearn.datasets import dump_svmlight_file
from torch_geometric.data import Data, HeteroData

import unseen
from reading import dense, read_features, write
from unseen.data.write import write_part
from unseen.engine.partition import partition
from unseen.errors import InputError

PAIRS = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
TEXTS = ["red apple", "red wine", "old wine of the south", "old"]
FEATURES = np.array([[1, 0, 2.5], [0, 0, 0], [0, -1, 0], [4, 0, 0]])


def frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"node": list("abcd"), **columns})


@pytest.mark.parametrize("cell", ["", "NA", "NaN", "null"])
@pytest.mark.parametrize(("missing", "value"), [("median", 3.0), ("zero", 0.0)])
def test_missing_numbers_in_text(
    tmp_path: Path, cell: str, missing: Any, value: float, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "unseen")
    path = write(tmp_path / "f.csv", f"node,age,size,none\na,1,2,\nb,{cell},2,\nc,3,2,{cell}\nd,9,2,\n")
    graph = unseen.read_graph(PAIRS, features=path, missing=missing)
    assert graph.feature_names == ("age", "size")
    assert graph.features.tolist() == [[1, 2], [value, 2], [3, 2], [9, 2]]
    assert "1 missing number replaced by" in caplog.text
    assert "'none' has no values and is not used" in caplog.text
    with pytest.raises(InputError, match=r"line 3: the feature 'age' is missing; .*--missing"):
        unseen.read_graph(PAIRS, features=path, missing="error")


AGES = np.array([1.0, np.nan, 3.0, 9.0])


@pytest.mark.parametrize(
    "source",
    [
        frame(age=AGES),
        frame(age=AGES.astype(np.float32)),
        frame(age=pd.array([1, None, 3, 9], dtype="Int64")),
        frame(age=[[1.0], None, [3.0], [9.0]]),
        np.c_[AGES, np.arange(4.0)],
        sp.csr_array(np.c_[AGES, np.arange(4.0)]),
    ],
    ids=lambda source: type(source).__name__,
)
def test_missing_numbers_in_tables_and_matrices(source: Any) -> None:
    features = unseen.read_graph(PAIRS, list("abcd"), source).features
    assert dense(features)[:, 0].tolist() == [1, 3, 3, 9]


def test_a_graph_in_parts_takes_numbers_only(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "src,dst\na,b\nb,c\n")
    files = {"features": write(tmp_path / "f.csv", "node,x\na,1\nb,\nc,2\n"), "parts": 1}
    with pytest.raises(InputError, match=r"line 3: the feature 'x' is missing; .*--missing zero"):
        partition(edges, tmp_path / "parts", **files)
    partition(edges, tmp_path / "parts", missing="zero", **files)
    write(tmp_path / "f.csv", "node,country\na,DE\nb,FR\nc,DE\n")
    with pytest.raises(InputError, match="'country' is no number; a graph in parts takes numbers only"):
        partition(edges, tmp_path / "parts", **files)


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
    ids=lambda features: type(features).__name__,
)
def test_objects_that_hold_features(features: Any) -> None:
    assert unseen.read_graph(PAIRS, features=features).features.ravel().tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("suffix", ["", ".graphml", ".gexf", ".gml"])
def test_attributes_of_nodes(tmp_path: Path, suffix: str) -> None:
    source: Any = nx.Graph(PAIRS)
    nx.set_node_attributes(source, dict(zip("abc", "xyx", strict=True)), "team")
    nx.set_node_attributes(source, dict(zip("abd", [30, 40, 60], strict=True)), "age")
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
    own = unseen.Graph.from_pyg(data).adjacency
    assert usual.graph.adjacency.toarray().tolist() == own.toarray().tolist()
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


def test_words_of_a_text_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "unseen")
    path, lines = tmp_path / "t.csv", [f"{node},{text}" for node, text in zip("abc", TEXTS, strict=False)]
    for header in ("node,text\n", ""):
        graph = unseen.read_graph(PAIRS, text=write(path, header + "\n".join(lines)))
        assert graph.feature_names == ("red", "wine")
        assert (graph.features.toarray() > 0).astype(int).tolist() == [[1, 0], [1, 1], [0, 1], [0, 0]]
    assert "1 node without a text" in caplog.text
    graph = unseen.read_graph(PAIRS, text=write(path, "node,text\nx,red wine\na,red wine\ny,old\n"))
    assert graph.node_ids.tolist() == list("abcdxy")
    with pytest.raises(InputError, match=r"^`text` has no word that several nodes share"):
        unseen.read_graph(PAIRS, text=frame(text=["one", "two", "three", "four"]))


def test_a_text_for_each_node_from_python() -> None:
    by_node = dict(zip("abcd", TEXTS, strict=True))
    for text in (by_node, pd.Series(by_node), frame(text=TEXTS), {"node": list("abcd"), "text": TEXTS}):
        graph = unseen.read_graph(PAIRS, text=text)
        assert graph.texts.tolist() == TEXTS
        assert graph.feature_names == ("old", "red", "wine")
    with pytest.raises(InputError, match=r"`text` must be a path, .* from nodes to texts, got list"):
        unseen.read_graph(PAIRS, text=TEXTS)


class Encoder:
    """The interface of sentence-transformers."""

    def encode(self, texts: list[str]) -> Any:
        return np.array([[len(text) - 5.0, -1.0] for text in texts])


def test_texts_with_an_encoder_of_directed_and_of_typed_graphs() -> None:
    text = frame(text=TEXTS)
    graph = unseen.read_graph(PAIRS, text=text, directed=True)
    assert graph.is_directed
    assert graph.feature_names == ("old", "red", "wine")
    assert graph.texts.tolist() == TEXTS
    graph = unseen.read_graph(PAIRS, features=frame(size=[1.0, 2, 3, 4]), text=text, encoder=Encoder())
    assert graph.feature_names == ("size", "encoder 0", "encoder 1", "old", "red", "wine")
    assert graph.features.toarray()[:, 1].tolist() == [4.0, 3.0, 16.0, -2.0]
    with pytest.raises(InputError, match=r"`encoder` needs a method `encode\(list of str\)`"):
        unseen.read_graph(PAIRS, text=text, encoder=len)
    with pytest.raises(InputError, match="texts are for graphs whose nodes are of one type"):
        unseen.read_graph(PAIRS, nodes=frame(type=["x", "y", "x", "y"]), text=text)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_columns_of_text_and_categories(tmp_path: Path, suffix: str) -> None:
    about = [f"{text} and more" for text in TEXTS]
    table, path = (
        frame(size=[1.5, 2, 3, 4], country=["DE", "FR", "DE", "NA"], about=about),
        tmp_path / f"f{suffix}",
    )
    table.to_csv(path, index=False) if suffix == ".csv" else table.to_parquet(path)
    graph = unseen.read_graph(PAIRS, features=path)
    assert graph.feature_names == ("size", "country=DE", "country=FR", "old", "red", "wine")
    assert graph.features.toarray()[:, :3].tolist() == [[1.5, 1, 0], [2, 0, 1], [3, 1, 0], [4, 0, 0]]
    assert graph.texts.tolist() == about
    two = table.assign(more=table["about"])
    assert unseen.read_graph(PAIRS, features=two).texts is None
    gaps = unseen.read_graph(PAIRS, features=frame(about=["old oak chair", None, "old oak table", ""]))
    assert gaps.texts.tolist() == ["old oak chair", "", "old oak table", ""]


@pytest.mark.parametrize(
    "dates",
    [
        ["2001-01-01", "2001-07-02 12:30:00", "", "2003-01-01"],
        pd.to_datetime(["2001-01-01", "2001-07-02", None, "2003-01-01"]),
    ],
)
def test_dates_are_years_unless_their_order_is_unclear(dates: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    unclear = ["1.2.2001", "3.4.2002"] * 2
    graph = unseen.read_graph(PAIRS, features=frame(since=dates, until=unclear, size=[1, 2, 3, 4]))
    assert graph.feature_names == ("since", "size")
    assert np.allclose(
        dense(graph.features)[:, 0], [2001, 2001.5, 2001.5, 2003], atol=0.01
    )  # a gap has the median
    assert "the column 'until' holds dates such as '1.2.2001' and is not used" in caplog.text


IDS, NAMES = ["d", "b", "c", "a"], ["x", "y", "z"]
COLUMNS = pa.table({"node": IDS, **{name: FEATURES[:, k] for k, name in enumerate(NAMES)}})
SPARSE = unseen.Graph(np.zeros((4, 4)), sp.csr_array(FEATURES), IDS, NAMES)
WITH_IDS: dict[str, Any] = {
    "columns": COLUMNS,
    "list": pa.table({"node": IDS, "v": FEATURES.tolist()}),
    "fixed": pa.table({"node": IDS, "v": pa.FixedSizeListArray.from_arrays(pa.array(FEATURES.ravel()), 3)}),
    "index": pd.DataFrame(FEATURES, columns=NAMES, index=IDS),
    "polars": pl.from_arrow(COLUMNS),
    "float32": COLUMNS.cast(pa.schema([("node", pa.string()), *((name, pa.float32()) for name in NAMES)])),
    "f.npz": lambda path: write_part(SPARSE, "features", path),
    "f.csv.gz": lambda path: write(path, gzip.compress(COLUMNS.to_pandas().to_csv(index=False).encode())),
}  # fmt: skip


@pytest.mark.parametrize("kind", WITH_IDS)
def test_features_with_ids(tmp_path: Path, kind: str) -> None:
    source = WITH_IDS[kind]
    if callable(source):
        source(tmp_path / kind)
        source = tmp_path / kind
    graph = unseen.read_graph([("a", "b"), ("c", "d")], features=source)
    assert graph.node_ids.tolist() == ["a", "b", "c", "d"]
    assert dense(graph.features).tolist() == FEATURES[[3, 1, 2, 0]].tolist()
    assert graph.feature_names == (None if kind in ("list", "fixed") else tuple(NAMES))
    assert graph.features.dtype == (np.float32 if kind == "float32" else np.float64)
    assert sp.issparse(graph.features) == (kind == "f.npz")


@pytest.mark.parametrize("kind", ["npz", "npy", "libsvm.gz", "array", "sparse"])
def test_features_by_node_number(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"f.{kind}"
    if kind == "npz":
        sp.save_npz(path, sp.csr_array(FEATURES))
    elif kind == "npy":
        np.save(path, FEATURES)
    elif kind == "libsvm.gz":
        dump_svmlight_file(FEATURES, np.zeros(4), str(tmp_path / "f"), zero_based=False, comment="by hand")
        write(path, gzip.compress((tmp_path / "f").read_bytes()))
    source = {"array": FEATURES, "sparse": sp.csr_array(FEATURES)}.get(kind, path)
    edges = write(tmp_path / "e.csv", "3,1\n0,3\n")  # node 2 has no edge: the features name it
    graph = unseen.read_graph(edges, features=source)
    assert graph.node_ids.tolist() == ["3", "1", "0", "2"]
    assert dense(graph.features).tolist() == FEATURES[[3, 1, 0, 2]].tolist()
    assert sp.issparse(graph.features) == (kind not in ("npy", "array"))
    ids, matrix, names = read_features(source)
    assert (ids, matrix.shape, names) == (None, (4, 3), None)
    named = unseen.read_graph([("a", "b")], nodes=IDS, features=source)  # rows in the order of the node list
    assert (named.node_ids.tolist(), dense(named.features).tolist()) == (IDS, FEATURES.tolist())
    listed = unseen.read_graph(
        [("0", "1")], nodes=["3", "2", "1", "0"], features=source
    )  # but numbers are numbers
    assert dense(listed.features).tolist() == FEATURES[::-1].tolist()
