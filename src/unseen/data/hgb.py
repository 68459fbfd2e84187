"""Folders of the heterogeneous graph benchmark: ``node.dat``, ``link.dat``, ``label.dat``, and ``info.dat`` for names.

Columns are separated by tabs: number, name, type, values (nodes); from, to, type, weight (links); number, name, type,
classes (labels). Values and classes have commas between them. ``label.dat.test`` is not read: its labels are shuffled.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.data.options import Options
from unseen.data.read import Data, Intake
from unseen.data.tables import Table
from unseen.errors import InputError, counted, logger
from unseen.graph import Features
from unseen.ids import Array
from unseen.labels import Labels

NODES, LINKS, LABELS, INFO = "node.dat", "link.dat", "label.dat", "info.dat"
COLUMNS = {
    NODES: ("node", "name", "type", "values"),
    LINKS: ("src", "dst", "type", "weight"),
    LABELS: ("node", "name", "type", "label"),
}
_DENSE = 0.5  # the share of entries from which on features are kept as a dense matrix


def read_hgb(folder: Path, *others: Any, called: str | None = None) -> Data:
    """Return graph and labels of a folder, by its name or `called`; `others` are further sources, which are refused."""
    if any(other is not None for other in others):
        msg = f"{str(folder)!r} has its own nodes, features and labels; leave out `nodes`, `features` and `labels`"
        raise InputError(msg)
    if not (folder / NODES).is_file():
        msg = f"{str(folder)!r} has a {LINKS} but no {NODES}; put it there"
        raise InputError(msg)
    names = _names(folder / INFO)
    nodes, links = _table(folder / NODES, names["nodes"]), _table(folder / LINKS, names["links"])
    labels = [_table(folder / LABELS, {})] if (folder / LABELS).is_file() else []
    intake = Intake(links, nodes, _features(nodes) or None, labels, Options(directed=True))
    intake.edges.name = called or repr(str(folder))
    data = intake.data(settle=True)
    if data.labels is None:
        return data
    classes = tuple(names["classes"].get(each, each) for each in data.labels.classes)
    return replace(data, labels=Labels(data.labels.indicator, classes, data.labels.node_ids))


def _names(path: Path) -> dict[str, dict[str, str]]:
    """Return what ``info.dat`` calls types, links and classes, by number."""
    try:
        info = json.loads(path.read_bytes()) if path.is_file() else {}
        links = {str(k): str(v["meaning"]) for k, v in info.get(LINKS, {}).get("link type", {}).items()}
        nodes = {str(k): str(v) for k, v in info.get(NODES, {}).get("node type", {}).items()}
        labelled = info.get(LABELS, {}).get("node type", {}).values()
        classes = {str(k): str(v) for each in labelled for k, v in each.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        logger.info("%s is not understood, so that types are called by their numbers", path)
        return {"nodes": {}, "links": {}, "classes": {}}
    return {"nodes": nodes, "links": links, "classes": classes}


def _table(path: Path, types: dict[str, str]) -> Table:
    """Return the columns of one file, types by their names; nodes and the ends of links are numbers."""
    columns = COLUMNS[path.name]
    numbers = [k for k, name in enumerate(columns) if name in ("node", "src", "dst")]
    least = 3 if path.name == NODES else 4
    texts = enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), 1)
    filled = {line: text.rstrip("\r").split("\t") for line, text in texts if text.strip()}
    for line, cells in filled.items():
        if len(cells) < least or not all(_is_number(cells[k]) for k in numbers):
            msg = (
                f"{str(path)!r}, line {line} has {counted(len(cells), 'column')} and begins with {cells[0][:40]!r}; "
                f"these are needed, with tabs between them: {', '.join(columns[:least])} (nodes are numbers of up to "
                "18 digits)"
            )
            raise InputError(msg)
    rows = [[*cells, ""] for cells in filled.values()]
    values: dict[str, Any] = {name: [row[k] for row in rows] for k, name in enumerate(columns)}
    values |= {columns[k]: np.array(values[columns[k]], dtype=np.int64) for k in numbers}
    values["type"] = [types.get(each, each) for each in values["type"]]
    if path.name == LABELS:
        values = {"node": values["node"], "label": [text.replace(",", "|") for text in values["label"]]}
    table, lines = Table.of(repr(str(path)), values), list(filled)
    return replace(table, place=lambda row: f"{str(path)!r}, line {lines[row]}", text=path.name == LINKS)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 18


def _features(nodes: Table) -> dict[str, Features]:
    """Return the features of the types that have some."""
    rows: dict[str, list[Array]] = {}
    for k, (kind, text) in enumerate(zip(*(nodes.columns[j].to_pylist() for j in (2, 3)), strict=True)):
        letters = np.frombuffer(text.encode(), dtype=np.uint8)
        row = letters[::2] - np.uint8(ord("0"))  # most are lists of 0 and 1, which are quickly read
        if len(letters) % 2 == 0 or row.max() > 1 or (letters[1::2] != ord(",")).any():
            with warnings.catch_warnings(action="ignore"):  # at what is no number; the next lines find it
                row = np.fromstring(text, sep=",") if text else row[:0]  # type: ignore[assignment]
        own = rows.setdefault(kind, [])
        if len(row) != text.count(",") + bool(text) or not np.isfinite(row).all():
            msg = f"{nodes.place(k)}: the values are no list of finite numbers with commas between them"
            raise InputError(msg)
        if own and len(row) != len(own[0]):
            msg = (
                f"{nodes.place(k)} has {len(row)} values where others have {len(own[0])}; all nodes of a type have the "
                "same number, or none"
            )
            raise InputError(msg)
        own.append(row)
    dense = {key: np.stack(own) for key, own in rows.items() if len(own[0])}
    return {
        key: each if np.count_nonzero(each) > _DENSE * each.size else sp.csr_array(each)
        for key, each in dense.items()
    }
