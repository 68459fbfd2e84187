"""The leak law: whatever table or object holds features beside labels, no feature says what the labels are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import torch
from sklearn.metrics import roc_auc_score
from torch_geometric.data import Data

import unseen
from unseen.engine.comm import SOLO
from unseen.engine.partition import partition
from unseen.engine.parts import load_parts

N = 240
RNG = np.random.default_rng(7)
NODES = [f"n{k}" for k in range(N)]
TRUTH = RNG.choice(["red", "green", "blue"], N)
ENDS = RNG.integers(0, N, (2, 3 * N))
EDGES = [(NODES[a], NODES[b]) for a, b in ENDS.T]
NOISE = ("height", "shape=round", "shape=square")


def table(label: str = "label") -> pd.DataFrame:
    """Return random labels, which miss one class, with columns derived from them, and noise."""
    labels = np.where((TRUTH != "red") & (np.arange(N) % 2 == 0), TRUTH, None)
    return pd.DataFrame(
        {
            "node": NODES,
            "Unnamed: 0": range(N),
            "copy_of_id": NODES,
            "id": range(100, 100 + N),
            label: labels,
            "code": pd.Series(TRUTH).map({"red": 7, "green": 3, "blue": 4}),
            "spelling": [f"{name.upper()} team" for name in TRUTH],
            "is_blue": TRUTH == "blue",
            "height": np.random.default_rng(1).normal(size=N).round(3),
            "shape": np.random.default_rng(2).choice(["round", "square"], N),
        }
    )


def network(label: str = "label") -> nx.Graph:
    graph, shown = nx.Graph(), table(label).columns.drop(["Unnamed: 0", "id"])  # which formats take as ids
    for row in table(label).to_dict("records"):
        own = {key: value for key, value in row.items() if value is not None and key in shown}
        graph.add_node(own.pop("node"), **own)
    graph.add_edges_from(EDGES)
    return graph


def of_files(
    folder: Path, label: str = "label", suffix: str = "csv", *, apart: bool = False, **options: Any
) -> unseen.Data:
    own, path = table(label), folder / f"table.{suffix}"
    own.to_csv(path, index=False) if suffix == "csv" else own.to_parquet(path)
    labels = folder / "labels.csv" if apart else path
    if apart:
        own[["node", label]].to_csv(labels, index=False)
    return unseen.read(EDGES, features=path, labels=labels, **options)


def of_table(make: Callable[[pd.DataFrame], Any], label: str = "label", **options: Any) -> unseen.Data:
    own = make(table(label))
    return unseen.read(EDGES, features=own, labels=own, **options)


def of_frame_with_index(_: Path) -> unseen.Data:
    own = table("team").drop(columns="id").set_index("node").rename_axis("person")
    return unseen.read(EDGES, features=own, label_column="team")


def of_dict(_: Path) -> unseen.Data:
    own = table().set_index("node").to_dict("index")
    return unseen.read(EDGES, features=own, labels={node: row["label"] for node, row in own.items()})


def of_networkx(_: Path) -> unseen.Data:
    graph = network("team")
    return unseen.read(graph, features=graph, label_column="team")


def of_network_file(write: Callable[[Any, Path], None], name: str, folder: Path) -> unseen.Data:
    write(network("team"), folder / name)
    return unseen.read(folder / name, features=folder / name, label_column="team")


def of_node_link(folder: Path) -> unseen.Data:
    def write(graph: nx.Graph, path: Path) -> None:
        path.write_text(pd.io.json.ujson_dumps(nx.node_link_data(graph, edges="links")), encoding="utf-8")

    return of_network_file(write, "g.json", folder)


def of_pyg(_: Path) -> unseen.Data:
    own = table()
    columns = {name: own[name].tolist() for name in ("copy_of_id", "spelling", "shape")}
    numbers = {name: torch.tensor(own[name].to_numpy()) for name in ("code", "is_blue", "height")}
    y = torch.tensor(own["label"].map({"green": 0, "blue": 1}).fillna(-1).to_numpy()).long()
    data = Data(edge_index=torch.tensor(ENDS), y=y, num_nodes=N, node_ids=NODES, **columns, **numbers)
    return unseen.read(data, features=data)


WAYS: dict[str, Callable[[Path], unseen.Data]] = {
    "csv": of_files,
    "csv with a label column": lambda folder: of_files(folder, "team", label_column="team"),
    "csv with another usual name": lambda folder: of_files(folder, "class"),
    "parquet": lambda folder: of_files(folder, "class", "parquet"),
    "two files": lambda folder: of_files(folder, apart=True),
    "two files with one name": lambda folder: of_files(folder, "class", apart=True),
    "frame": lambda _: of_table(pd.DataFrame, "team", label_column="team"),
    "frame with index": of_frame_with_index,
    "polars": lambda _: of_table(pl.from_pandas),
    "arrow": lambda _: of_table(lambda own: pa.Table.from_pandas(own.set_axis([f"r{k}" for k in range(N)]))),
    "dict": of_dict,
    "networkx": of_networkx,
    "graphml": lambda folder: of_network_file(nx.write_graphml, "g.graphml", folder),
    "gexf": lambda folder: of_network_file(nx.write_gexf, "g.gexf", folder),
    "gml": lambda folder: of_network_file(nx.write_gml, "g.gml", folder),
    "node-link": of_node_link,
    "pyg": of_pyg,
}


@pytest.mark.parametrize("way", WAYS)
def test_no_feature_is_made_of_labels_or_ids(
    way: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "unseen")
    data = WAYS[way](tmp_path)
    assert data.labels is not None
    assert set(data.labels.classes) in ({"green", "blue"}, {"0", "1"})
    assert set(data.graph.feature_names or ()) <= set(NOISE)
    assert "height" in (data.graph.feature_names or ())
    for name in ("code", "spelling", "is_blue", "copy_of_id"):
        assert f"the column {name!r} holds" in caplog.text
    assert not [record for record in caplog.records if record.levelname == "WARNING"]


@pytest.mark.parametrize("way", ["csv", "networkx"])
def test_random_labels_are_not_found_again(way: str, tmp_path: Path) -> None:
    data = WAYS[way](tmp_path)
    nodes = unseen.discover(data.graph, data.labels, random_state=0).nodes
    truth = dict(zip(NODES, TRUTH, strict=True))
    is_hidden = [truth[node] == "red" for node in nodes["node"].to_pylist()]
    assert 0.35 < roc_auc_score(is_hidden, nodes["unseen_probability"].to_numpy()) < 0.65


def test_texts_beside_labels(tmp_path: Path) -> None:
    own = table("team")[["node", "team", "spelling"]].assign(
        about=np.where(np.arange(N) % 3, "old oak", "oak chair")
    )
    own.to_csv(tmp_path / "texts.csv", index=False)
    for options in ({"labels": tmp_path / "texts.csv"}, {}):
        data = unseen.read(EDGES, text=tmp_path / "texts.csv", label_column="team", **options)
        assert set(data.graph.feature_names or ()) == {"old", "chair"}
        assert set(data.graph.texts.tolist()) == {"old oak", "oak chair"}


def test_cells(tmp_path: Path) -> None:
    own = table("cell_type").set_index("node").astype({"cell_type": "category"})
    own.index = own.index.astype(object)
    own["cell_type"] = own["cell_type"].cat.rename_categories(pd.Index(["blue", "green"], dtype=object))
    noise = own[["height"]].to_numpy()
    matrix = sp.csr_array((np.ones(len(ENDS[0])), tuple(ENDS)), shape=(N, N))
    genes = pd.DataFrame(index=pd.Index(["g1"], dtype=object))
    cells = anndata.AnnData(
        noise, var=genes, obs=own[["cell_type"]], obsp={"connectivities": sp.csr_matrix(matrix)}
    )
    cells.write_h5ad(tmp_path / "cells.h5ad")
    path = tmp_path / "cells.h5ad"
    data = unseen.read(path, features=path, labels=path)
    assert data.graph.features.shape == (N, 1)


def test_a_graph_in_parts(tmp_path: Path) -> None:
    own = table("class")[["node", "Unnamed: 0", "class", "height"]]
    own["class"] = own["class"].map({"green": 0, "blue": 1})
    own.to_csv(tmp_path / "table.csv", index=False)
    pd.DataFrame(EDGES, columns=["src", "dst"]).to_csv(tmp_path / "edges.csv", index=False)
    path = tmp_path / "table.csv"
    partition(tmp_path / "edges.csv", tmp_path / "parts", parts=1, features=path, labels=path)
    graph, labels, _ = load_parts(tmp_path / "parts", SOLO)
    assert graph.features.shape == (N, 1)
    assert labels is not None
    assert labels.classes == ("0.0", "1.0")


@pytest.mark.parametrize("kind", ["codes", "intervals", "category", "indicator", "almost"])
def test_features_that_predict_labels_get_a_warning(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    values: Any = pd.Series(TRUTH).map({"red": 7.0, "green": 3.0, "blue": 4.0})
    if kind == "intervals":
        values = values + np.random.default_rng(3).random(N) * 0.9
    elif kind == "category":
        values = [name.upper() for name in TRUTH]
    elif kind == "indicator":
        values = (TRUTH == "red").astype(float)
    elif kind == "almost":
        values[:2] = 5.5
    features = pd.DataFrame({"node": NODES, "height": RNG.normal(size=N), "suspect": values})
    data = unseen.read(EDGES, features=features, labels=dict(zip(NODES, TRUTH, strict=True)))
    assert "predict the labels almost perfectly" in caplog.text
    assert "'suspect" in caplog.text
    assert "'height'" not in caplog.text
    assert data.graph.features.shape[1] >= 2


def test_few_labels_fit_a_column_by_accident(caplog: pytest.LogCaptureFixture) -> None:
    features = pd.DataFrame({"node": NODES, "height": np.arange(N) * 0.1})
    labels = {"n0": "red", "n1": "red", "n2": "blue", "n3": "blue"}
    graph = unseen.read(EDGES, features=features, labels=labels).graph
    assert graph.features.shape == (N, 1)
    assert "predict the labels" not in caplog.text
    many = {node: "low" if k < N / 2 else "high" for k, node in enumerate(NODES)}
    unseen.read_labels(many, graph)
    assert "'height'" in caplog.text


def test_another_usual_name_stays_a_feature() -> None:
    own = table("team")[["node", "team", "height"]].assign(**{"class": RNG.choice(["first", "second"], N)})
    graph = unseen.read(EDGES, features=own, labels=own, label_column="team").graph
    assert graph.feature_names == ("height", "class=first", "class=second")
