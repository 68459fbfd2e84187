"""What columns mean: edges, nodes, features, labels. Each value is checked once, here, on its way in.

A weight of 0 is no edge: the ids are nodes all the same, and the report counts what was left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from unseen.data.build import Report
from unseen.data.ids import Numbering, id_column
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
from unseen.data.options import Options
from unseen.data.pieces import Edges, FeatureRows, LabelRows, NodeList, Reader, read_whole
from unseen.data.sources import Role
from unseen.data.tables import (
    MatrixBatch,
    Table,
    float_values,
    label_values,
    list_names,
)
from unseen.errors import InputError, counted, logger, show_path
from unseen.ids import Floats, IdArray, default_ids
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
        positions = self.positions
        ids = [table.ids(positions[end], end) for end in ("src", "dst")]
        types = table.ids(positions["type"], "type").cast(pa.large_string()) if "type" in positions else None
        weights = self._weights(table, positions)
        points = None
        if "directed" in positions:
            flags = [str(value).lower() for value in table.columns[positions["directed"]].to_pylist()]
            if set(flags) <= {"true", "1", "false", "0"}:
                points = np.isin(flags, ["true", "1"])
        return Edges(ids[0], ids[1], weights, table.nodes, types, table.place, points)

    def _weights(self, table: Table, positions: dict[str, int]) -> Floats | None:
        """Return the weights with their signs, and count what is left out."""
        weights = None
        if "weight" in positions:
            listed_weights = float_values(table, positions["weight"], "weight")
            self.report.dropped_zero += int(np.count_nonzero(listed_weights == 0))
            weights = check_weights(
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
            return np.maximum(weights, 0.0)
        return np.abs(weights) if self.options.absolute else weights

    def _positions(self, table: Table) -> dict[str, int]:
        """Return which column is what: by their names or, in text without any, in their order."""
        width = len(table.columns)
        if table.names is None:
            if width not in (2, 3):
                need = "without a header, edges are src, dst and perhaps weight"
                raise lack_of_columns(table, f"{need}; if this line is a header, say header=True (--header)")
            return dict(zip(("src", "dst", "weight"), range(width), strict=False))
        # of the attributes of a network only `weight` is one
        is_numeric = table.is_numeric if table.nodes is None else [False] * width
        positions = edge_columns(table.names, is_numeric)
        if "src" not in positions or "dst" not in positions:
            raise lack_of_columns(table, "edges need two columns of ids; --src and --dst name them")
        types = None if "type" not in positions else table.columns[positions["type"]]
        if types is not None:  # Gephi's says of each edge that it is undirected
            is_flat = not pa.types.is_nested(types.type)
            values = {str(value).lower() for value in types.unique().to_pylist()} if is_flat else set()
            if values <= {"directed", "undirected"}:
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
        undirected = not directed and (csr != csr.T).nnz == 0
        coo = (sp.triu(csr) if undirected else csr).tocoo()
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
        kind = find_name(names, NODE_TYPE)
        node = id_position(names)
        positions = {"node": int(kind == 0 and len(names) > 1) if node is None else node}
        return positions if kind in (None, positions["node"]) else {**positions, "type": kind}

    def _piece(self, batch: Table) -> NodeList:
        positions = self.positions
        types = batch.ids(positions["type"], "type").cast(pa.large_string()) if "type" in positions else None
        return NodeList(batch.ids(positions["node"], "node"), types, batch.place)


class LabelReader(Reader[LabelRows]):
    """Labels: ``node, label``, lists of labels, class numbers, or a matrix of nodes and classes."""

    role: Role = "labels"

    def label_name(self) -> str:
        """Return the name of the column of labels, in lower case, once it was read; empty without a header."""
        names = self._batch.names
        return "" if names is None else lower(names)[self._positions(self._batch)["label"]]

    def _piece(self, table: Table) -> LabelRows:
        positions = self.positions
        if table.text and table.find(("annotation_id",)) is not None:
            from unseen.data.label_studio import merge_columns

            table = merge_columns(table, positions["label"])
        ids = table.ids(positions["node"], "node")
        rows, names = label_values(table.columns[positions["label"]], table.source)
        hint = HEADER_HINT if table.text and table.names is None else ""
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
        return LabelRows(ids, rows, names, table.source, table.place, hint, *answers)

    def _positions(self, table: Table) -> dict[str, int]:
        names, width = table.names, len(table.columns)
        if names is not None and names[:2] == ("Id", "Label") and width > 2:
            msg = (
                f"{table.source} is a node table as Gephi writes it: its column 'Label' is a name, not a class. Say "
                f"which of {list_names(names[2:])} holds the classes with label_column=... (--label-column)"
            )
            raise InputError(msg)
        unnamed = names is None or not (table.text or find_name(names, LABEL) is not None)
        if width < 2 or (unnamed and width > 2):
            need = "labels are `node, label`: write several labels of a node with | between them or in several rows"
            raise lack_of_columns(
                table, f"{need}, or say which column holds them with label_column=... (--label-column)"
            )
        positions = {"node": 0, "label": 1} if names is None else label_columns(names, table.is_numeric)
        own = lower(names or ())
        known: Sequence[str] = ANSWERS
        if "unseen_probability" in own:
            from unseen.data.labels_file import QUESTION_COLUMNS

            known = QUESTION_COLUMNS[2:]
        return positions | {
            name: k for k, name in enumerate(own) if name in known and k not in positions.values()
        }

    def _as_table(self, matrix: MatrixBatch) -> Table:
        values: Any = matrix.values
        if isinstance(values, np.ndarray) and 1 in values.shape:  # one class number, or -1 or NaN, per node
            labels = pa.array(values.ravel())
        else:
            csr = sp.csr_array(values)
            csr.eliminate_zeros()
            labels = pa.LargeListArray.from_arrays(csr.indptr.astype(np.int64), csr.indices)
        return Table.of(matrix.source, {"node": np.arange(len(labels)), "label": labels})


class TextReader(LabelReader):
    """Texts: ``node, text``, read as labels are; several columns of text are one, columns of labels are left out."""

    takes_all_columns = True

    def __init__(self, source: Any, options: Options | None = None, report: Report | None = None) -> None:
        if isinstance(source, Mapping) or hasattr(source, "iloc"):  # a text for each node, not its labels
            from unseen.data.objects_plain import read_values

            values = read_values(source, "`text`")
            source = source if values is None else values
        elif isinstance(source, (list, tuple, np.ndarray)):
            msg = (
                "`text` must be a path, a table with a node and its text in each row, a dict or a pandas series from "
                f"nodes to texts, got {type(source).__name__}"
            )
            raise InputError(msg)
        super().__init__(source, replace(options or Options(), label_column=None), report)
        self.label_names = (options or Options()).label_names

    def _piece(self, table: Table) -> Any:
        from unseen.data.leaks import feature_positions

        node = self.positions["node"]
        ids = table.ids(node, "node")
        columns = [k for k in range(len(table.columns)) if k != node]
        columns = feature_positions(table, columns, ids, self.label_names)
        if table.names and len(table.columns) > 2:
            names = list_names([table.names[k] for k in columns])
            logger.info("%s: the text of a node consists of the columns %s", show_path(table.source), names)
        texts = [table.columns[k].to_pylist() for k in columns]
        cells = [" ".join(str(cell) for cell in row if cell is not None) for row in zip(*texts, strict=True)]
        return FeatureRows(ids, np.array(cells, dtype=object)[:, None], None, table.source)

    def _positions(self, table: Table) -> dict[str, int]:
        if len(table.columns) < 2:
            raise lack_of_columns(table, "texts are `node, text`")
        node = id_position(table.names or ()) or 0
        return {"node": node, "text": 1 - node} if len(table.columns) == 2 else {"node": node}


def inspect_file(
    path: Any, role: str, options: Options | None = None, known_ids: Sequence[Any] | IdArray | None = None
) -> Reader[Any]:
    r"""Return the reader of a file (`names`, `columns`, `delimiter`, `notices`) once it has chosen its columns.

    Every command reads files by these same rules.

    Parameters
    ----------
    path : path or table
        As for :func:`read`.
    role : {"edges", "nodes", "features", "labels", "text"}
        What the file is read as.
    options : Options, optional
        How files are read.
    known_ids : sequence of ids, optional
        Ids of other files. With these, a first row whose id is the only unknown one is a header, and the whole file is
        read; without them, its first lines.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = path.write_text("product_id,category\nP1,garden\nP2,kitchen\n")
    >>> inspect_file(path, "labels").columns
    {'node': 'product_id', 'label': 'category'}
    """
    from unseen.data.features import FeatureReader  # which is a reader, too

    kinds: dict[str, type[Reader[Any]]] = {
        "edges": EdgeReader,
        "nodes": NodeReader,
        "features": FeatureReader,
        "labels": LabelReader,
        "text": TextReader,
    }
    reader = kinds[role](path, options)
    if known_ids is None:
        reader.open(1 << 16)
        reader.choose_columns()
    else:
        known = Numbering()
        known.number(id_column(known_ids, "known_ids"))
        read_whole(reader, known)
    return reader
