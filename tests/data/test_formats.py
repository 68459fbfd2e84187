"""Every format: files made by the library whose it is, read as the graph they hold; the page has the table."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anndata
import duckdb
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp
import zstandard
from sklearn.datasets import dump_svmlight_file

import unseen
from hostile.truth import write_by_library
from reading import dense, write
from unseen.cli.inputs import GraphFiles
from unseen.data.convert import convert_file
from unseen.data.opened import File
from unseen.data.sources import FORMATS, Format, OptionNames, Options, Role, written_format
from unseen.data.tables import Table
from unseen.data.write import write_part
from unseen.engine.partition import partition
from unseen.errors import InputError, UnsupportedError

TOOL = Path(unseen.__file__).parents[2] / "tools" / "formats_page.py"
SUFFIXES = list(dict.fromkeys(suffix for each in FORMATS for suffix in each.suffixes))
EDGES = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "weight": [2.0, 1.0]})
LABELS = pd.DataFrame({"node": [0, 2], "label": ["red", "blue"]})
MATRIX = np.array([[0, 2.0, 0], [2, 0, 1], [0, 1, 0]])
VECTORS = np.array([[0.5, 1.0], [0.25, 2.0], [1.0, 0.0]], dtype=np.float32)
LEDA = "LEDA.GRAPH\nstring\nint\n-1\n3\n|{0}|\n|{1}|\n|{2}|\n2\n1 2 0 |{1}|\n2 3 0 |{1}|\n"


def database(path: Path, **tables: pd.DataFrame) -> Path:
    for name, frame in (tables or {"edges": EDGES}).items():
        if path.suffix == ".duckdb":
            with duckdb.connect(str(path)) as base:
                base.execute(f'CREATE TABLE "{name}" AS SELECT * FROM frame')
        else:
            with sqlite3.connect(path) as base:
                frame.to_sql(name, base, index=False)
    return path


def node_link(graph: Any, path: Path) -> None:
    write(path, json.dumps(nx.node_link_data(graph, edges="links")))


def stream(path: Path) -> None:
    table = pa.Table.from_pandas(EDGES)
    with pa.ipc.new_stream(path, table.schema) as file:
        file.write_table(table)


WORD2VEC = "3 2\n0 0.5 1.0\n1 0.25 2.0\n2 1.0 0.0\n"
ALIASES = {".tab": ".tsv", ".pq": ".parquet", ".ndjson": ".jsonl", ".pajek": ".net"}
ALIASES |= dict.fromkeys((".sqlite3", ".db"), ".sqlite")
OTHERS: dict[str, Callable[[Path], object]] = {
    **dict.fromkeys((".txt", ".edges", ".edgelists", ""), lambda path: write(path, "0 1 2.0\n1 2 1.0\n")),
    **dict.fromkeys((".w2v.txt", ".w2v", ".vec", ".emb", ".embeddings"), lambda path: write(path, WORD2VEC)),
    **dict.fromkeys((".arrow", ".ipc"), stream),
    **dict.fromkeys((".svmlight", ".svm", ".libsvm"), lambda path: dump_svmlight_file(VECTORS, np.zeros(3), str(path))),
    "group.txt": lambda path: write(path, "0 x\n1 y\n2 x\n"),
    ".npy": lambda path: np.save(path, VECTORS),
    ".lgr": lambda path: write(path, LEDA),
}  # fmt: skip
WITHOUT_WEIGHTS = (".adjlist", ".g6", ".s6", ".lgr")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_of_each_is_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / (suffix if suffix and not suffix.startswith(".") else f"sample{suffix}")
    if suffix in OTHERS:
        OTHERS[suffix](path)
    else:
        made = path.with_suffix(ALIASES.get(suffix, suffix))
        write_by_library([["0", "1", 2.0], ["1", "2", 1.0]], made, directed=False)
        made.rename(path)
    roles: Any = {role for each in FORMATS if suffix in each.suffixes for role in each.roles}
    if "edges" in roles:
        graph = unseen.read_graph(path)
        assert sorted(map(str, graph.node_ids)) == ["0", "1", "2"]
        assert graph.n_edges == 2
        assert graph.adjacency.max() == (1 if suffix in WITHOUT_WEIGHTS else 2)
    elif roles == {"vectors"}:
        assert unseen.read_embedding(path).vectors.tolist() == VECTORS.tolist()
    elif "features" in roles:
        assert np.allclose(dense(unseen.read_graph(EDGES, features=path).features), VECTORS)
    else:
        assert unseen.read_graph(EDGES, nodes=path).n_nodes == 3


@pytest.mark.skipif(not TOOL.exists(), reason="needs the source tree, this is an installed copy")
def test_the_page_has_the_table() -> None:
    spec = importlib.util.spec_from_file_location("formats_page", TOOL)
    tool: Any = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(tool)  # type: ignore[union-attr]
    page = tool.PAGE.read_text(encoding="utf-8")
    assert tool.filled(page) == page, "run tools/formats_page.py"


def test_every_option_is_known_to_the_functions_and_the_commands() -> None:
    names = list(Options.__dataclass_fields__)
    assert list(OptionNames.__annotations__) == names
    assert set(names) <= set(GraphFiles.__dataclass_fields__)
    assert all(name in str(unseen.read.__doc__) for name in names)


def read_arrows(file: File, role: Role, options: Options, n_bytes: int | None) -> Iterator[Table]:
    pairs = [line.split(" -> ") for line in file.read().decode().splitlines()]
    yield Table.of(file.name, {"src": [a for a, _ in pairs], "dst": [b for _, b in pairs]})


def write_arrows(graph: unseen.Graph, role: Role, path: Path) -> dict[Path, Callable[[Path], object]]:
    ids, upper = graph.node_ids, graph.adjacency.tocoo()
    lines = [f"{ids[i]} -> {ids[j]}\n" for i, j in zip(upper.row, upper.col, strict=True) if i <= j]
    return {path: lambda temporary: temporary.write_text("".join(lines))}


def test_one_entry_is_a_format(cli: Callable[..., Any], tmp_path: Path) -> None:
    entry = Format("arrows", (".arrows",), ("edges",), read_arrows, {"edges": write_arrows})
    FORMATS.append(entry)
    try:
        path = write(tmp_path / "g.arrows", "a -> b\nb -> c\n")
        assert unseen.read_graph(path).node_ids.tolist() == ["a", "b", "c"]
        assert partition(path, tmp_path / "parts", parts=2).n_nodes == 3
        convert_file(path, tmp_path / "g.csv")
        convert_file(tmp_path / "g.csv", tmp_path / "back.arrows")
        assert (tmp_path / "back.arrows").read_text() == "a -> b\nb -> c\n"
        with pytest.raises(InputError, match=r"use one of .*\.arrows"):
            written_format(tmp_path / "g.xyz", "edges")
        with pytest.raises(InputError, match=r"known are .*\.arrows"):
            unseen.read_graph(write(tmp_path / "g.xyz", b"\0"))
        ran = cli("embed", path, "-m", "mfdw", "--dim", "2", "-o", tmp_path / "v.csv")
        assert ran.code == 0, ran.err
    finally:
        FORMATS.remove(entry)


def test_unknown_suffixes_of_text_and_packed_files(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "unseen")
    assert unseen.read_graph(write(tmp_path / "com.ungraph", "# nodes 3\n1\t2\n2\t3\n")).n_edges == 2
    assert "the suffix '.ungraph' is not known; read as text" in caplog.text
    assert unseen.read_graph(write(tmp_path / "e.csv.zst", zstandard.compress(b"a,b\nb,c\n"))).n_edges == 2


def coloured(kind: Any) -> Any:
    graph = kind()
    for node, colour in zip("abcd", ("red", "", "blue", ""), strict=True):
        graph.add_node(node, **({"colour": colour} if colour else {}))
    graph.add_edge("a", "b", weight=2.0)
    graph.add_edge("b", "c", weight=1.0)
    return graph


@pytest.mark.parametrize("name", ["g.graphml", "g.graphml.gz", "g.gexf", "g.gml", "g.pajek", "g.json"])
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_networks_with_attributes(tmp_path: Path, name: str, kind: Any) -> None:
    path = tmp_path / name
    {"json": node_link}.get(name[2:], getattr(nx, f"write_{name.split('.')[1]}", None))(coloured(kind), path)
    data = unseen.read(path, labels=path, label_column="colour")
    assert data.graph.node_ids.tolist() == list("abcd")
    assert data.graph.adjacency.toarray()[:3, :3].tolist() == MATRIX.tolist()
    assert data.labels.to_pandas().tolist() == ["red", None, "blue", None]
    assert unseen.read_graph(EDGES, nodes=path).n_nodes == 7
    convert_file(path, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().startswith("src,dst,weight")


def test_attributes_are_asked_for(tmp_path: Path) -> None:
    path, network = tmp_path / "g.gexf", coloured(nx.Graph)
    nx.set_node_attributes(network, 1, "size")
    nx.write_gexf(network, path)
    for options, sentence in (
        ({"labels": path}, r"has the columns 'node', 'colour', 'size'; labels .*--label-column"),
        ({"label_column": "color"}, r"has no column 'color' .*--label-column.; it has 'node', 'colour'"),
        ({"weight": "w"}, r"has no column 'w' .weight=\.\.\., --weight.; it has .*'weight'"),
    ):
        with pytest.raises(InputError, match=sentence):
            unseen.read(path, **options)
    nx.write_graphml(nx.Graph([("a", "b", {"weight": "heavy"})]), tmp_path / "g.graphml")
    with pytest.raises(InputError, match="the edge 'a' - 'b': the weight is 'heavy', which is not a number"):
        unseen.read_graph(tmp_path / "g.graphml")
    with pytest.raises(UnsupportedError, match=r"GML is not packed"):
        write_part(unseen.Graph(MATRIX), "edges", tmp_path / "g.gml.gz")


@pytest.mark.parametrize("suffix", [".sqlite", ".db", ".duckdb"])
def test_tables_of_databases(tmp_path: Path, suffix: str) -> None:
    path = database(tmp_path / f"g{suffix}", links=EDGES, labels=LABELS, things=pd.DataFrame({"thing": [1]}))
    for options in ({}, {"edges_table": "links"}):
        data = unseen.read(path, labels=path, **options)
        assert data.graph.adjacency.toarray().tolist() == MATRIX.tolist()
        assert data.labels.classes == ("blue", "red")
    with pytest.raises(InputError, match=r"no table 'no' .--edges-table.; its tables are .*'links'"):
        unseen.read(path, edges_table="no")
    with pytest.raises(InputError, match="several tables that fit; its tables are 'one', 'two'; say which"):
        unseen.read(database(tmp_path / f"two{suffix}", one=EDGES, two=EDGES))
    with pytest.raises(InputError, match="is not a readable database"):
        unseen.read(write(tmp_path / f"bad{suffix}", b"SQLite format 3\0" + b"x" * 200))


def test_a_glob_and_folders_of_text(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    for k, rows in enumerate(("a,b\nb,c\n", "c,d\n", "d,e\n")):
        write(folder / f"{k}.csv", "from,to\n" + rows)
    for source in (folder, str(folder / "*.csv")):
        assert unseen.read_graph(source).node_ids.tolist() == list("abcde")
    for k in range(3):
        write(folder / f"{k}.csv", f"{k},{k + 1}\n{k},{k + 2}\n")
    assert unseen.read_graph(folder).n_edges == 6
    write(folder / "3.csv", "3,x\n4,y,z\n")
    with pytest.raises(InputError, match=r"parts.3\.csv'"):
        unseen.read_graph(folder)
    with pytest.raises(InputError, match=r"no file has a name like '.*x.csv'; check the pattern"):
        unseen.read_graph(str(folder / "*x.csv"))
    write(folder / "x.mtx", "")
    with pytest.raises(InputError, match="has files of several formats, such as"):
        unseen.read_graph(str(folder / "*"))


def test_anndata(tmp_path: Path) -> None:
    kinds = pd.Categorical(["T", None, "B"], pd.Index(["B", "T"], dtype=object))
    cells = anndata.AnnData(
        X=sp.csr_matrix(np.arange(9.0).reshape(3, 3)),
        obs=pd.DataFrame({"kind": kinds}, index=pd.Index(list("abc"), dtype=object)),
        var=pd.DataFrame(index=pd.Index(["g1", "g2", "g3"], dtype=object)),
        obsp={"connectivities": sp.csr_matrix(MATRIX)},
    )
    path = tmp_path / "cells.h5ad"
    cells.write_h5ad(path)
    data = unseen.read(path, features=path, labels=path, label_column="kind")
    assert (data.graph.node_ids.tolist(), data.graph.feature_names) == (list("abc"), ("g1", "g2", "g3"))
    assert data.graph.adjacency.toarray().tolist() == MATRIX.tolist()
    for labels in (data.labels, unseen.read(path, label_column="kind").labels):
        assert labels.to_pandas().tolist() == ["T", None, "B"]
    cells.obs["batch"] = [1, 2, 1]
    cells.write_h5ad(path)
    with pytest.raises(InputError, match=r"'kind', 'batch', 'node'; labels are .*--label-column"):
        unseen.read(path, labels=path)
    bare = anndata.AnnData(obs=cells.obs, var=cells.var[:0], obsm={"X_pca": np.eye(3), "X_umap": np.eye(3)})
    bare.write_h5ad(path)
    with pytest.raises(InputError, match="has no graph 'connectivities' in `obsp`, which has none"):
        unseen.read(path)
    graph = unseen.read_graph([("a", "b"), ("b", "c")], features=path)
    assert graph.features.tolist() == np.eye(3).tolist()


WEIGHTS = np.array([[0, 2, 0, 0], [2, 1, 3, 0], [0, 3, 0, 0], [0, 0, 0, 0]], dtype=float)
FEATURES = np.array([[1, 0, 2.5], [0, 0, 0], [0, -1, 0], [4, 0, 0]])


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix, sp.coo_array])
@pytest.mark.parametrize("symmetrize", ["max", "sum", "error"])
def test_symmetric_matrices_are_taken_as_they_are(tmp_path: Path, make: type, symmetrize: Any) -> None:
    sp.save_npz(tmp_path / "a.npz", make(WEIGHTS))
    for source in (tmp_path / "a.npz", make(WEIGHTS)):
        graph = unseen.read_graph(source, symmetrize=symmetrize)
        assert graph.adjacency.toarray().tolist() == WEIGHTS.tolist()
        assert (graph.node_ids.tolist(), graph.n_self_loops) == ([0, 1, 2, 3], 1)


def test_other_matrices_follow_the_policy() -> None:
    directed = sp.csr_array([[1.0, 5.0, 0.0], [2.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
    for symmetrize, expected in (("max", 5.0), ("sum", 7.0)):
        adjacency = unseen.read_graph(directed, symmetrize=symmetrize).adjacency.toarray()  # type: ignore[arg-type]
        assert adjacency.tolist() == [[1, expected, 0], [expected, 0, 4], [0, 4, 0]]
    with pytest.raises(InputError, match=r"not symmetric"):
        unseen.read_graph(directed, symmetrize="error")
    signed = sp.csr_array([[0, -1.0, 0], [-1.0, 0, 2.0], [0, 2.0, 0]])
    adjacency = unseen.read_graph(signed, drop_negative=True).adjacency.toarray()
    assert adjacency.tolist() == [[0, 0, 0], [0, 0, 2], [0, 2, 0]]


@pytest.mark.parametrize("network", [sp.csc_array(WEIGHTS), WEIGHTS])
def test_mat(tmp_path: Path, network: object) -> None:
    group = sp.csc_array(np.array([[1, 0, 0], [0, 0, 1], [1, 0, 1], [0, 0, 0]], dtype=float))
    content = {"network": network, "group": group, "attributes": sp.csc_array(FEATURES)}
    scipy.io.savemat(tmp_path / "b.mat", content)
    data = unseen.read(tmp_path / "b.mat", features=tmp_path / "b.mat", labels=tmp_path / "b.mat")
    assert data.graph.adjacency.toarray().tolist() == WEIGHTS.tolist()
    assert data.graph.features.toarray().tolist() == FEATURES.tolist()
    assert data.labels.to_lists() == {0: ["0"], 1: ["2"], 2: ["0", "2"]}
    scipy.io.savemat(tmp_path / "b.mat", {"network": WEIGHTS, "labels": np.array([[3], [1], [-1], [3]])})
    labels = unseen.read_labels(tmp_path / "b.mat", unseen.read_graph(tmp_path / "b.mat"))
    assert (labels.classes, labels.codes.tolist()) == (("1", "3"), [1, 0, -1, 1])


def test_integer_ids_stay_integers_and_meet_text_by_string_form(tmp_path: Path) -> None:
    edges = pd.DataFrame({"source": [10, 2], "target": [2, 7]})
    assert unseen.read_graph(edges).node_ids.tolist() == [10, 2, 7]
    graph = unseen.read_graph(edges, labels=write(tmp_path / "l.csv", "node,label\n7,x\n007,y\n"))
    assert graph.node_ids.tolist() == ["10", "2", "7", "007"]
    labels = unseen.read_labels(pa.table({"node": [7], "label": ["x"]}), unseen.read_graph(edges))
    assert labels.codes.tolist() == [-1, -1, 0]


def test_node_lists(tmp_path: Path) -> None:
    table = pa.table({"size": [1.0, 2.0], "id": [5, 4]})
    pq.write_table(table, tmp_path / "n.parquet")
    for source in (pd.Series([5, 4]), table, tmp_path / "n.parquet"):
        assert unseen.read_graph([(5, 4)], nodes=source).node_ids.tolist() == [5, 4]
    for source in (write(tmp_path / "n.txt", "n 1\na\nn 1\n"), ["n 1", "a"]):
        assert unseen.read_graph([("a", "n 1")], nodes=source).node_ids.tolist() == ["n 1", "a"]


def test_folder_of_the_authors(tmp_path: Path) -> None:
    write(tmp_path / "graph.txt", "2\t0\n0\t2\n10\t10\n")
    write(tmp_path / "group.txt", "0\t3 11\n1\t2\n2\t3\n10\t11\n")
    for edges, groups in ((tmp_path, tmp_path), (tmp_path / "graph.txt", tmp_path / "group.txt")):
        data = unseen.read(edges, labels=groups)
        assert data.graph.node_ids.tolist() == ["0", "1", "2", "10"]
        assert data.labels.classes == ("11", "2", "3")  # sorted as strings, as for every file
        assert data.labels.to_lists() == {"0": ["11", "3"], "1": ["2"], "2": ["3"], "10": ["11"]}
