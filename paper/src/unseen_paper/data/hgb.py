"""Folders of the heterogeneous graph benchmark: ``node.dat``, ``link.dat``, ``label.dat``, and ``info.dat`` for names.

Columns are separated by tabs: number, name, type, values (nodes); from, to, type, weight (links); number, name, type,
classes (labels). Values and classes have commas between them. ``label.dat.test`` is not read: its labels are shuffled.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.data.build import Report
from unseen.data.intake import Data
from unseen.data.sources import Options
from unseen.errors import InputError, counted, logger
from unseen.graph import Features, Graph
from unseen.ids import Array, Ints
from unseen.labels import Labels
from unseen.relations import infer_directions
from unseen.weights import Relation

NODES, LINKS, LABELS, INFO = "node.dat", "link.dat", "label.dat", "info.dat"
COLUMNS = {
    NODES: ("node", "name", "type"),
    LINKS: ("src", "dst", "type", "weight"),
    LABELS: ("node", "name", "type", "label"),
}
Rows = dict[str, list[str]]
"""The cells of each line, by its place: ``'node.dat', line 3``."""
_DENSE = 0.5  # the share of entries from which on features are kept as a dense matrix


def read_folder(folder: Path, options: Options | None = None) -> Data:  # noqa: ARG001
    """Return graph and labels of a folder."""
    if not (folder / NODES).is_file():
        msg = f"{str(folder)!r} has a {LINKS} but no {NODES}; put it there"
        raise InputError(msg)
    names = _read_names(folder / INFO)
    nodes = _read_rows(folder / NODES)
    numbers: dict[int, int] = {}
    for place, cells in nodes.items():
        if int(cells[0]) in numbers:
            msg = f"{place}: the node {cells[0]} is listed a second time; leave out one of the lines"
            raise InputError(msg)
        numbers[int(cells[0])] = len(numbers)
    types = [names["nodes"].get(cells[2], cells[2]) for cells in nodes.values()]
    relations = _read_relations(_read_rows(folder / LINKS), numbers, types, names["links"])
    ids = np.array(list(numbers), dtype=np.int64)
    graph = Graph.from_relations(
        infer_directions(relations), ids, types, _read_features(nodes, types) or None
    )
    labels = None
    if (folder / LABELS).is_file():
        labels = _read_labels(_read_rows(folder / LABELS), numbers, graph, names["classes"])
    logger.info("read %s: %s, %s", folder, graph, labels or "no labels")
    return Data(graph, labels, Report())


def _read_names(path: Path) -> dict[str, dict[str, str]]:
    """Return what ``info.dat`` calls types, links and classes, by number."""
    try:
        info = json.loads(path.read_bytes()) if path.is_file() else {}
        links = {str(k): str(v["meaning"]) for k, v in info.get(LINKS, {}).get("link type", {}).items()}
        nodes = {str(k): str(v) for k, v in info.get(NODES, {}).get("node type", {}).items()}
        labelled = info.get(LABELS, {}).get("node type", {}).values()
        classes = {str(k): str(v) for each in labelled for k, v in each.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        logger.info("%s cannot be understood; types are called by their numbers", path)
        return {"nodes": {}, "links": {}, "classes": {}}
    return {"nodes": nodes, "links": links, "classes": classes}


def _read_rows(path: Path) -> Rows:
    """Return the cells of one file; nodes and the ends of links are numbers of up to 18 digits."""
    columns = COLUMNS[path.name]
    numbers = [k for k, name in enumerate(columns) if name in ("node", "src", "dst")]
    rows: Rows = {}
    for line, text in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), 1):
        if not text.strip():
            continue
        cells = text.rstrip("\r").split("\t")
        is_whole = len(cells) >= len(columns)
        if not is_whole or not all(
            cells[k].isascii() and cells[k].isdecimal() and len(cells[k]) < 19 for k in numbers
        ):
            msg = (
                f"{str(path)!r}, line {line} has {counted(len(cells), 'column')} and begins with {cells[0][:40]!r}; "
                f"these are needed, with tabs between them: {', '.join(columns)} (nodes are numbers of up to 18 digits)"
            )
            raise InputError(msg)
        rows[f"{str(path)!r}, line {line}"] = cells
    return rows


def _find_node(place: str, text: str, numbers: Mapping[int, int]) -> int:
    number = numbers.get(int(text))
    if number is None:
        msg = f"{place}: the node {text} is not in {NODES}; add it there"
        raise InputError(msg)
    return number


def _read_relations(
    links: Rows, numbers: Mapping[int, int], types: Sequence[str], names: Mapping[str, str]
) -> list[Relation]:
    """Return a relation for each type of links; all of its links lead from one type of nodes to one other."""
    entries: dict[str, list[tuple[int, int, float]]] = {}
    for place, cells in links.items():
        src, dst = (_find_node(place, cell, numbers) for cell in cells[:2])
        try:
            weight = float(cells[3])
        except ValueError:
            msg = f"{place}: the weight is {cells[3]!r}, which is not a number"
            raise InputError(msg) from None
        own = entries.setdefault(cells[2], [])
        own.append((src, dst, weight))
        first = own[0]
        wanted, came = ((types[a], types[b]) for a, b in (first[:2], (src, dst)))
        if wanted != came:
            msg = (
                f"{place}: the relation {names.get(cells[2], cells[2])!r} leads from {wanted[0]!r} to {wanted[1]!r}, "
                f"but here from {came[0]!r} to {came[1]!r}; give these links another type"
            )
            raise InputError(msg)
    relations = []
    for key, own in entries.items():
        rows, columns, weights = map(np.array, zip(*own, strict=True))
        matrix = sp.coo_array((weights, (rows, columns)), shape=(len(types),) * 2)
        ends = types[own[0][0]], types[own[0][1]]
        relations.append(Relation(names.get(key, key), *ends, matrix, directed=True))
    return relations


def _read_features(nodes: Rows, types: Sequence[str]) -> dict[str, Features]:
    """Return the features of the types that have some."""
    rows: dict[str, list[Array]] = {}
    for (place, cells), kind in zip(nodes.items(), types, strict=True):
        text = cells[3] if len(cells) > 3 else ""
        letters = np.frombuffer(text.encode(), dtype=np.uint8)
        row: Any = letters[::2] - np.uint8(ord("0"))  # most are lists of 0 and 1, which are quickly read
        if len(letters) % 2 == 0 or row.max() > 1 or (letters[1::2] != ord(",")).any():
            with warnings.catch_warnings(action="ignore"):  # the next lines find what is not a number
                row = np.fromstring(text, sep=",") if text else row[:0]
        own = rows.setdefault(kind, [])
        if len(row) != text.count(",") + bool(text) or not np.isfinite(row).all():
            msg = f"{place}: the values are not a list of finite numbers with commas between them"
            raise InputError(msg)
        if own and len(row) != len(own[0]):
            msg = (
                f"{place} has {counted(len(row), 'value')} where others have {len(own[0])}; all nodes of a type have "
                "the same number, or none"
            )
            raise InputError(msg)
        own.append(row)
    dense = {key: np.stack(own) for key, own in rows.items() if len(own[0])}
    return {
        key: each if np.count_nonzero(each) > _DENSE * each.size else sp.csr_array(each)
        for key, each in dense.items()
    }


def _read_labels(rows: Rows, numbers: Mapping[int, int], graph: Graph, names: Mapping[str, str]) -> Labels:
    nodes: Ints = np.array(
        [_find_node(place, cells[0], numbers) for place, cells in rows.items()], dtype=np.int64
    )
    values: list[list[str]] = [[] for _ in numbers]
    for node, cells in zip(nodes.tolist(), rows.values(), strict=True):
        values[node] += cells[3].split(",")
    classes = sorted({each for own in values for each in own})
    labels = Labels.from_values(values, graph.node_ids, classes=classes)
    return Labels(labels.indicator, tuple(names.get(each, each) for each in classes), graph.node_ids)
