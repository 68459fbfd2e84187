"""Every format of the table has a file, made by the library whose it is; the page has the table."""

from __future__ import annotations

import importlib.util
import json
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
from pyarrow import feather
from sklearn.datasets import dump_svmlight_file

import unseen
from unseen.data.sources import FORMATS

TOOL = Path(unseen.__file__).parents[2] / "tools" / "formats_page.py"
SUFFIXES = list(dict.fromkeys(suffix for each in FORMATS for suffix in each.suffixes))
EDGES = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "weight": [2.0, 1.0]})
MATRIX = np.array([[0, 2.0, 0], [2, 0, 1], [0, 1, 0]])
NETWORK = nx.Graph()
NETWORK.add_weighted_edges_from(EDGES.itertuples(index=False))
VECTORS = np.array([[0.5, 1.0], [0.25, 2.0], [1.0, 0.0]], dtype=np.float32)
LEDA = "LEDA.GRAPH\nstring\nint\n-1\n3\n|{0}|\n|{1}|\n|{2}|\n2\n1 2 0 |{1}|\n2 3 0 |{1}|\n"
Make = Callable[[Path], object]


def text(separator: str, *, header: bool = True) -> Make:
    return lambda path: EDGES.to_csv(path, sep=separator, header=header, index=False)


def words(path: Path) -> None:
    rows = [" ".join(map(str, (k, *row))) for k, row in enumerate(VECTORS.tolist())]
    path.write_text("\n".join(["3 2", *rows]) + "\n", encoding="utf-8")


def database(path: Path) -> None:
    if path.suffix == ".duckdb":
        with duckdb.connect(str(path)) as base:
            base.execute("CREATE TABLE edges AS SELECT * FROM EDGES")
        return
    with sqlite3.connect(path) as base:
        EDGES.to_sql("edges", base, index=False)


def stream(path: Path) -> None:
    table = pa.Table.from_pandas(EDGES)
    with pa.ipc.new_stream(path, table.schema) as file:
        file.write_table(table)


def cells(path: Path) -> None:
    names = pd.DataFrame(index=pd.Index(list("012"), dtype=object))
    columns = pd.DataFrame(index=pd.Index([], dtype=object))
    anndata.AnnData(obs=names, var=columns, obsp={"connectivities": sp.csr_matrix(MATRIX)}).write_h5ad(path)


MAKERS: dict[str, Make] = {
    ".csv": text(","),
    **dict.fromkeys((".tab", ".tsv"), text("\t")),
    **dict.fromkeys((".txt", ".edges", ".edgelists", ""), text(" ", header=False)),
    **dict.fromkeys((".w2v.txt", ".w2v", ".vec", ".emb", ".embeddings"), words),
    "group.txt": lambda path: path.write_text("0 x\n1 y\n2 x\n", encoding="utf-8"),
    **dict.fromkeys((".parquet", ".pq"), EDGES.to_parquet),
    ".npz": lambda path: sp.save_npz(path, sp.csr_array(MATRIX)),
    ".npy": lambda path: np.save(path, VECTORS),
    ".mat": lambda path: scipy.io.savemat(path, {"network": sp.csc_matrix(MATRIX)}),
    ".mtx": lambda path: scipy.io.mmwrite(path, sp.coo_array(MATRIX)),
    ".feather": lambda path: feather.write_feather(EDGES, path),
    **dict.fromkeys((".arrow", ".ipc"), stream),
    **dict.fromkeys((".jsonl", ".ndjson"), lambda path: EDGES.to_json(path, orient="records", lines=True)),
    **{f".{name}": lambda path, name=name: getattr(nx, f"write_{name}")(NETWORK, path)
       for name in ("graphml", "gexf", "pajek", "adjlist", "multiline_adjlist", "edgelist")},
    ".gml": lambda path: nx.write_gml(nx.relabel_nodes(NETWORK, str), path),
    ".net": lambda path: nx.write_pajek(NETWORK, path),
    ".json": lambda path: path.write_text(json.dumps(nx.node_link_data(NETWORK, edges="links")), encoding="utf-8"),
    ".g6": lambda path: nx.write_graph6(NETWORK, path),
    ".s6": lambda path: nx.write_sparse6(NETWORK, path),
    ".lgr": lambda path: path.write_text(LEDA, encoding="utf-8"),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db", ".duckdb"), database),
    ".h5ad": cells,
    **dict.fromkeys((".svmlight", ".svm", ".libsvm"), lambda path: dump_svmlight_file(VECTORS, np.zeros(3), str(path))),
}  # fmt: skip
WITHOUT_WEIGHTS = (".adjlist", ".g6", ".s6", ".lgr")


def test_there_is_a_file_of_each() -> None:
    assert set(MAKERS) == set(SUFFIXES)
    assert len(MAKERS) >= 30


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_it_is_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / (suffix if suffix and not suffix.startswith(".") else f"sample{suffix}")
    MAKERS[suffix](path)
    roles: Any = {role for each in FORMATS if suffix in each.suffixes for role in each.roles}
    if "edges" in roles:
        graph = unseen.read_graph(path)
        assert sorted(map(str, graph.node_ids)) == ["0", "1", "2"]
        assert graph.n_edges == 2
        assert graph.adjacency.max() == (1 if suffix in WITHOUT_WEIGHTS else 2)
    elif roles == {"vectors"}:
        assert unseen.read_embedding(path).vectors.tolist() == VECTORS.tolist()
    elif "features" in roles:
        assert np.allclose(np.asarray(_dense(unseen.read_graph(EDGES, features=path))), VECTORS)
    else:
        assert unseen.read_graph(EDGES, nodes=path).n_nodes == 3


def _dense(graph: unseen.Graph) -> Any:
    return graph.features.toarray() if sp.issparse(graph.features) else graph.features


WRITTEN = [(suffix, each.name) for each in FORMATS if "edges" in each.writers for suffix in each.suffixes]


@pytest.mark.parametrize(("suffix", "name"), WRITTEN)
def test_it_is_written_and_read_again(tmp_path: Path, suffix: str, name: str) -> None:
    from unseen.data.write import write_part

    graph = unseen.Graph(sp.csr_array(MATRIX))
    write_part(graph, "edges", tmp_path / f"g{suffix or '.txt'}")
    back = unseen.read_graph(tmp_path / f"g{suffix or '.txt'}")
    assert back.node_ids.astype(str).tolist() == ["0", "1", "2"]
    assert (back.adjacency != graph.adjacency).nnz == 0


def test_enough_are_written() -> None:
    assert len({each.name for each in FORMATS if each.writers}) >= 12


def test_matrix_market_has_no_names(tmp_path: Path) -> None:
    from unseen.data.write import write_part

    with pytest.raises(unseen.UnsupportedError, match="Matrix Market has no ids but the row numbers"):
        write_part(unseen.Graph.from_edges(["a"], ["b"]), "edges", tmp_path / "g.mtx")
    named = unseen.Graph(np.zeros((1, 1)), [[1.0]], feature_names=["height"])
    with pytest.raises(unseen.UnsupportedError, match="Matrix Market has no names of columns"):
        write_part(named, "features", tmp_path / "x.mtx")


@pytest.mark.skipif(not TOOL.exists(), reason="needs the source tree, this is an installed copy")
def test_the_page_has_the_table() -> None:
    spec = importlib.util.spec_from_file_location("formats_page", TOOL)
    tool: Any = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(tool)  # type: ignore[union-attr]
    page = tool.PAGE.read_text(encoding="utf-8")
    assert tool.filled(page) == page, "run tools/formats_page.py"
