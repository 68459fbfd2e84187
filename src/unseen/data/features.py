"""Features of nodes: numbers, lists, texts and categories from the columns of a table, or a matrix of numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from unseen.data.build import Report
from unseen.data.ids import id_column, is_list, is_string, join_chunks
from unseen.data.leaks import feature_positions
from unseen.data.names import id_position
from unseen.data.options import Options
from unseen.data.pieces import FeatureRows, Reader
from unseen.data.roles import lack_of_columns, require_numbers
from unseen.data.sources import Role
from unseen.data.tables import MatrixBatch, Table, drop_missing_words, float_values, require_single_rows
from unseen.data.words import Block, block_of, stacked_blocks, years_of
from unseen.errors import InputError, counted, first_of, logger, show_path
from unseen.ids import Array, Features, numbers_of


class FeatureReader(Reader[FeatureRows]):
    """Features: ``node`` and columns of numbers, lists, texts or categories, or a matrix.

    Attributes
    ----------
    noun, rule : str
        What messages call one of the numbers, and what they ask of it.
    kind : type or None
        The type that numbers get; None: float32 where they came so, else float64.
    label_names : set of str
        Names of label columns in lower case; such columns are not features.
    labels_too : bool
        Whether labels are read from the same source.
    """

    role: Role = "features"
    takes_all_columns = True
    noun = "feature"
    rule = "features must be finite numbers"
    kind: type[np.floating[Any]] | None = None

    def __init__(self, source: Any, options: Options | None = None, report: Report | None = None) -> None:
        super().__init__(source, options, report)
        self.label_names, self.labels_too, self._quiet = self.options.label_names, False, False

    def _piece(self, batch: Table | MatrixBatch) -> FeatureRows:
        if isinstance(batch, MatrixBatch):
            ids = None if batch.ids is None else id_column(batch.ids, f"ids of {batch.source}")
            values, names = self._fill(self._real_matrix(batch), batch.names, batch)
            return FeatureRows(ids, values, names, batch.source)
        node, columns = self._columns(batch)
        ids = None if node is None else batch.ids(node, "node")
        if ids is not None:
            require_single_rows(ids, batch, self.role)
        if self.role == "features":
            whole = None if self.in_pieces else ids
            columns = feature_positions(
                batch, columns, whole, self.label_names, labels_too=self.labels_too, quiet=self._quiet
            )
            self._quiet = self.in_pieces
        values, names, texts = self._blocks(batch, columns)
        if not values.shape[1] and batch.n_rows:
            msg = f"{batch.source} has no column beside ids and labels that can be a feature"
            raise InputError(msg)
        return FeatureRows(ids, values, names, batch.source, batch.place, texts)

    def _blocks(self, batch: Table, columns: list[int]) -> tuple[Any, Any, list[str] | None]:
        """Return the features of columns, their names, and the texts where one column holds some."""
        numbers, words, texts = list[Block](), list[Block](), list[list[str]]()
        names: Any = batch.names
        source = show_path(batch.source)
        for k in columns:
            what = f"{self.noun} {k}" if names is None else f"{self.noun} {names[k]!r}"
            column = join_chunks(batch.columns[k])
            if is_list(column.type):
                lists = self._lists(batch, column)
                numbers.append((lists, tuple(f"{names[k]} {j}" for j in range(lists.shape[1]))))
                continue
            if self.role == "features" and pa.types.is_nested(column.type):
                logger.info("%s: the column %r holds several values a node and is not used", source, names[k])
                continue
            try:
                values = self._numbers(batch, column, what)
                numbers.append((values[:, None], () if names is None else (names[k],)))
            except InputError:
                years = years_of(column) if self.role == "features" and names else None
                if years is not None and not self.in_pieces:
                    logger.info("%s: the column %r holds dates; it is used as years", source, names[k])
                    numbers.append((years[:, None], (names[k],)))
                    continue
                found = block_of(batch, k, names[k]) if names and self.role == "features" else None
                if found is None:
                    raise
                if self.in_pieces:
                    msg = f"{batch.source}: the column {names[k]!r} is no number; a graph in parts takes numbers only"
                    raise InputError(msg) from None
                words.append(found[0])
                texts += [] if found[1] is None else [found[1]]
        matrix: Any = np.hstack([np.empty((batch.n_rows, 0), np.int8), *(part for part, _ in numbers)])
        own: Any = tuple(name for _, part in numbers for name in part)
        if len(columns) == 1 and numbers and is_list(batch.columns[columns[0]].type):
            stored = batch.metadata.get("feature_names")
            own = None if stored is None else tuple(json.loads(stored))
        matrix, own = self._fill(matrix, None if names is None else own, batch)
        if words:
            matrix, own = stacked_blocks([(matrix, own or ()), *words] if matrix.shape[1] else words)
        return matrix, own, texts[0] if len(texts) == 1 else None

    def _fill(self, values: Any, names: Any, batch: Table | MatrixBatch) -> tuple[Any, Any]:
        """Return numbers without missing ones, and the names of the columns that have any; a notice counts the gaps.

        All columns of vectors stay, and those of a piece, since other pieces may have values.
        """
        n, width = values.shape
        coo = None if isinstance(values, np.ndarray) else sp.coo_array(values)
        row, column = (
            np.nonzero(np.isnan(values)) if coo is None else (ends[np.isnan(coo.data)] for ends in coo.coords)
        )
        if not len(row):
            return values, names
        shown = [str(k) if names is None else repr(names[k]) for k in range(width)]
        how, stay = self.options.missing, self.in_pieces or self.role == "vectors"
        counts = np.bincount(column, minlength=width)
        kept = np.flatnonzero((counts < n) | stay)
        partly = kept[counts[kept] > 0]
        if len(partly) and (how == "error" or self.role == "vectors" or (self.in_pieces and how == "median")):
            first = int(np.argmax(np.isin(column, partly)))
            raise self._missing(batch, int(row[first]), shown[column[first]])
        fills = np.zeros(width)
        if how == "median":
            part = values[:, partly]
            fills[partly] = np.nanmedian(part if coo is None else part.toarray(), axis=0)
        values = values.copy()
        values[row, column] = fills[column]
        source = show_path(batch.source)
        for k in np.setdiff1d(np.arange(width), kept):
            logger.info("%s: the column %s has no values and is not used", source, shown[k])
        if len(partly):
            by = "the median of the column" if how == "median" else "0"
            total = counted(int(counts[partly].sum()), "missing number")
            gaps = first_of([f"{shown[k]} ({counts[k]})" for k in partly])
            logger.info("%s: %s replaced by %s: %s", source, total, by, gaps)
        return values[:, kept], None if names is None else tuple(names[k] for k in kept)

    def _missing(self, batch: Table | MatrixBatch, row: int, name: str) -> InputError:
        """Return the error for a missing number."""
        place = batch.place(row) if isinstance(batch, Table) else f"{batch.source}: row {row}"
        if isinstance(batch, MatrixBatch) and batch.ids is not None:
            place += f" (node {batch.ids[row]!r})"
        way = "; to fill in missing values, say missing='median' or 'zero' (--missing)"
        if self.in_pieces:
            way = "; a graph in parts can have 0 there: say missing='zero' (--missing zero)"
        way = way if self.role == "features" else ""
        return InputError(f"{place}: the {self.noun} {name} is missing; {self.rule}{way}")

    def _positions(self, table: Table) -> dict[str, int]:
        node = self._columns(table)[0]
        return {} if node is None else {"node": node}

    def _columns(self, table: Table) -> tuple[int | None, list[int]]:
        """Return the column of ids and those of numbers."""
        node = id_position(table.names or ())
        if node is None and not table.text:
            raise lack_of_columns(table, "features need a column `node`")
        values = [k for k in range(len(table.columns)) if k != (node or 0)]
        if not values:
            msg = f"{table.source} has no column beside the node ids; {self.role} need at least one"
            raise InputError(msg)
        return node or 0, values

    def _real_matrix(self, matrix: MatrixBatch) -> Features:
        """Return a matrix of numbers, none of them infinite."""
        source, values = matrix.source, matrix.values
        if values.ndim != 2:
            msg = f"{source} has shape {values.shape}; {self.role} need two dimensions, nodes and columns"
            raise InputError(msg)
        require_numbers(matrix)
        if self.kind is not None:
            with np.errstate(over="ignore"):  # what does not fit is infinite, and refused as such
                values = values.astype(self.kind, copy=False)
        if np.isinf(numbers_of(values)).any():
            coo = sp.coo_array(values)
            odd = int(np.argmax(np.isinf(coo.data)))
            node = "" if matrix.ids is None else f" (node {matrix.ids[coo.row[odd]]!r})"
            msg = f"{source}: row {coo.row[odd]}{node}, column {coo.col[odd]} is {coo.data[odd]}; {self.rule}"
            raise InputError(msg)
        return values if isinstance(values, np.ndarray) else sp.csr_array(values)

    def _numbers(self, table: Table, column: pa.Array, what: str) -> Array:
        """Return a column of numbers with NaN where one is missing.

        The type is float32 where the column has it, `kind` where that is given, and else float64. Raises an error
        with the place of the first cell that is infinite or not a number.
        """
        values: Array
        if column.type == pa.float32() and not column.null_count:
            values = column.to_numpy(zero_copy_only=False)
        else:
            known = drop_missing_words(column) if is_string(column.type) else column
            values = float_values(table, known, what)
        if self.kind is not None:
            with np.errstate(over="ignore"):
                values = values.astype(self.kind, copy=False)
        bad = np.flatnonzero(np.isinf(values))
        if len(bad):
            msg = f"{table.place(int(bad[0]))}: the {what} is {values[bad[0]]}; {self.rule}"
            raise InputError(msg)
        return values

    def _lists(self, table: Table, column: pa.Array) -> Array:
        """Return a column of lists of numbers as a matrix; a list that is missing is a row of NaN."""
        lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(~np.isnan(lengths))
        width = int(lengths[rows[0]]) if len(rows) else 0
        odd = rows[lengths[rows] != width]
        if len(odd):
            msg = (
                f"{table.place(int(odd[0]))} has {int(lengths[odd[0]])} numbers where the first row has {width}; "
                "all lists must be equally long"
            )
            raise InputError(msg)
        cells = replace(table, place=lambda k: table.place(int(rows[k // max(width, 1)])))
        values = self._numbers(cells, pc.list_flatten(column), f"{self.noun} 0")
        matrix = np.full((len(lengths), width), np.nan, values.dtype)
        matrix[rows] = values.reshape(len(rows), width)
        return matrix
