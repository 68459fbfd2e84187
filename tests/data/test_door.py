"""The door keeps what it is given: nothing is lost without a word, and nothing unpacks without end."""

from __future__ import annotations

import gzip
import logging
import os
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io

import unseen
from reading import read_features
from unseen.cli.inputs import GraphFiles
from unseen.data.options import OptionNames, Options


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def pairs(graph: unseen.Graph) -> set[frozenset[str]]:
    coo = graph.adjacency.tocoo()
    return {frozenset((graph.node_ids[i], graph.node_ids[j])) for i, j in zip(coo.row, coo.col, strict=True)}


def test_every_option_is_known_to_the_functions_and_the_commands() -> None:
    names = list(Options.__dataclass_fields__)
    assert list(OptionNames.__annotations__) == names
    assert set(names) <= set(GraphFiles.__dataclass_fields__)
    assert all(name in str(unseen.read.__doc__) for name in names)


def test_ids_that_begin_with_a_hash_are_data(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    text = "# sure\n#one column\nx,#y\n#y,#z\n# c, d\n#z,#x\n#x,w\n#three,columns,here\nw,#y\n"
    data = unseen.read(write(tmp_path / "e.csv", text))
    assert pairs(data.graph) == {
        frozenset(p) for p in [("x", "#y"), ("#y", "#z"), ("#z", "#x"), ("#x", "w"), ("w", "#y")]
    }
    assert data.report.comments == 2
    assert "2 comment lines below the first line of data" in caplog.text
    labels = write(tmp_path / "l.csv", "node,label\n#y,red\n# z,blue\n")
    assert unseen.read_labels(labels, data.graph).labelled.tolist() == [1]
    assert "l.csv: 1 comment line below the first line of data" in caplog.text


def test_quoted_cells_keep_line_breaks_and_hashes(tmp_path: Path) -> None:
    text = '"a\nb",c\nd,"e\n# f"\n#x "\ng,h\n'
    graph = unseen.read_graph(write(tmp_path / "e.csv", text))
    assert graph.node_ids.tolist() == ["a\nb", "c", "d", "e\n# f", "g", "h"]


@pytest.mark.parametrize("role", ["edges", "nodes", "labels", "features"])
def test_a_quote_that_is_never_closed_is_refused_with_its_line(tmp_path: Path, role: str) -> None:
    rows = {
        "edges": "src,dst\na,b\n",
        "nodes": "node\na\n",
        "labels": "node,label\na,x\n",
        "features": "node,x\na,1\n",
    }
    sources: dict[str, Path] = {"edges": write(tmp_path / "edges.csv", rows["edges"])}
    tail = '"b\nc\n' if role == "nodes" else 'b,"1\nc,2\nd,3\n'
    sources[role] = write(tmp_path / f"{role}.csv", rows[role] + tail)
    with pytest.raises(
        unseen.InputError, match=rf"{role}\.csv', line 3: a quote opens there and is not closed"
    ):
        unseen.read(**sources)


def test_a_quote_inside_a_cell_joins_no_lines(tmp_path: Path) -> None:
    graph = unseen.read_graph(write(tmp_path / "e.csv", '5 "inch,b\nb , c\n6 "inch ,d\n'))
    assert graph.node_ids.tolist() == ['5 "inch', "b", "c", '6 "inch', "d"]
    assert graph.n_edges == 3


@pytest.mark.parametrize("blanks", [" " * 1_000_000, "\t" * 1_000_000])
def test_a_million_blanks_are_one_look(tmp_path: Path, blanks: str) -> None:
    assert unseen.read_graph(write(tmp_path / "e.txt", f"a b\nc{blanks}d\n")).n_edges == 2
    assert unseen.read_graph(write(tmp_path / "e.csv", f'a,b\nc{blanks},"d"\n')).n_edges == 2


def test_several_files_of_labels_add_up(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    edges = write(tmp_path / "e.csv", "a,b\nb,c\n")
    one = write(tmp_path / "one.csv", "node,label\na,red|blue\nb,red\n")
    two = write(tmp_path / "two.csv", "node,label\nb,blue\nc,green\na,blue|red\n")
    labels = unseen.read(edges, labels=[one, two]).labels
    assert labels is not None
    assert labels.indicator.toarray().astype(int).tolist() == [[1, 0, 1], [1, 0, 1], [0, 1, 0]]
    assert "the node 'b' is labelled red in " in caplog.text
    assert "one.csv' and blue in " in caplog.text
    assert "'a'" not in caplog.text  # the same labels twice are no contradiction
    assert unseen.read_labels([one, two], unseen.read_graph(edges)).classes == labels.classes


def test_a_label_of_a_node_that_nothing_else_names(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    edges = write(tmp_path / "e.csv", "a,b\nb,c\n")
    labels = write(tmp_path / "l.csv", "node,label\na,x\nb0b,y\nc,x\nz,x\n")
    assert unseen.read(edges, labels=labels).graph.n_nodes == 5
    sentence = r"l\.csv', line 3: the label names 'b0b', a node that has no edge; only labels name 2 nodes"
    assert "line 3: the label names 'b0b'" in caplog.text
    with pytest.raises(unseen.InputError, match=sentence):
        unseen.read(edges, labels=labels, strict=True)
    features = write(tmp_path / "f.csv", "node,x\na,1\nb,2\nc,3\n")
    with pytest.raises(
        unseen.InputError, match=r"l\.csv', line 3: .*'b0b', a node that has no edge and no features"
    ):
        unseen.read(edges, features=features, labels=labels)


def test_a_second_column_of_labels_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    labels = write(tmp_path / "l.csv", "node,label,label\na,x,y\nb,y,z\n")
    data = unseen.read(write(tmp_path / "e.csv", "a,b\n"), labels=labels)
    assert data.labels is not None
    assert data.labels.classes == ("x", "y")
    assert "l.csv: ignored column: 'label'" in caplog.text


def test_pandas_usual_header_of_vectors(tmp_path: Path) -> None:
    frame = pd.DataFrame(np.arange(6.0).reshape(2, 3), index=pd.Index(["a", "b"], name="name"))
    frame.to_csv(tmp_path / "v.csv")
    frame.rename_axis(None).to_csv(tmp_path / "w.csv")
    for name in ("v.csv", "w.csv"):
        assert unseen.read_embedding(tmp_path / name).node_ids.tolist() == ["a", "b"]
        assert read_features(tmp_path / name)[0].tolist() == ["a", "b"]  # type: ignore[union-attr]


@pytest.mark.parametrize("key", ["ids", "nodes", "node_ids"])
def test_ids_of_an_npz_by_their_usual_names(tmp_path: Path, key: str) -> None:
    np.savez(tmp_path / "f.npz", data=np.eye(2), **{key: np.array(["a", "b"])})
    assert read_features(tmp_path / "f.npz")[0].tolist() == ["a", "b"]  # type: ignore[union-attr]
    assert unseen.read_embedding(tmp_path / "f.npz").node_ids.tolist() == ["a", "b"]


def test_ids_that_stand_twice_in_an_npz_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", data=np.eye(2), ids=np.array(["a", "a"]))
    edges = write(tmp_path / "e.csv", "a,b\n")
    for sources in ({"edges": tmp_path / "x.npz"}, {"edges": edges, "features": tmp_path / "x.npz"}):
        with pytest.raises(
            unseen.InputError, match=r"ids of '.*x\.npz' must be unique, 'a' occurs more than once"
        ):
            unseen.read(**sources)


@pytest.mark.parametrize("content", ["node,label\na,x\nb,y\n", b"gzip"])
def test_pipes_are_read_once(tmp_path: Path, content: str | bytes) -> None:
    pipe = tmp_path / "labels"
    os.mkfifo(pipe)
    data = gzip.compress(b"node,label\na,x\nb,y\n") if content == b"gzip" else str(content).encode()
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    labels = unseen.read(write(tmp_path / "e.csv", "a,b\n"), labels=pipe).labels
    writer.join()
    assert labels is not None
    assert labels.classes == ("x", "y")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/stdout", "/dev/null"])
def test_devices_are_no_files(device: str) -> None:
    if not Path(device).exists():
        pytest.skip(f"there is no {device} here")
    with pytest.raises(
        unseen.InputError, match=rf"'{device}' is a device, not a file; `edges` needs a file or a pipe"
    ):
        unseen.read(device)


def bomb(path: Path) -> Path:
    """Write a small file that unpacks to 400 MB or more."""
    kind = path.suffix
    if kind == ".gz":
        with path.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=1) as file:
            for _ in range(40):
                file.write(b"a,b\n" * 2_500_000)
    elif kind == ".mat":
        scipy.io.savemat(path, {"network": np.zeros((7100, 7100))}, do_compression=True)
    elif kind == ".parquet":
        column = pa.chunked_array([pa.array(np.zeros(5_000_000, dtype=np.int64))] * 10)
        pq.write_table(pa.table({"src": column, "dst": column}), path)
    elif path.stem == "coo":
        parts = {"data": [1.0], "row": [0], "col": [1], "shape": [10**9, 10**9], "format": b"coo"}
        np.savez(path, **{key: np.array(value) for key, value in parts.items()})
    else:
        np.savez_compressed(path, data=np.zeros((7100, 7100)))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", ["e.csv.gz", "e.mat", "e.parquet", "coo.npz", "dense.npz"])
def test_small_files_that_would_take_gigabytes(tmp_path: Path, name: str) -> None:
    path = bomb(tmp_path / name)
    assert path.stat().st_size < 2_000_000
    with pytest.raises(
        unseen.InputError, match=r"needs .* of memory or more, above the bound of .*; .* max_memory="
    ):
        unseen.read(path)


def test_the_bound_on_memory_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "e.npz", data=np.eye(100))
    with pytest.raises(unseen.InputError, match=r"above `max_memory` of 10 kB"):
        unseen.read(tmp_path / "e.npz", max_memory="10kB")
    monkeypatch.setenv("UNSEEN_MAX_MEMORY", "10kB")
    with pytest.raises(unseen.InputError, match=r"above UNSEEN_MAX_MEMORY of 10 kB"):
        unseen.read(tmp_path / "e.npz")
    assert unseen.read(tmp_path / "e.npz", max_memory=1_000_000).graph.n_nodes == 100
    monkeypatch.setenv("UNSEEN_MAX_MEMORY", "much")
    with pytest.raises(
        unseen.InputError, match=r"`UNSEEN_MAX_MEMORY` takes a size such as 500MB or 2GB, got 'much'"
    ):
        unseen.read(tmp_path / "e.npz")
