"""Files that networkx reads and writes: GraphML, GEXF, GML, Pajek and others.

Nodes and edges become tables with a column for each of their attributes; their meaning is found as for any table.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from unseen.data.objects import network_table, to_networkx
from unseen.data.opened import File, data_suffix, require_depth
from unseen.data.sources import Batches, Options, Role
from unseen.data.tables import explain_errors
from unseen.data.writers import Files, require_plain
from unseen.errors import InputError, UnsupportedError, counted, need_library
from unseen.graph import Graph

_NAMES = {".net": "pajek", ".g6": "graph6", ".s6": "sparse6", ".lgr": "leda"}
"""What networkx calls a format in the names of its functions, where that is not the suffix."""
_PAJEK = (".net", ".pajek")
_PLAIN_EDGES = (".gexf", *_PAJEK)
"""Formats in which an edge has a weight, but no attributes `type` and `directed`."""
_NAMES_ITS_NODES = (".gexf", ".gml", *_PAJEK)
"""Formats in which the `label` of a node is its name, not its class."""
_SAYS_NO_DIRECTION = (".adjlist", ".multiline_adjlist")
"""Formats whose files do not say whether edges point; in all others it is written."""
_NETWORKX_NODE, _LONGEST_LINE = 300, 100_000
"""Bytes that networkx takes for a node, and letters of a line of Pajek that it reads in less than a second."""


def read(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:  # noqa: ARG001
    """Yield the edges of a file with all its nodes, or its nodes with their attributes."""
    data = file.read()
    if role == "labels" and file.suffix == ".json" and data.lstrip()[:1] == b"[":
        from unseen.data.label_studio import read_export

        with explain_errors(file, file.suffix):
            _require_bounded(file, data)
            yield read_export(json.loads(data), file.name, options.label_column)
        return
    graph = parse_network(file, directed=options.directed, data=data)
    if options.directed and not graph.is_directed():  # the file says so, and the order of ends is lost
        need_library("networkx", file.name, "formats").set_edge_attributes(graph, False, "directed")
    named = file.suffix in _NAMES_ITS_NODES and options.label_column != "label"
    without = ("label",) if named else ()
    yield network_table(graph, role, file.name, weight=options.weight, without=without)


def parse_network(file: File, *, directed: bool = False, data: bytes | None = None) -> Any:
    """Return the networkx graph of a file, whose content may have been read already."""
    networkx = need_library("networkx", file.name, "formats")
    data = file.read() if data is None else data
    with explain_errors(file, file.suffix):
        _require_bounded(file, data)
        if file.suffix == ".json":
            content = json.loads(data)
            if not isinstance(content, dict) or "nodes" not in content:
                rule = "node-link JSON has 'nodes' and 'links' (or 'edges')"
                msg = f"{rule}; a file of records is JSON lines, .jsonl"
                raise ValueError(msg)
            return networkx.node_link_graph(content, edges="links" if "links" in content else "edges")
        if file.suffix in _PAJEK:
            data = b"\n".join(_escape_pajek(line) for line in data.split(b"\n"))
        parse = getattr(networkx, f"read_{_NAMES.get(file.suffix, file.suffix[1:])}")
        points = directed and file.suffix in _SAYS_NO_DIRECTION
        try:
            graph = parse(io.BytesIO(data), **({"create_using": networkx.DiGraph} if points else {}))
        except networkx.NetworkXError as error:
            if file.suffix != ".gml" or "label" not in str(error):
                raise
            graph = parse(io.BytesIO(data), label="id")  # nodes without names, or with one name for several
    if isinstance(graph, list):  # graph6 and sparse6 have one graph in each line
        msg = f"{file.name} has {counted(len(graph), 'graph')}; write one graph to a file"
        raise InputError(msg)
    return graph


def _require_bounded(file: File, data: bytes) -> None:
    """Refuse files of this size that would take far more memory or time than others."""
    if file.suffix == ".json":
        require_depth(file.name, data)
    elif file.suffix in (".g6", ".s6"):
        for line in data.split(b"\n"):
            start = line.removeprefix(b">>graph6<<").removeprefix(b">>sparse6<<").removeprefix(b":")
            if any(not 63 <= letter <= 126 for letter in start.strip()):
                msg = "it has letters that the format does not use"
                raise ValueError(msg)
            digits = start[2:8] if start[:2] == b"~~" else start[1:4] if start[:1] == b"~" else start[:1]
            n = sum(digit - 63 << 6 * k for k, digit in enumerate(reversed(digits)))
            file.require_room(_NETWORKX_NODE * n, n)
    elif file.suffix in _PAJEK and max(map(len, data.split(b"\n"))) > _LONGEST_LINE:
        msg = f"{file.name} has a line of more than {_LONGEST_LINE:,} letters, which takes long to read; use .graphml"
        raise InputError(msg)


def _escape_pajek(line: bytes) -> bytes:
    r"""Return a line of Pajek as networkx reads it: by the rules of a shell, in which ' and \ have a meaning."""
    parts = [part.replace(b"\\", b"\\\\") for part in line.split(b'"')]
    parts[::2] = [part.replace(b"'", b"\\'") for part in parts[::2]]
    return b'"'.join(parts)


def write(graph: Graph, role: Role, path: Path) -> Files:  # noqa: ARG001
    """Write a graph's nodes, edges and weights; features and labels have files of their own."""
    suffix = data_suffix(path)
    networkx = need_library("networkx", suffix, "formats")
    if suffix in _PLAIN_EDGES:
        require_plain(graph, path, suffix)
    forbidden = {'"', "\\"} if suffix in _PAJEK else set()
    names = ((each, str(each)) for each in graph.node_ids.tolist())
    odd = next((each for each, name in names if not name.isprintable() or forbidden & set(name)), None)
    if odd is not None:  # XML has no control characters
        msg = f"{path}: {suffix} cannot hold the id {odd!r}; use .csv or .parquet"
        raise UnsupportedError(msg)
    if suffix in _PAJEK:  # networkx writes names without quotes, and cannot read all of these
        nodes = (f'{k} "{node}"' for k, node in enumerate(graph.node_ids.tolist(), 1))
        coo = graph.relations[0].entries.tocoo()
        ends = zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True)
        edges = (f"{i + 1} {j + 1} {weight}" for i, j, weight in ends)
        text = "\n".join([f"*vertices {graph.n_nodes}", *nodes, "*edges", *edges, ""])
        return {path: lambda temporary: temporary.write_text(text, encoding="utf-8") and None}
    theirs = to_networkx(graph, features=None)
    if all((relation.matrix.data == 1).all() for relation in graph.relations):
        for _, _, data in theirs.edges(data=True):
            del data["weight"]
    if suffix == ".json":
        text = json.dumps(networkx.node_link_data(theirs, edges="links"))
        return {path: lambda temporary: temporary.write_text(text, encoding="utf-8") and None}
    if suffix == ".gml" and graph.node_ids.dtype == int:
        theirs = networkx.relabel_nodes(theirs, str)
    name = _NAMES.get(suffix, suffix[1:])
    return {path: lambda temporary: getattr(networkx, f"write_{name}")(theirs, str(temporary))}
