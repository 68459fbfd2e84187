"""What columns mean: edges, nodes, features, labels. Each value is checked once, here, on its way in.

A weight of 0 is no edge: the ids are nodes all the same, and the report counts what was left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from unseen.data.build import Report
from unseen.data.columns import (
    filled_cells,
    float_values,
    id_values,
    label_values,
    listed,
    name_values,
)
from unseen.data.headers import (
    ANSWER,
    EDGE_COLUMNS,
    HEADER_HINT,
    LABEL,
    NODE_TYPE,
    REASON,
    edge_pair,
    id_position,
    lower,
    neo4j_names,
)
from unseen.data.ids import id_column
from unseen.data.options import Options
from unseen.data.pieces import Edges, FeatureRows, LabelRows, NodeList, Reader
from unseen.data.sources import Role
from unseen.data.tables import Matrix, Table
from unseen.errors import InputError
from unseen.ids import (
    MISSING_WORDS,
    UNLABELLED,
    Floats,
    Ints,
    checked_weights,
    default_ids,
    symmetric,
)
from unseen.labels import ANSWERS, CHECKED, doubted_label


def lack_of_columns(table: Table, need: str) -> InputError:
    """Return the error for a table without the columns that its role needs; of bare text it names the first line."""
    where, width = table.source, len(table.columns)
    have = "one column" if width == 1 else f"{width} columns"
    if table.names is not None:
        have = f"the columns {listed(table.names)}"
    elif table.text:
        where = table.first.place if table.first is not None else table.place(0)
    return InputError(f"{where} has {have}; {need}")


def require_numbers(matrix: Matrix) -> None:
    """Raise an `InputError` unless a matrix holds real numbers."""
    if matrix.values.dtype.kind not in "fiub":
        msg = f"{matrix.source} holds values of type {matrix.values.dtype}; real numbers are needed"
        raise InputError(msg)


def _names_types(column: pa.ChunkedArray) -> bool:
    """Return whether a column called `type` names relations: Gephi's says of each edge that it is undirected."""
    if pa.types.is_nested(column.type):
        return False
    return bool({str(value).lower() for value in column.unique().to_pylist()} - {"directed", "undirected"})


class EdgeReader(Reader[Edges]):
    """Edges: ``src, dst`` and perhaps ``weight``, ``type`` and ``sign``, or an adjacency matrix."""

    role: Role = "edges"

    def _ids(self, table: Table) -> list[pa.Array]:
        positions = self._positions(table)
        return [id_values(table, positions[end], end) for end in ("src", "dst")]

    def _piece(self, table: Table, ids: list[pa.Array]) -> Edges:
        positions = self._positions(table)
        types = name_values(table, positions["type"], "type") if "type" in positions else None
        weights = self._weights(table, positions)
        column = table.find(("directed",))
        flags = None if column is None else table.columns[column]
        points = flags.to_numpy() if flags is not None and pa.types.is_boolean(flags.type) else None
        return Edges(ids[0], ids[1], weights, table.nodes, types, table.place, points)

    def _weights(self, table: Table, positions: dict[str, int]) -> Floats | None:
        """Return the weights with their signs, and count what is left out."""
        weights = None
        if "weight" in positions:
            listed_weights = float_values(table, positions["weight"], "weight")
            self.report.dropped_zero += int(np.count_nonzero(listed_weights == 0))
            weights = checked_weights(
                listed_weights, lambda row: f"{table.place(row)}: the weight is", negative="keep"
            )
        if "sign" in positions:
            signs = float_values(table, positions["sign"], "sign")
            wrong = np.flatnonzero(np.abs(signs) != 1)
            if len(wrong):
                msg = f"{table.place(int(wrong[0]))}: the sign is {signs[wrong[0]]:g}; it must be 1 or -1"
                raise InputError(msg)
            weights = signs if weights is None else weights * signs
        if weights is None:
            return None
        if self.options.drop_negative:
            self.report.dropped_negative += int(np.count_nonzero(weights < 0))
        return checked_weights(weights, "{}".format, negative=self.options.negative)

    def _positions(self, table: Table) -> dict[str, int]:
        """Return where the columns of `EDGE_COLUMNS` stand, by their names or, in text without any, in their order."""
        table = replace(table, names=table.names and tuple(neo4j_names(table.names, self.role)))
        named = {column: table.find(names) for column, names in EDGE_COLUMNS.items()}
        if named["type"] is not None and not _names_types(table.columns[named["type"]]):
            named["type"] = None
        pair = edge_pair(lower(table.names or ()))
        if pair is not None and None in (named["src"], named["dst"]):
            named |= {"src": pair[0], "dst": pair[1]}
        positions = {column: k for column, k in named.items() if k is not None}
        if "src" in positions and "dst" in positions:
            self._say_unused(table, positions.values())
            return positions
        if not table.text:
            need = "edges need `src` and `dst`, `weight` and `type` are optional; --src and --dst name other columns"
            raise lack_of_columns(table, need)
        width = len(table.columns)
        if width not in (2, 3):
            raise lack_of_columns(
                table,
                "edges are `src, dst` and perhaps `weight`: remove other columns, or name these in a header line "
                "(other names: --src, --dst, --weight)",
            )
        return dict(zip(EDGE_COLUMNS, range(width), strict=False))

    def _as_table(self, matrix: Matrix) -> Table:
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
            symmetric(csr, "error")
        # Of a symmetric matrix one half lists every edge once; a directed one is a list of its entries.
        undirected = not directed and (csr != csr.T).nnz == 0
        coo = (sp.triu(csr) if undirected else csr).tocoo()
        nodes = id_column(default_ids(csr.shape[0]) if matrix.ids is None else matrix.ids, "ids")
        src, dst = (nodes.take(pa.array(numbers)) for numbers in (coo.row, coo.col))
        place = lambda k: f"{name}, row {coo.row[k]}, column {coo.col[k]}"  # noqa: E731
        return replace(Table.of(name, {"src": src, "dst": dst, "weight": coo.data}), place=place, nodes=nodes)


class NodeReader(Reader[NodeList]):
    """A node list: its column `node`, or its only column; perhaps a column `type`."""

    role: Role = "nodes"

    def _ids(self, batch: Table | Matrix) -> list[pa.Array]:
        if isinstance(batch, Matrix):
            msg = f"{batch.source} holds a matrix; a node list has one column"
            raise InputError(msg)
        index = id_position(neo4j_names(batch.names or (), self.role))
        if index is None and len(batch.columns) != 1:
            need = "a node list has one column, or a header that names the column `node`, and perhaps `type`"
            raise lack_of_columns(batch, need)
        return [id_values(batch, index or 0, "node")]

    def _piece(self, batch: Table, ids: list[pa.Array]) -> NodeList:
        names = lower(neo4j_names(batch.names or (), self.role))
        column = next((names.index(name) for name in NODE_TYPE if name in names), None)
        types = None if column is None else name_values(batch, column, "type")
        return NodeList(ids[0], types, batch.place)


class LabelReader(Reader[LabelRows]):
    """Labels: ``node, label``, lists of labels, class numbers, or a matrix of nodes and classes."""

    role: Role = "labels"

    def label_name(self) -> str:
        """Return the name of the column of labels, in lower case, once it was read; empty without a header."""
        names = self._loaded.names
        return "" if names is None else lower(names)[self._positions(self._loaded)[1]]

    def _ids(self, table: Table) -> list[pa.Array]:
        return [id_values(table, self._positions(table)[0], "node")]

    def _piece(self, table: Table, ids: list[pa.Array]) -> LabelRows:
        rows, names = label_values(table.columns[self._positions(table)[1]], table.source)
        hint = HEADER_HINT if table.text and table.names is None else ""
        piece = self._without_missing(LabelRows(ids[0], rows, names, table.source, table.place, hint))
        answers, asked = self._answers(table, piece.rows), table.find(REASON)
        if asked is None or table.find(ANSWER) is None:
            return replace(piece, answers=answers)
        # a table of questions: what it answers is settled, and a label in doubt is replaced
        reasons = filled_cells(table.columns[asked])
        instead = {row: label for row, reason in reasons.items() if (label := doubted_label(reason))}
        answers |= dict.fromkeys([*piece.rows.tolist(), *(answers.keys() & instead)], CHECKED)
        return replace(piece, answers=answers, instead=instead)

    def _answers(self, table: Table, labelled: Ints) -> dict[int, str]:
        """Return the rows without a label whose column ``answer`` says ``skip``, ``unknown`` or ``checked``."""
        column = table.find(ANSWER)
        if column is None or table.find(LABEL) is None:
            return {}
        cells, has_label = filled_cells(table.columns[column]), set(labelled.tolist())
        answers = {row: cell.lower() for row, cell in cells.items() if row not in has_label}
        for row, answer in answers.items():
            if answer not in (*ANSWERS, CHECKED):
                where = f"{table.place(row)}: the answer is {answer!r}"
                msg = f"{where}; it may be skip or unknown, and a class belongs in the column `label`"
                raise InputError(msg)
        return answers

    def _positions(self, table: Table) -> tuple[int, int]:
        node, label, width = id_position(table.names or ()), table.find(LABEL), len(table.columns)
        if table.names is not None and table.names[:2] == ("Id", "Label") and width > 2:
            msg = (
                f"{table.source} is a node table as Gephi writes it: its column 'Label' is a name, not a class. Say "
                f"which of {listed(table.names[2:])} holds the classes with label_column=... (--label-column)"
            )
            raise InputError(msg)
        if node is not None and label is not None:
            self._say_unused(table, (node, label, table.find(ANSWER), table.find(REASON)))
            return node, label
        if node is not None and width == 2:
            return node, 1 - node
        if not table.text:
            need = "labels need `node` and `label`; say which they are with --node-column and --label-column"
            raise lack_of_columns(table, need)
        if width != 2:
            raise lack_of_columns(
                table,
                "labels are `node, label`: write several labels of a node with | between them or in several rows, "
                "or say which column holds them with label_column=... (--label-column)",
            )
        return (1, 0) if node == 1 or label == 0 else (0, 1)

    def _as_table(self, matrix: Matrix) -> Table:
        values: Any = matrix.values
        if isinstance(values, np.ndarray) and 1 in values.shape:  # one class number, or -1 or NaN, per node
            labels = pa.array(values.ravel())
        else:
            csr = sp.csr_array(values)
            csr.eliminate_zeros()
            labels = pa.LargeListArray.from_arrays(csr.indptr.astype(np.int64), csr.indices)
        return Table.of(matrix.source, {"node": np.arange(len(labels)), "label": labels})

    def _without_missing(self, piece: LabelRows) -> LabelRows:
        """Leave out what means "no label": nothing at all, NaN, -1, and words such as ``NA``, which are counted."""
        nothing = pc.is_in(pc.utf8_lower(piece.names), pa.array(UNLABELLED, type=pa.large_string()))
        words = pc.is_in(piece.names, pa.array(MISSING_WORDS, type=pa.large_string()))
        self.report.missing_words += pc.sum(words, min_count=0).as_py()
        missing = pc.or_(pc.or_(nothing, words), piece.names.is_null())
        kept = ~np.asarray(missing.to_numpy(zero_copy_only=False), dtype=bool)
        return replace(piece, rows=piece.rows[kept], names=piece.names.filter(pa.array(kept)))


class TextReader(LabelReader):
    """Texts: ``node, text``, read as labels are; several columns of text are one, columns of labels are left out."""

    def __init__(self, source: Any, options: Options | None = None, report: Report | None = None) -> None:
        super().__init__(source, options, report)
        self.label_names = self.options.label_names

    def _piece(self, table: Table, ids: list[pa.Array]) -> Any:
        from unseen.data.leaks import feature_positions

        node = self._positions(table)[0]
        columns = [k for k in range(len(table.columns)) if k != node]
        columns = feature_positions(table, columns, ids[0], self.label_names)
        texts = [table.columns[k].to_pylist() for k in columns]
        cells = [" ".join(str(cell) for cell in row if cell is not None) for row in zip(*texts, strict=True)]
        return FeatureRows(ids[0], np.array(cells, dtype=object)[:, None], None, table.source)

    def _positions(self, table: Table) -> tuple[int, int]:
        node = id_position(table.names or ()) or 0
        if len(table.columns) < 2:
            raise lack_of_columns(table, "texts are `node, text`")
        return node, 1 - min(node, 1)
