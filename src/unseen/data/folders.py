"""Several files that are one source: a folder, a glob, the layout of the paper's authors, and those of benchmarks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from unseen.data.opened import data_suffix
from unseen.data.sources import (
    FEATURE_FILE,
    GRAPH_FILE,
    GROUP_FILE,
    Batches,
    Options,
    Role,
    find_file,
    format_of,
    is_pattern,
    is_same_source,
)
from unseen.data.tables import MatrixBatch, Table
from unseen.errors import InputError
from unseen.plugins import load_plugin

if TYPE_CHECKING:
    from unseen.data.intake import Data

_LAYOUTS = {
    "link.dat": "hgb",
    **{f"{part}num-node-list.csv{packed}": "ogb" for part in ("", "raw/") for packed in ("", ".gz")},
}
"""Files that tell the layout of a benchmark, which another distribution reads."""
_SYSTEM = (("/", "proc"), ("/", "sys"), ("/", "dev"))
"""Folders whose files are made up by the system when they are read."""
_PARQUET, _TABLES = (".parquet", ".pq"), (".csv", ".tsv", ".txt", ".tab")


def files_of(source: str | os.PathLike[str], role: Role) -> tuple[Path, ...]:
    """Return the files of a path: itself, those that a glob or a folder has, or one file of a known layout."""
    if is_pattern(source):
        # `**` does not enter links to folders, which may lead in circles
        pattern = Path(source, "*") if str(source).endswith("**") else Path(source)
        found = Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor)))
        hidden = str(source).startswith(".") or "/." in str(source)
        shown = [each for each in found if hidden or not any(part.startswith(".") for part in each.parts)]
        broken = next((each for each in shown if each.is_symlink() and not each.exists()), None)
        if broken is not None:
            msg = f"{str(broken)!r} links to a file that does not exist; remove it, or choose another pattern"
            raise InputError(msg)
        files = _find_regular(shown)
        if not files:
            msg = f"no file has a name like {str(source)!r}; check the pattern given as `{role}`"
            raise InputError(msg)
        return _require_one_format(files, str(source), role)
    path = find_file(source, role)
    if not path.is_dir():
        return (path,)
    own = {"edges": GRAPH_FILE, "labels": GROUP_FILE, "features": FEATURE_FILE}.get(role)
    if own is not None and (path / own).is_file():
        return (path / own,)
    layout = folder_layout(path)
    if layout is not None:
        msg = f"{str(path)!r} has the layout {layout!r}, which is read as a whole graph; name the file with the {role}"
        raise InputError(msg)
    inside = _find_regular(each for each in path.rglob("*") if not each.name.startswith("."))
    for suffixes in (_PARQUET, _TABLES):
        fitting = tuple(each for each in inside if data_suffix(each) in suffixes)
        if fitting:
            return _require_one_format(fitting, str(path), role)
    lack = "Parquet or csv files" if own is None else f"a {own} and without Parquet or csv files"
    msg = f"{str(path)!r} is a folder without {lack}; `{role}` needs a file, or a folder that has one"
    raise InputError(msg)


def folder_layout(path: Path) -> str | None:
    """Return the name of the benchmark whose layout a folder has, or None."""
    return next((layout for file, layout in _LAYOUTS.items() if (path / file).is_file()), None)


def read_layout(path: Path, layout: str, others: Iterable[Any], options: Options) -> Data:
    """Return the data of a folder in the layout of a benchmark; `others` are None, or the same folder."""
    if any(other is not None and not is_same_source(other, path) for other in others):
        msg = f"{str(path)!r} has its own nodes, features and labels; leave out `nodes`, `features` and `labels`"
        raise InputError(msg)
    return cast("Data", load_plugin("folder layout", layout)(path, options))


def _find_regular(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the regular files among paths, each file once, in the order of their names."""
    files: dict[tuple[int, int], Path] = {}
    for path in sorted(paths):
        places = (path.resolve().parts[:2], path.parent.resolve().parts[:2])
        if path.is_file() and not any(place in _SYSTEM for place in places):
            files.setdefault((path.stat().st_dev, path.stat().st_ino), path)
    return tuple(files.values())


def _require_one_format(files: tuple[Path, ...], source: str, role: Role) -> tuple[Path, ...]:
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


def _first_row(start: Table | MatrixBatch) -> tuple[str, ...] | None:
    """Return the first row of a file, or its header, if it may be one."""
    layout = start.layout if isinstance(start, Table) else None
    return None if layout is None else layout.names or layout.first
