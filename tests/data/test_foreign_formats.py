"""Files made by the libraries whose formats they are, read as the graph they hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import duckdb
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse as sp
import zstandard
from pyarrow import feather

import unseen
from unseen.data.convert import convert_file
from unseen.data.write import write_part
from unseen.engine.partition import partition
from unseen.errors import InputError, UnsupportedError

EDGES = pd.DataFrame({"src": ["a", "b"], "dst": ["b", "c"], "weight": [2.0, 1.0]})
LABELS = pd.DataFrame({"node": ["a", "c"], "label": ["red", "blue"]})
ADJACENCY = [[0, 2, 0, 0], [2, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]


def theirs(ids: str = "abcd", kind: Any = nx.Graph) -> Any:
    graph = kind()
    for node, colour in zip(ids, ("red", "", "blue", ""), strict=True):
        graph.add_node(node, **({"colour": colour} if colour else {}))
    graph.add_edge(ids[0], ids[1], weight=2.0)
    graph.add_edge(ids[1], ids[2], weight=1.0)
    return graph


NETWORKS: dict[str, Callable[[Any, Any], object]] = {
    "g.graphml": nx.write_graphml,
    "g.graphml.gz": nx.write_graphml,
    "g.gexf": nx.write_gexf,
    "g.gml": nx.write_gml,
    "g.net": nx.write_pajek,
    "g.json": lambda g, path: path.write_text(
        __import__("json").dumps(nx.node_link_data(g, edges="links")), encoding="utf-8"
    ),
}


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_networkx_formats(tmp_path: Path, name: str, kind: Any) -> None:
    path = tmp_path / name
    NETWORKS[name](theirs(kind=kind), path)
    data = unseen.read(path, labels=path, label_column="colour")
    assert data.graph.node_ids.tolist() == list("abcd")
    assert data.graph.adjacency.toarray().tolist() == ADJACENCY
    assert data.labels is not None
    assert data.labels.to_pandas().tolist() == ["red", None, "blue", None]
    assert unseen.read_graph(EDGES, nodes=path).n_nodes == 4


@pytest.mark.parametrize("name", NETWORKS)
def test_convert_knows_that_they_are_graphs(tmp_path: Path, name: str) -> None:
    NETWORKS[name](theirs(), tmp_path / name)
    files = convert_file(tmp_path / name, tmp_path / "out.gml")
    assert [path.name for path in files] == ["out.gml"]
    convert_file(tmp_path / "out.gml", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "src,dst,weight\na,b,2\nb,c,1\n"


def test_what_these_formats_cannot_hold(tmp_path: Path) -> None:
    graph = unseen.Graph.from_edges(["a\x07"], ["b"])
    with pytest.raises(UnsupportedError, match=r"\.gexf cannot hold the id 'a\\x07'; use \.csv or \.parquet"):
        write_part(graph, "edges", tmp_path / "g.gexf")
    with pytest.raises(UnsupportedError, match=r"GML is not packed"):
        write_part(graph, "edges", tmp_path / "g.gml.gz")


def test_lists_of_networkx(tmp_path: Path) -> None:
    nx.write_adjlist(theirs(), tmp_path / "g.adjlist")
    nx.write_multiline_adjlist(theirs(), tmp_path / "g.multiline_adjlist")
    nx.write_edgelist(theirs(), tmp_path / "g.edgelist")
    nx.write_edgelist(theirs(), tmp_path / "g.txt")
    nx.write_edgelist(theirs(), tmp_path / "g.csv", delimiter=",")
    nx.write_weighted_edgelist(theirs(), tmp_path / "plain.edgelist")
    assert unseen.read_graph(tmp_path / "g.adjlist").node_ids.tolist() == list("abcd")
    for name in ("g.multiline_adjlist", "g.edgelist", "g.txt", "g.csv", "plain.edgelist"):
        adjacency = unseen.read_graph(tmp_path / name).adjacency.toarray()
        assert adjacency[:3, :3].tolist() == [row[:3] for row in ADJACENCY[:3]]


def test_attributes_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "g.gexf"
    network = theirs()
    nx.set_node_attributes(network, 1, "size")
    nx.write_gexf(network, path)
    with pytest.raises(
        InputError, match=r"has the columns 'node', 'colour', 'size'; labels .*--label-column"
    ):
        unseen.read(path, labels=path)
    with pytest.raises(InputError, match=r"has no column 'color' .*--label-column.; it has 'node', 'colour'"):
        unseen.read(path, label_column="color")
    with pytest.raises(InputError, match=r"has no column 'w' .weight=\.\.\., --weight.; it has .*'weight'"):
        unseen.read(path, weight="w")
    nx.write_graphml(nx.Graph([("a", "b", {"weight": "heavy"})]), tmp_path / "g.graphml")
    with pytest.raises(InputError, match="the edge 'a' - 'b': the weight is 'heavy', which is not a number"):
        unseen.read_graph(tmp_path / "g.graphml")


@pytest.mark.parametrize(
    "name", ["g.graphml", "g.gexf", "g.gml", "g.json", "g.h5ad", "g.feather", "g.jsonl", "g.mtx"]
)
def test_damaged_files_get_a_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("]]<x", encoding="utf-8")
    with pytest.raises(InputError, match=rf"{name}' is (not a readable|no)"):
        unseen.read_graph(tmp_path / name)


def test_matrix_market(tmp_path: Path) -> None:
    scipy.io.mmwrite(tmp_path / "g.mtx", sp.coo_array(np.array(ADJACENCY)))
    scipy.io.mmwrite(tmp_path / "x.mtx", np.eye(4))
    data = unseen.read(tmp_path / "g.mtx", features=tmp_path / "x.mtx")
    assert data.graph.node_ids.tolist() == [0, 1, 2, 3]
    assert data.graph.adjacency.toarray().tolist() == ADJACENCY
    assert data.graph.features.tolist() == np.eye(4).tolist()


def test_feather_arrow_and_json_lines(tmp_path: Path) -> None:
    feather.write_feather(EDGES, tmp_path / "e.feather")
    table = pa.Table.from_pandas(EDGES)
    with pa.ipc.new_stream(tmp_path / "e.arrow", table.schema) as stream:
        stream.write_table(table)
    EDGES.to_json(tmp_path / "e.jsonl", orient="records", lines=True)
    LABELS.to_json(tmp_path / "l.ndjson", orient="records", lines=True)
    for name in ("e.feather", "e.arrow", "e.jsonl"):
        data = unseen.read(tmp_path / name, labels=tmp_path / "l.ndjson")
        assert data.graph.adjacency.toarray().tolist() == [row[:3] for row in ADJACENCY[:3]]
        assert data.labels is not None
        assert data.labels.to_pandas().tolist() == ["red", None, "blue"]
    embedding = unseen.Embedding([[1.0, 2.0]], ["ü"], "line", {"random_state": 3})
    embedding.save(tmp_path / "v.feather")
    back = unseen.read_embedding(tmp_path / "v.feather")
    assert back.vectors.tolist() == [[1, 2]]
    assert (back.method, back.params["random_state"]) == ("line", 3)


def test_zstd(tmp_path: Path) -> None:
    packed = zstandard.compress(b"a,b\nb,c\n" * 500)
    (tmp_path / "e.csv.zst").write_bytes(packed)
    assert unseen.read_graph(tmp_path / "e.csv.zst").n_edges == 2
    (tmp_path / "e.csv.zst").write_bytes(packed[:-9])
    with pytest.raises(InputError, match="damaged or cut-off zstd file"):
        unseen.read_graph(tmp_path / "e.csv.zst")
    (tmp_path / "e.csv.zst").write_bytes(b"a,b\n")
    with pytest.raises(InputError, match=r"is not a zstd file, though its name ends in \.zst"):
        unseen.read_graph(tmp_path / "e.csv.zst")


def fill(path: Path, tables: dict[str, pd.DataFrame]) -> Path:
    if path.suffix == ".duckdb":
        with duckdb.connect(str(path)) as database:
            for name, frame in tables.items():  # noqa: B007
                database.execute(f'CREATE TABLE "{name}" AS SELECT * FROM frame')
    else:
        with sqlite3.connect(path) as database:
            for name, frame in tables.items():
                frame.to_sql(name, database, index=False)
    return path


@pytest.mark.parametrize("suffix", [".sqlite", ".db", ".duckdb"])
def test_databases(tmp_path: Path, suffix: str) -> None:
    tables = {"links": EDGES, "labels": LABELS, "things": pd.DataFrame({"thing": [1]})}
    path = fill(tmp_path / f"g{suffix}", tables)
    for options in ({}, {"edges_table": "links"}):
        data = unseen.read(path, labels=path, **options)
        assert data.graph.adjacency.toarray().tolist() == [row[:3] for row in ADJACENCY[:3]]
        assert data.labels is not None
        assert data.labels.classes == ("blue", "red")
    with pytest.raises(InputError, match=r"no table 'no' .--edges-table.; its tables are .*'links'"):
        unseen.read(path, edges_table="no")
    two = fill(tmp_path / f"two{suffix}", {"one": EDGES, "two": EDGES})
    with pytest.raises(InputError, match="several tables that fit; its tables are 'one', 'two'; say which"):
        unseen.read(two)
    (tmp_path / f"bad{suffix}").write_bytes(b"SQLite format 3\0" + b"x" * 200)
    with pytest.raises(InputError, match="is not a readable database"):
        unseen.read(tmp_path / f"bad{suffix}")


def test_a_column_of_the_usual_name_that_is_not_asked_for_keeps_its_name(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "unseen")
    (tmp_path / "l.csv").write_text("Id,Label,Group\na,Ann,x\nb,Bob,y\n")
    labels = unseen.read([("a", "b")], labels=tmp_path / "l.csv", label_column="Group").labels
    assert labels.classes == ("x", "y")
    assert "l.csv: ignored column: 'Label'" in caplog.text


def test_a_glob_and_folders_of_text(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    for k, rows in enumerate(("a,b\nb,c\n", "c,d\n", "d,e\n")):
        (folder / f"{k}.csv").write_text("from,to\n" + rows, encoding="utf-8")
    for source in (folder, str(folder / "*.csv")):
        assert unseen.read_graph(source).node_ids.tolist() == list("abcde")
    for k in range(3):
        (folder / f"{k}.csv").write_text(f"{k},{k + 1}\n{k},{k + 2}\n", encoding="utf-8")
    assert unseen.read_graph(folder).n_edges == 6
    (folder / "3.csv").write_text("3,x\n4,y,z\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"parts.3\.csv'"):
        unseen.read_graph(folder)
    with pytest.raises(InputError, match=r"no file has a name like '.*x.csv'; check the pattern"):
        unseen.read_graph(str(folder / "*x.csv"))
    (folder / "x.mtx").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="has files of several formats, such as"):
        unseen.read_graph(str(folder / "*"))


def test_anndata(tmp_path: Path) -> None:
    cells = anndata.AnnData(
        X=sp.csr_matrix(np.arange(12.0).reshape(4, 3)),
        obs=pd.DataFrame(
            {"kind": pd.Categorical(["T", None, "B", "T"], pd.Index(["B", "T"], dtype=object))},
            index=pd.Index(list("abcd"), dtype=object),
        ),
        var=pd.DataFrame(index=pd.Index(["g1", "g2", "g3"], dtype=object)),
        obsp={"connectivities": sp.csr_matrix(np.array(ADJACENCY, dtype=float))},
    )
    path = tmp_path / "cells.h5ad"
    cells.write_h5ad(path)
    data = unseen.read(path, features=path, labels=path, label_column="kind")
    assert data.graph.node_ids.tolist() == list("abcd")
    assert data.graph.adjacency.toarray().tolist() == ADJACENCY
    assert data.graph.feature_names == ("g1", "g2", "g3")
    assert data.labels is not None
    assert data.labels.to_pandas().tolist() == ["T", None, "B", "T"]
    assert unseen.read(path, label_column="kind").labels.to_pandas().tolist() == ["T", None, "B", "T"]
    cells.obs["batch"] = [1, 2, 1, 2]
    cells.write_h5ad(path)
    with pytest.raises(
        InputError, match=r"has the columns 'kind', 'batch', 'node'; labels are .*--label-column"
    ):
        unseen.read(path, labels=path)
    bare = anndata.AnnData(obs=cells.obs, var=cells.var[:0], obsm={"X_pca": np.eye(4), "X_umap": np.eye(4)})
    bare.write_h5ad(path)
    with pytest.raises(InputError, match="has no graph 'connectivities' in `obsp`, which has none"):
        unseen.read(path)
    assert unseen.read_graph(EDGES, features=path, nodes=list("abcd")).features.tolist() == np.eye(4).tolist()


def test_unknown_suffixes_of_text(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "unseen")
    (tmp_path / "com.ungraph").write_text("# nodes 3\n1\t2\n2\t3\n", encoding="utf-8")
    assert unseen.read_graph(tmp_path / "com.ungraph").n_edges == 2
    assert "the suffix '.ungraph' is not known; read as text" in caplog.text
    (tmp_path / "g.edges2").write_bytes(b"\0\1\2")
    with pytest.raises(InputError, match=r"suffix '\.edges2', which `edges` cannot be read from"):
        unseen.read_graph(tmp_path / "g.edges2")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".tsv"])
def test_columns_by_given_names(tmp_path: Path, suffix: str) -> None:
    edges = EDGES.rename(columns={"src": "follower", "dst": "followee", "weight": "times"}).assign(weight=9.0)
    labels = LABELS.rename(columns={"node": "user", "label": "team"}).assign(label=["x", "y"], age=[1, 2])
    paths = {}
    for name, frame in (("edges", edges), ("labels", labels)):
        paths[name] = tmp_path / f"{name}{suffix}"
        if suffix == ".parquet":
            frame.to_parquet(paths[name])
        else:
            frame.to_csv(paths[name], index=False, sep="\t" if suffix == ".tsv" else ",")
    names = {
        "src": "follower",
        "dst": "followee",
        "weight": "times",
        "node_column": "user",
        "label_column": "team",
    }
    data = unseen.read(**paths, **names)  # type: ignore[arg-type]
    assert data.graph.adjacency.toarray().tolist() == [row[:3] for row in ADJACENCY[:3]]
    assert data.labels is not None
    assert data.labels.to_pandas().tolist() == ["red", None, "blue"]
    with pytest.raises(
        InputError, match=r"has no column 'fan' \(src=\.\.\., --src\); it has 'follower', 'followee'"
    ):
        unseen.read(paths["edges"], src="fan")
    with pytest.raises(InputError, match=r"has no column 'role' \(label_column=\.\.\., --label-column\)"):
        unseen.read(**paths, **{**names, "label_column": "role"})  # type: ignore[arg-type]


def test_labels_of_four_columns_ask_for_one(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("a,1,2,red\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"has 4 columns; labels are .*--label-column"):
        unseen.read(EDGES, labels=tmp_path / "l.csv")


def test_gephi_tables(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text(
        "Source,Target,Type,Id,Label,timeset,Weight\n1,2,Undirected,0,,,2.0\n", encoding="utf-8"
    )
    (tmp_path / "nodes.csv").write_text(
        "Id,Label,timeset,team\n1,Ann,,x\n2,Bob,,y\n3,Cid,,\n", encoding="utf-8"
    )
    sources = {name: tmp_path / f"{name}.csv" for name in ("edges", "nodes")}
    with pytest.raises(
        InputError, match=r"'Label' is a name, not a class.* 'timeset', 'team'.*--label-column"
    ):
        unseen.read(**sources, labels=sources["nodes"])
    data = unseen.read(**sources, labels=sources["nodes"], label_column="team")
    assert data.graph.adjacency.toarray().tolist() == [[0, 2, 0], [2, 0, 0], [0, 0, 0]]
    assert data.labels is not None
    assert data.labels.to_pandas().tolist() == ["x", "y", None]


def test_no_id_in_common_is_an_error_with_three_of_each(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("src,dst\nn1,n2\nn3,n4\n", encoding="utf-8")
    (tmp_path / "l.csv").write_text("node,label\n1,x\n2,y\n3,y\n4,x\n", encoding="utf-8")
    (tmp_path / "f.csv").write_text("node,f\n1,0\n2,0\n3,0\n4,1\n", encoding="utf-8")
    both = r"e\.csv' and .*{}\.csv' have no id in common: .* has 'n1', 'n2', 'n3', .* has '1', '2', '3'"
    for labels in (None, tmp_path / "l.csv"):
        with pytest.raises(InputError, match=both.format("f")):
            unseen.read(tmp_path / "e.csv", features=tmp_path / "f.csv", labels=labels)
    with pytest.raises(InputError, match=both.format("l")):
        unseen.read(tmp_path / "e.csv", labels=tmp_path / "l.csv")
    (tmp_path / "t.csv").write_text("node,text\n1,red chair\n2,red table\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"t\.csv' have no id in common: .* has 'n1', 'n2', 'n3', .* has '1', '2'"
    ):
        unseen.read(tmp_path / "e.csv", text=tmp_path / "t.csv")
    for kind in ("labels", "features"):
        with pytest.raises(InputError, match=both.format(kind[0])):
            partition(tmp_path / "e.csv", tmp_path / "parts", parts=1, **{kind: tmp_path / f"{kind[0]}.csv"})
    graph = unseen.read_graph(tmp_path / "e.csv")
    with pytest.raises(
        InputError, match=r"the graph and .*l\.csv' have no id in common: the graph has 'n1', 'n2', 'n3'"
    ):
        unseen.read_labels(tmp_path / "l.csv", graph)
