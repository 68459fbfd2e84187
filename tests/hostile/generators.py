"""Cases in any number, drawn from a seed: round trips, damaged files, and sizes that files only declare."""

from __future__ import annotations

import gzip
import io
import itertools
import struct
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
import zstandard
from pyarrow import feather

from hostile.children import Case
from hostile.truth import (
    FORMATS,
    NETWORKS,
    NO_DIRECTION,
    NUMBERED,
    UNDIRECTED,
    UNWEIGHTED,
    WRITTEN,
    canonical,
    draw_edges,
    read_by_library,
    write_by_library,
)


def _laws(rng: np.random.Generator, suffix: str) -> dict[str, bool]:
    draw = {key: bool(rng.integers(2)) for key in ("directed", "weighted", "signed", "odd")}
    draw["directed"] &= suffix not in UNDIRECTED
    draw["odd"] &= suffix not in NUMBERED
    for key in ("weighted", "signed"):
        draw[key] &= suffix not in UNWEIGHTED
    return draw


def their_files(folder: Path, count: int, seed: int = 0) -> Iterator[Case]:
    """Yield files that other libraries wrote, each with its edges; formats and kinds of graphs take turns."""
    rng = np.random.default_rng(seed)
    for k, suffix in zip(range(count), itertools.cycle(FORMATS), strict=False):
        laws = _laws(rng, suffix)
        directed = laws["directed"]
        edges = draw_edges(rng, **laws)
        own = folder / f"theirs-{k}"
        own.mkdir(parents=True)
        path = own / f"g{suffix}"
        truth = [canonical(*edge, directed=directed) for edge in edges]
        try:
            write_by_library(edges, path, directed=directed)
            is_read_back = suffix in (*NETWORKS, *WRITTEN)
            if is_read_back and sorted(read_by_library(path, directed=directed)) != sorted(truth):
                continue  # the library itself does not get its own file back
        except Exception:  # noqa: BLE001  # what the library cannot write is no case
            continue
        kinds = ", ".join(key for key, has in laws.items() if has) or "plain"
        arguments = {"edges": path.name, "directed": directed}
        yield Case(f"{suffix}, {kinds}, seed {seed}, {k}", "files of other libraries", own, arguments, truth)


def our_files(folder: Path, count: int, seed: int = 0) -> Iterator[Case]:
    """Yield graphs that unseen writes and the other library reads; a format that cannot hold one is refused."""
    rng = np.random.default_rng(seed + 1)
    for k, suffix in zip(range(count), itertools.cycle(WRITTEN), strict=False):
        laws = _laws(rng, suffix)
        own = folder / f"ours-{k}"
        own.mkdir(parents=True)
        truth = [canonical(*edge, directed=laws["directed"]) for edge in draw_edges(rng, **laws)]
        kinds = ", ".join(key for key, has in laws.items() if has) or "plain"
        name, kind = f"{suffix}, {kinds}, seed {seed}, {k}", "files of ours, read by other libraries"
        may_refuse = (laws["directed"] and suffix in NO_DIRECTION) or (
            suffix == ".net" and any({'"', "\\"} & {*src, *dst} for src, dst, _ in truth)
        )
        arguments = {"target": f"g{suffix}", "directed": laws["directed"]}
        yield Case(name, kind, own, arguments, truth, may_refuse=may_refuse, task="write")


def damaged_files(folder: Path, count: int, seed: int = 0) -> Iterator[Case]:
    """Yield whole files with bytes changed, parts cut out, doubled or moved, and ends that are missing."""
    rng = np.random.default_rng(seed + 2)
    (folder / "whole").mkdir(parents=True)
    whole: list[tuple[str, bytes]] = []
    for suffix in FORMATS:
        laws = {"directed": False, "weighted": suffix not in UNWEIGHTED}
        laws |= {"signed": False, "odd": suffix not in NUMBERED}
        path = folder / "whole" / f"g{suffix}"
        write_by_library(draw_edges(rng, **laws), path, directed=False)
        whole.append((suffix, path.read_bytes()))
    text, array = dict(whole)[".csv"], io.BytesIO()
    np.save(array, np.eye(4))
    whole += [(".csv.gz", gzip.compress(text)), (".csv.zst", zstandard.compress(text))]
    whole += [(".npy", array.getvalue()), (".svmlight", b"1 1:2 3:1.5\n0\n1 2:1\n")]
    whole += [(".lgr", b"LEDA.GRAPH\nstring\nint\n-1\n3\n|{a}|\n|{b}|\n|{c}|\n2\n1 2 0 |{4}|\n2 3 0 |{3}|\n")]
    for k, (suffix, content) in zip(range(count), itertools.cycle(whole), strict=False):
        own = folder / f"damaged-{k}"
        own.mkdir()
        (own / f"g{suffix}").write_bytes(_damage(rng, content))
        role = ("edges", "features", "labels", "nodes")[k // len(whole) % 4]
        role = "features" if suffix in (".npy", ".svmlight") else role
        (own / "e.csv").write_text("0,1\n1,2\n", encoding="ascii")
        arguments = {"edges": "e.csv", role: f"g{suffix}"}
        yield Case(f"{suffix}, seed {seed}, {k}", f"damaged {suffix}", own, arguments)


_WORDS = (
    *(b"\0", b"\xff" * 4, b"-1", b"nan", b"1e999", b"9" * 25, b"[" * 50),
    *(b"\xef\xbf\xbf", b"<!--", b"\r", b'"'),
)


def _damage(rng: np.random.Generator, content: bytes) -> bytes:
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        if not data:
            break
        at, size = int(rng.integers(len(data))), int(rng.integers(1, 17))
        part = bytes(data[at : at + size])
        kind = int(rng.integers(7))
        if kind == 0:
            data[at] = int(rng.integers(256))
        elif kind == 1:
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 2:
            del data[at : at + size]
        elif kind == 3:
            data[at:at] = part * int(rng.integers(1, 5))
        elif kind == 4:
            number = int(rng.choice([0, 1, 2**31 - 1, 2**32 - 1, 2**63 - 1, 65_536]))
            data[at : at + 8] = struct.pack("<Q", number)[: int(rng.choice([1, 2, 4, 8]))]
        elif kind == 5:
            data[at:at] = _WORDS[int(rng.integers(len(_WORDS)))]
        elif rng.integers(4) == 0:
            del data[at:]
    return bytes(data)


def declared_sizes(folder: Path, count: int, seed: int = 0) -> Iterator[Case]:
    """Yield small files that declare many rows: each is read within the bound, or refused."""
    rng = np.random.default_rng(seed + 3)
    for k, (name, make) in zip(range(count), itertools.cycle(DECLARED.items()), strict=False):
        own = folder / f"declared-{k}"
        own.mkdir(parents=True)
        n = int(10 ** rng.uniform(3, 6.7 if name in _WRITTEN_OUT else 12))
        arguments = make(own, n)
        yield Case(f"{name} of {n:,}, seed {seed}, {k}", "declared sizes", own, arguments)


_MTX = "%%MatrixMarket matrix {} real general\n"
_TEXTS = {
    "Matrix Market shape": {"g.mtx": _MTX.format("coordinate") + "{n} {n} 1\n1 2 1.0\n"},
    "Matrix Market entries": {"g.mtx": _MTX.format("coordinate") + "3 3 {n}\n1 2 1.0\n"},
    "dense Matrix Market": {"g.mtx": _MTX.format("array") + "{n} {n}\n1.0\n"},
    "OGB nodes": {"edge.csv": "0,1\n", "num-node-list.csv": "{n}\n"},
    "Pajek vertices": {"g.net": '*Vertices {n}\n1 "a"\n2 "b"\n*Edges\n1 2\n'},
}
"""Files as texts; several are one folder."""


def _write_texts(folder: Path, n: int, files: dict[str, str]) -> dict[str, Any]:
    for name, text in files.items():
        (folder / name).write_text(text.format(n=n))
    return {"edges": next(iter(files)) if len(files) == 1 else ""}


def _sparse6(folder: Path, n: int) -> dict[str, Any]:
    digits = [(n >> shift) & 63 for shift in range(30, -1, -6)]
    (folder / "g.s6").write_bytes(b">>sparse6<<:~~" + bytes(63 + each for each in digits) + b"n\n")
    return {"edges": "g.s6"}


def _npz(folder: Path, n: int) -> dict[str, Any]:
    parts = {"data": [1.0], "row": [0], "col": [1], "shape": [n, n], "format": b"coo"}
    np.savez(folder / "g.npz", **{key: np.array(value) for key, value in parts.items()})
    return {"edges": "g.npz"}


def _zeros(n: int) -> pa.Table:
    return pa.table({"src": np.zeros(n, np.int64), "dst": np.ones(n, np.int64)})


def _parquet(folder: Path, n: int) -> dict[str, Any]:
    pq.write_table(_zeros(n), folder / "g.parquet", compression="zstd")
    return {"edges": "g.parquet"}


def _parquet_texts(folder: Path, n: int) -> dict[str, Any]:
    texts = pa.array(["x" * 100, "y" * max(100, 20_000_000 // n)]).take(pa.array(np.zeros(n, np.int64)))
    pq.write_table(pa.table({"src": texts, "dst": texts}), folder / "g.parquet", compression="zstd")
    return {"edges": "g.parquet"}


def _feather(folder: Path, n: int) -> dict[str, Any]:
    feather.write_feather(_zeros(n), folder / "g.feather", compression="zstd", chunksize=n)
    return {"edges": "g.feather"}


def _feather_texts(folder: Path, n: int) -> dict[str, Any]:
    codes = pa.array(np.zeros(n, np.int32))
    texts = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 10_000]))
    table = pa.table({"src": texts, "dst": np.zeros(n, np.int64)})
    feather.write_feather(table, folder / "g.feather", compression="zstd")
    return {"edges": "g.feather"}


def _packed_text(folder: Path, n: int) -> dict[str, Any]:
    (folder / "g.csv.zst").write_bytes(zstandard.compress(b"a,b\n" * n))
    return {"edges": "g.csv.zst"}


def _duckdb(folder: Path, n: int) -> dict[str, Any]:
    with duckdb.connect(str(folder / "g.duckdb")) as database:
        database.execute(f"CREATE TABLE edges AS SELECT 0 AS src, 'b' AS dst FROM range({n})")
    return {"edges": "g.duckdb"}


def _h5ad(folder: Path, n: int) -> dict[str, Any]:
    side = int(n**0.5) + 2
    with h5py.File(folder / "g.h5ad", "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        for name in ("obs", "var"):
            group = file.create_group(name)
            group.attrs.update({"encoding-type": "dataframe", "encoding-version": "0.2.0"})
            group.attrs.update({"_index": "_index", "column-order": np.array([], dtype="S1")})
            index = group.create_dataset(
                "_index", data=np.array(["a", "b"], dtype=object), dtype=h5py.string_dtype()
            )
            index.attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})
        zeros = file.create_dataset("X", shape=(side, side), dtype="f8", chunks=(1, min(side, 10_000)))
        zeros.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
    (folder / "e.csv").write_text("a,b\n")
    return {"edges": "e.csv", "features": "g.h5ad"}


def _npz_zeros(folder: Path, n: int) -> dict[str, Any]:
    matrix = sp.csr_array((np.zeros(n), np.zeros(n, np.int32), np.array([0, n])), shape=(1, 1))
    sp.save_npz(folder / "g.npz", matrix, compressed=True)
    return {"edges": "g.npz"}


DECLARED: dict[str, Callable[[Path, int], dict[str, Any]]] = {
    **{name: partial(_write_texts, files=files) for name, files in _TEXTS.items()},
    "sparse6": _sparse6,
    "npz shape": _npz,
    "h5ad zeros": _h5ad,
    "npz zeros": _npz_zeros,
    "Parquet rows": _parquet,
    "Parquet texts": _parquet_texts,
    "Feather rows": _feather,
    "Feather texts": _feather_texts,
    "packed text": _packed_text,
    "DuckDB rows": _duckdb,
}
_WRITTEN_OUT = tuple(DECLARED)[tuple(DECLARED).index("npz zeros") :]
"""Those whose generator holds all rows once."""
