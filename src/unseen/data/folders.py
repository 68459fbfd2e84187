"""Several files that are one source: a folder, a glob, and the layouts of the paper's authors and of OGB."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.bounds import NODE_ROWS
from unseen.data.opened import File, data_suffix
from unseen.data.options import Options
from unseen.data.sources import (
    FEATURE_FILE,
    GRAPH_FILE,
    GROUP_FILE,
    OGB_FILES,
    Batches,
    Role,
    existing,
    format_of,
    is_pattern,
)
from unseen.data.tables import Matrix, Table
from unseen.errors import InputError, counted

_OGB = dict(zip(("edges", "nodes", "features", "labels"), OGB_FILES, strict=True))
_SYSTEM = (("/", "proc"), ("/", "sys"), ("/", "dev"))
"""Folders whose files are made up by the system when they are read."""
_PARQUET, _TABLES = (".parquet", ".pq"), (".csv", ".tsv", ".txt", ".tab")


def files_of(source: str | os.PathLike[str], role: Role) -> tuple[Path, ...]:
    """Return the files of a path: itself, those that a glob or a folder has, or one file of a known layout."""
    if is_pattern(source):
        files = _matching(str(source))
        if not files:
            msg = f"no file has a name like {str(source)!r}; check the pattern given as `{role}`"
            raise InputError(msg)
        return _alike(files, str(source), role)
    path = existing(source, role)
    if not path.is_dir():
        return (path,)
    own = {"edges": GRAPH_FILE, "labels": GROUP_FILE, "features": FEATURE_FILE}.get(role)
    if own is not None and (path / own).is_file():
        return (path / own,)
    ogb = _ogb_file(path, _OGB.get(role, ""))
    if ogb is not None and _ogb_file(ogb.parent, _OGB["nodes"]) is not None:
        return (ogb,)
    inside = _regular(each for each in path.rglob("*") if not each.name.startswith("."))
    for suffixes in (_PARQUET, _TABLES):
        fitting = tuple(each for each in inside if data_suffix(each) in suffixes)
        if fitting:
            return _alike(fitting, str(path), role)
    lack = "Parquet or csv files" if own is None else f"a {own} and without Parquet or csv files"
    msg = f"{str(path)!r} is a folder without {lack}; `{role}` needs a file, or a folder that has one"
    raise InputError(msg)


def _matching(pattern: str) -> tuple[Path, ...]:
    """Return the files whose names fit a pattern; `**` does not enter links to folders, which may lead in circles."""
    path = Path(pattern + "/*" if pattern.endswith("**") else pattern)
    start = Path(path.anchor)
    fitting = start.glob(str(path.relative_to(start)))
    hidden = pattern.startswith(".") or "/." in pattern
    shown = [each for each in fitting if hidden or not any(part.startswith(".") for part in each.parts)]
    for each in shown:
        if each.is_symlink() and not each.exists():
            msg = f"{str(each)!r} links to a file that does not exist; remove it, or choose another pattern"
            raise InputError(msg)
    return _regular(shown)


def _regular(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the regular files among paths, each file once, in the order of their names."""
    files: dict[tuple[int, int], Path] = {}
    for path in sorted(paths):
        places = (path.resolve().parts[:2], path.parent.resolve().parts[:2])
        if path.is_file() and not any(place in _SYSTEM for place in places):
            files.setdefault((path.stat().st_dev, path.stat().st_ino), path)
    return tuple(files.values())


def _alike(files: tuple[Path, ...], source: str, role: Role) -> tuple[Path, ...]:
    """Return the files if all have one format."""
    names = {format_of(each, role).name: each for each in files}
    if len(names) > 1:
        shown = " and ".join(repr(str(each)) for each in list(names.values())[:2])
        msg = f"{source!r} has files of several formats, such as {shown}; name those that hold the {role}"
        raise InputError(msg)
    return files


def with_one_header(files: Sequence[Batches]) -> Batches:
    """Yield the batches of several files of text; a first row that all have alike is the header of each.

    No edge, label or node is at the beginning of every file.
    """
    starts = [next(batches) for batches in files[:2]]
    firsts = [_first_row(start) for start in starts]
    header = firsts[0] if firsts[0] == firsts[1] else None
    for k, batches in enumerate(files):
        start = starts[k] if k < 2 else next(batches)
        if header is None or not isinstance(start, Table) or start.names or _first_row(start) != header:
            yield start
            yield from batches
            continue
        yield start.with_header(header, "the files begin with the same line")
        yield from (replace(batch, names=header) for batch in batches if isinstance(batch, Table))


def _first_row(start: Table | Matrix) -> tuple[str, ...] | None:
    """Return the first row of a file, or its header, if it may be one."""
    layout = start.layout if isinstance(start, Table) else None
    return None if layout is None else layout.names or layout.first


def read_ogb(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:
    """Yield a file of the Open Graph Benchmark's layout, or one that only has such a name, as text.

    Its files have no header and no ids: row i is node number i, and `num-node-list` says how many there are.
    """
    from unseen.data import text

    sizes = _ogb_file(file.path.parent, _OGB["nodes"])
    if sizes is None:
        yield from text.read(file, role, options, n_bytes)
        return
    counts = File(sizes, role, options.max_memory).read().split()
    if len(counts) != 1 or not counts[0].isdigit() or len(counts[0]) > 18:
        msg = f"{str(sizes)!r} must hold one number, the nodes of a single graph, got {len(counts)} entries"
        raise InputError(msg)
    n = int(counts[0])
    file.require_room(0, NODE_ROWS * n)
    numbers = pa.array(np.arange(n)).cast(pa.large_string())
    if file.path.name.lower().startswith(_OGB["nodes"]):
        yield Table.of(file.name, {"node": numbers})
        return
    plain = replace(options, header=False)
    for batch in text.read(file, role, plain, n_bytes if role == "edges" else None):
        if role == "edges":
            _require_numbers(batch, n, str(sizes))
            yield replace(batch, nodes=numbers)
            continue
        cells = [each.cast(pa.float64()).to_numpy() for each in batch.columns]
        if batch.n_rows != n:
            rows, nodes = counted(batch.n_rows, "row"), counted(n, "node")
            msg = f"{file.name} has {rows} and {str(sizes)!r} says {nodes}; they must agree"
            raise InputError(msg)
        yield Matrix(file.name, np.column_stack(cells))


def _require_numbers(edges: Table, n: int, sizes: str) -> None:
    """Refuse edges whose ends are not node numbers below `n`."""
    for column in edges.columns[:2]:
        digits = pc.match_substring_regex(column, "^(0|[1-9][0-9]{0,17})$")
        numbers = pc.if_else(digits, column, str(n)).cast(pa.int64())
        row = pc.index(pc.less(numbers, n), False).as_py()
        if row >= 0:
            node = column[row].as_py()
            msg = f"{edges.place(row)}: {node!r} is not a node; by {sizes!r} they are numbered from 0 to {n - 1}"
            raise InputError(msg)


def _ogb_file(folder: Path, name: str) -> Path | None:
    places = [folder / part / f"{name}{packed}" for part in ("", "raw") for packed in (".gz", "")]
    return next((each for each in places if each.is_file()), None)
