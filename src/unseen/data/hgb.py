"""Folders of the heterogeneous graph benchmark: ``node.dat``, ``link.dat``, ``label.dat``, and ``info.dat`` for names.

Columns are separated by tabs: number, name, type, values (nodes); from, to, type, weight (links); number, name, type,
classes (labels). Values and classes have commas between them. ``label.dat.test`` is not read: its labels are shuffled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.data.build import Report, notice
from unseen.data.options import Options
from unseen.errors import InputError, logger
from unseen.graph import Features, Graph
from unseen.labels import Labels
from unseen.relations import Relation

NODES, LINKS, LABELS, INFO = "node.dat", "link.dat", "label.dat", "info.dat"
HGB_FILES = (NODES, LINKS, LABELS)
_ZERO, _ONE, _COMMA = b"01,"
_DENSE = 0.5  # the share of entries from which on features are kept as a dense matrix


def read_hgb(folder: Path, *others: Any) -> tuple[Graph, Labels | None]:
    """Return graph and labels of a folder; `others` are further sources, which have no place here."""
    if any(other is not None for other in others):
        msg = f"{str(folder)!r} has its own nodes, features and labels; leave out `nodes`, `features` and `labels`"
        raise InputError(msg)
    if not (folder / NODES).is_file():
        msg = f"{str(folder)!r} has a {LINKS} but no {NODES}; put it there"
        raise InputError(msg)
    files = {file: (folder / file).read_bytes() for file in (*HGB_FILES, INFO) if (folder / file).is_file()}
    graph, labels = parse_hgb(files, str(folder))
    logger.info("read %r: %s", str(folder), notice(graph, labels, Report(), Options()))
    return graph, labels


def parse_hgb(files: Mapping[str, bytes], where: str) -> tuple[Graph, Labels | None]:
    """Return graph and labels of the contents of these files; node ids are the numbers."""
    names = _names(files.get(INFO, b"{}"))
    ids, codes, rows = _nodes(files[NODES], f"{where}/{NODES}")
    numbers = list(dict.fromkeys(codes))
    types = [names["nodes"].get(number, number) for number in numbers]
    code = np.array([numbers.index(each) for each in codes], dtype=np.int64)
    row_of = {number: k for k, number in enumerate(ids)}
    relations = _relations(files[LINKS], f"{where}/{LINKS}", row_of, code, types, names["links"])
    features = {types[k]: _matrix(rows[number]) for k, number in enumerate(numbers) if number in rows}
    node_types = np.array(types, dtype=object)[code]
    graph = Graph.from_relations(relations, np.array(ids, dtype=np.int64), node_types, features or None)
    if LABELS not in files:
        return graph, None
    return graph, _labels(files[LABELS], f"{where}/{LABELS}", row_of, graph, names["classes"])


def _names(content: bytes) -> dict[str, dict[str, str]]:
    """Return what ``info.dat`` calls types, links and classes, by number."""
    try:
        info = json.loads(content)
        links = {str(k): str(v["meaning"]) for k, v in info.get(LINKS, {}).get("link type", {}).items()}
        nodes = {str(k): str(v) for k, v in info.get(NODES, {}).get("node type", {}).items()}
        labelled = info.get(LABELS, {}).get("node type", {}).values()
        classes = {str(k): str(v) for each in labelled for k, v in each.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        logger.info("%s is not understood, so that types are called by their numbers", INFO)
        return {"nodes": {}, "links": {}, "classes": {}}
    return {"nodes": nodes, "links": links, "classes": classes}


def _cells(content: bytes, place: str, least: int, need: str) -> list[list[bytes]]:
    lines = [line.rstrip(b"\r").split(b"\t") for line in content.split(b"\n") if line.strip()]
    for k, cells in enumerate(lines):
        if len(cells) < least or not cells[0].isdigit():
            msg = f"{place}, line {k + 1} has {len(cells)} columns and begins with {cells[0].decode()!r}; {need}"
            raise InputError(msg)
    return lines


def _nodes(content: bytes, place: str) -> tuple[list[int], list[str], dict[str, list[npt.NDArray[Any]]]]:
    """Return numbers and types of the nodes, and the values of those types that have some."""
    lines = _cells(
        content, place, 3, "nodes are number, name, type and perhaps values, with tabs between them"
    )
    ids, codes = [int(cells[0]) for cells in lines], [cells[2].decode() for cells in lines]
    values: dict[str, list[npt.NDArray[Any]]] = {}
    first: dict[str, tuple[int, int]] = {}
    seen: dict[int, int] = {}
    for k, cells in enumerate(lines):
        if seen.setdefault(ids[k], k) != k:
            line = seen[ids[k]] + 1
            msg = (
                f"{place}, line {k + 1}: the node {ids[k]} stands in line {line} already; a node has one type"
            )
            raise InputError(msg)
        row = _values(cells[3] if len(cells) > 3 else b"", f"{place}, line {k + 1}")
        line, width = first.setdefault(codes[k], (k + 1, len(row)))
        if len(row) != width:
            msg = (
                f"{place}, line {k + 1} has {len(row)} values where line {line} has {width}; "
                "all nodes of a type have the same number, or none"
            )
            raise InputError(msg)
        if width:
            values.setdefault(codes[k], []).append(row)
    return ids, codes, values


def _values(text: bytes, place: str) -> npt.NDArray[Any]:
    """Return the numbers of a line; most are lists of 0 and 1, which are quickly read."""
    if not text:
        return np.zeros(0)
    letters = np.frombuffer(text, dtype=np.uint8)
    digits, commas = letters[::2], letters[1::2]
    if len(text) % 2 and (commas == _COMMA).all() and ((digits == _ZERO) | (digits == _ONE)).all():
        return np.asarray(digits == _ONE, dtype=np.float32)
    try:
        row = np.array(text.split(b","), dtype=np.float64)
    except ValueError:
        row = np.full(1, np.nan)
    if not np.isfinite(row).all():
        msg = f"{place}: the values are no list of finite numbers with commas between them"
        raise InputError(msg)
    return row


def _matrix(rows: list[npt.NDArray[Any]]) -> Features:
    dense = np.stack(rows)
    return dense if np.count_nonzero(dense) > _DENSE * dense.size else sp.csr_array(dense)


def _relations(
    content: bytes,
    place: str,
    row_of: Mapping[int, int],
    code: npt.NDArray[np.int64],
    types: list[str],
    names: Any,
) -> list[Relation]:
    """Return the relations; one that lists the links of another the other way round is not kept beside it."""
    n = len(code)
    lines = _cells(content, place, 4, "links are from, to, type and weight, with tabs between them")
    kinds: dict[str, list[tuple[int, int, float]]] = {}
    ends: dict[str, tuple[int, int, int]] = {}
    for k, (start, stop, kind, weight, *_) in enumerate(lines):
        try:
            i, j, w, key = row_of[int(start)], row_of[int(stop)], float(weight), kind.decode()
        except (KeyError, ValueError):
            shown = b", ".join(lines[k]).decode(errors="replace")
            msg = (
                f"{place}, line {k + 1}: {shown} is no link of two nodes of {NODES} with a type and a weight"
            )
            raise InputError(msg) from None
        if not np.isfinite(w) or w == 0:
            msg = f"{place}, line {k + 1}: the weight is {w:g}; edge weights must be finite numbers other than 0"
            raise InputError(msg)
        line, s, t = ends.setdefault(key, (k + 1, int(code[i]), int(code[j])))
        if (code[i], code[j]) != (s, t):
            msg = (
                f"{place}, line {k + 1}: the relation {names.get(key, key)!r} leads from {types[s]!r} to "
                f"{types[t]!r}, as in line {line}, but here from {types[code[i]]!r} to {types[code[j]]!r}"
            )
            raise InputError(msg)
        kinds.setdefault(key, []).append((i, j, w))
    relations: list[Relation] = []
    for key, entries in kinds.items():
        row, column, weights = (np.array(each) for each in zip(*entries, strict=True))
        _, s, t = ends[key]
        own = Relation(
            names.get(key, key),
            types[s],
            types[t],
            sp.coo_array((weights, (row, column)), shape=(n, n)),
            directed=True,
        )
        turned = own.matrix.T.tocsr()
        twin = next((each for each in relations if _equal(each.matrix, turned)), None)
        if twin is not None and (twin.source_type, twin.target_type) == (types[t], types[s]):
            logger.info(
                "%s: %r is %r the other way round, and not kept beside it", place, own.name, twin.name
            )
            continue
        directed = s == t and not _equal(own.matrix, turned)
        relations.append(Relation(own.name, own.source_type, own.target_type, own.matrix, directed))
    return relations or [Relation("link", types[0], types[0], sp.csr_array((n, n)))]


def _equal(a: sp.csr_array, b: sp.csr_array) -> bool:
    return bool(a.nnz == b.nnz and (a != b).nnz == 0)


def _labels(
    content: bytes, place: str, row_of: Mapping[int, int], graph: Graph, names: Mapping[str, str]
) -> Labels:
    lines = _cells(content, place, 4, "labels are number, name, type and classes, with tabs between them")
    values: list[list[str]] = [[] for _ in range(graph.n_nodes)]
    numbers: dict[str, None] = {}
    for k, cells in enumerate(lines):
        if int(cells[0]) not in row_of:
            msg = f"{place}, line {k + 1}: {NODES} has no node {int(cells[0])}; remove the line"
            raise InputError(msg)
        own = [each.decode() for each in cells[3].split(b",")]
        numbers |= dict.fromkeys(own)
        values[row_of[int(cells[0])]] = [names.get(each, each) for each in own]
    order = sorted(numbers, key=lambda text: (not text.isdigit(), int(text) if text.isdigit() else 0, text))
    return Labels.from_values(values, graph.node_ids, classes=[names.get(each, each) for each in order])
