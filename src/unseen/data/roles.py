"""What columns mean: edges, nodes, labels. Each value is checked once, here, on its way in.

A weight of 0 is no edge: the ids are nodes all the same, and the report counts what was left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from unseen.data.names import (
    ANSWERS,
    HEADER_HINT,
    LABEL,
    NODE_TYPE,
    edge_columns,
    find_name,
    id_position,
    label_columns,
    lower,
    neo4j_names,
)
from unseen.data.pieces import Edges, LabelRows, NodeList, Reader
from unseen.data.sources import Role
from unseen.data.tables import MatrixBatch, Table, float_values, id_column, label_values, list_names
from unseen.errors import InputError, counted
from unseen.ids import default_ids
from unseen.labels import MISSING_WORDS, UNLABELLED
from unseen.weights import check_weights, make_symmetric


def lack_of_columns(table: Table, need: str) -> InputError:
    """Return the error for a table without the columns that its role needs; of bare text it names the first line."""
    where, have = table.source, counted(len(table.columns), "column")
    if table.names is not None:
        have = f"the columns {list_names(table.names)}"
    elif table.text:
        where = table.place(0)
    return InputError(f"{where} has {have}; {need}")


def require_numbers(matrix: MatrixBatch) -> None:
    """Raise an `InputError` unless a matrix holds real numbers."""
    if matrix.values.dtype.kind not in "fiub":
        msg = f"{matrix.source} holds values of type {matrix.values.dtype}; real numbers are needed"
        raise InputError(msg)


class EdgeReader(Reader[Edges]):
    """Edges: ``src, dst`` and perhaps ``weight``, ``type`` and ``sign``, or an adjacency matrix."""

    role: Role = "edges"

    def _piece(self, table: Table) -> Edges:
        at, weights, points = self.positions, None, None
        src, dst = table.ids(at["src"], "src"), table.ids(at["dst"], "dst")
        types = table.ids(at["type"], "type").cast(pa.large_string()) if "type" in at else None
        if "weight" in at:
            weights = float_values(table, at["weight"], "weight")
            self.report.dropped_zero += int(np.count_nonzero(weights == 0))
            weights = check_weights(
                weights, lambda row: f"{table.place(row)}: the weight is", negative="keep"
            )
        if "sign" in at:
            signs = float_values(table, at["sign"], "sign")
            wrong = np.flatnonzero(np.abs(signs) != 1)
            if len(wrong):
                msg = f"{table.place(int(wrong[0]))}: the sign is {signs[wrong[0]]:g}; it must be 1 or -1"
                raise InputError(msg)
            weights = signs if weights is None else weights * signs
        if weights is not None and self.options.drop_negative:
            self.report.dropped_negative += int(np.count_nonzero(weights < 0))
            weights = np.maximum(weights, 0.0)
        elif weights is not None and self.options.absolute:
            weights = np.abs(weights)
        if "directed" in at:
            flags = [str(value).lower() for value in table.columns[at["directed"]].to_pylist()]
            points = np.isin(flags, ["true", "1"]) if set(flags) <= {"true", "1", "false", "0"} else None
        return Edges(src, dst, weights, table.nodes, types, table.place, points)

    def _positions(self, table: Table) -> dict[str, int]:
        """Return which column is what: by their names or, in text without any, in their order."""
        width = len(table.columns)
        if table.names is None:
            if width not in (2, 3):
                need = f"without a header, edges are src, dst and perhaps weight{HEADER_HINT}"
                raise lack_of_columns(table, need)
            return dict(zip(("src", "dst", "weight"), range(width), strict=False))
        # of the attributes of a network only `weight` is one
        is_numeric = table.is_numeric if table.nodes is None else [False] * width
        positions = edge_columns(table.names, is_numeric)
        if "src" not in positions or "dst" not in positions:
            raise lack_of_columns(table, "edges need two columns of ids; --src and --dst name them")
        if "type" in positions and not pa.types.is_nested(table.columns[positions["type"]].type):
            values = {str(value).lower() for value in table.columns[positions["type"]].unique().to_pylist()}
            if values <= {"directed", "undirected"}:  # Gephi's says of each edge that it is undirected
                del positions["type"]
        directed = table.find(("directed",))
        if directed is None:
            return positions
        return {name: k for name, k in positions.items() if k != directed} | {"directed": directed}

    def _as_table(self, matrix: MatrixBatch) -> Table:
        name, values = matrix.source, matrix.values
        if values.ndim != 2 or values.shape[0] != values.shape[1]:
            msg = f"{name} has shape {values.shape}; an adjacency matrix must be square"
            raise InputError(msg)
        require_numbers(matrix)
        csr = sp.csr_array(values, dtype=np.float64)
        if not csr.has_canonical_format:
            csr = csr.copy()
            csr.sum_duplicates()
        directed = self.options.directed
        if self.options.symmetrize == "error" and not directed:
            make_symmetric(csr, "error")
        # Of a symmetric matrix one half lists every edge once; a directed one is a list of its entries.
        coo = (sp.triu(csr) if not directed and (csr != csr.T).nnz == 0 else csr).tocoo()
        nodes = id_column(default_ids(csr.shape[0]) if matrix.ids is None else matrix.ids, "ids")
        src, dst = (nodes.take(pa.array(numbers)) for numbers in (coo.row, coo.col))
        place = lambda k: f"{name}, row {coo.row[k]}, column {coo.col[k]}"  # noqa: E731
        return replace(Table.of(name, {"src": src, "dst": dst, "weight": coo.data}), place=place, nodes=nodes)


class NodeReader(Reader[NodeList]):
    """A node list: its column `node`, or its only column; perhaps a column `type`."""

    role: Role = "nodes"

    def _as_table(self, matrix: MatrixBatch) -> Table:
        msg = f"{matrix.source} holds a matrix; a node list has one column"
        raise InputError(msg)

    def _positions(self, table: Table) -> dict[str, int]:
        if not table.columns or (table.names is None and len(table.columns) > 1):
            need = "a node list has one column, or a header that names the column `node`, and perhaps `type`"
            raise lack_of_columns(table, need)
        names = neo4j_names(table.names or (), self.role)
        kind, node = find_name(names, NODE_TYPE), id_position(names)
        node = int(kind == 0 and len(names) > 1) if node is None else node
        return {"node": node} if kind in (None, node) else {"node": node, "type": kind}

    def _piece(self, table: Table) -> NodeList:
        at = self.positions
        types = table.ids(at["type"], "type").cast(pa.large_string()) if "type" in at else None
        return NodeList(table.ids(at["node"], "node"), types, table.place)


class LabelReader(Reader[LabelRows]):
    """Labels: ``node, label``, lists of labels, class numbers, or a matrix of nodes and classes."""

    role: Role = "labels"

    def label_name(self) -> str:
        """Return the name of the column of labels, in lower case, once it was opened; empty without a header."""
        names = self.batch.names
        return "" if names is None else lower(names)[self._positions(self.batch)["label"]]

    def _piece(self, table: Table) -> LabelRows:
        at = self.positions
        if table.text and table.find(("annotation_id",)) is not None:
            from unseen.data.label_studio import merge_columns

            table = merge_columns(table, at["label"])
        ids = table.ids(at["node"], "node")
        rows, names = label_values(table.columns[at["label"]], table.source)
        words = pc.is_in(names, pa.array(MISSING_WORDS, type=pa.large_string()))
        self.report.missing_words += pc.sum(words, min_count=0).as_py()
        nothing = pc.is_in(pc.utf8_lower(names), pa.array(UNLABELLED, type=pa.large_string()))
        missing = pc.or_(pc.or_(nothing, words), names.is_null())
        kept = ~np.asarray(missing.to_numpy(zero_copy_only=False), dtype=bool)
        rows, names = rows[kept], names.filter(pa.array(kept))
        answers: tuple[dict[int, str], ...] = {}, {}
        if table.find(ANSWERS) is not None:
            from unseen.data.labels_file import read_answers  # most files have labels only

            answers = read_answers(table, rows)
        hint = HEADER_HINT if table.text and table.names is None else ""
        return LabelRows(ids, rows, names, table.source, table.place, hint, *answers)

    def _positions(self, table: Table) -> dict[str, int]:
        names, width = table.names, len(table.columns)
        which = "with label_column=... (--label-column)"
        if names is not None and names[:2] == ("Id", "Label") and width > 2:
            msg = (
                f"{table.source} is a node table as Gephi writes it: its column 'Label' is a name, not a class. Say "
                f"which of {list_names(names[2:])} holds the classes {which}"
            )
            raise InputError(msg)
        unnamed = names is None or not (table.text or find_name(names, LABEL) is not None)
        if width < 2 or (unnamed and width > 2):
            need = "labels are `node, label`: write several labels of a node with | between them or in several rows"
            raise lack_of_columns(table, f"{need}, or say which column holds them {which}")
        positions = {"node": 0, "label": 1} if names is None else label_columns(names, table.is_numeric)
        known: Sequence[str] = ANSWERS
        own = lower(names or ())
        if "unseen_probability" in own:
            from unseen.data.labels_file import QUESTION_COLUMNS

            known = QUESTION_COLUMNS[2:]
        others = {name: k for k, name in enumerate(own) if name in known and k not in positions.values()}
        return positions | others

    def _as_table(self, matrix: MatrixBatch) -> Table:
        values: Any = matrix.values
        if isinstance(values, np.ndarray) and 1 in values.shape:  # one class number, or -1 or NaN, per node
            labels = pa.array(values.ravel())
        else:
            csr = sp.csr_array(values)
            csr.eliminate_zeros()
            labels = pa.LargeListArray.from_arrays(csr.indptr.astype(np.int64), csr.indices)
        return Table.of(matrix.source, {"node": np.arange(len(labels)), "label": labels})
