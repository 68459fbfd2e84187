"""Features of nodes: numbers, lists, texts and categories from the columns of a table, or a matrix of numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from unseen.data.build import Report
from unseen.data.leaks import feature_positions
from unseen.data.names import id_position
from unseen.data.pieces import FeatureRows, Reader
from unseen.data.roles import LabelReader, lack_of_columns, require_numbers
from unseen.data.sources import Options, Role
from unseen.data.tables import (
    MatrixBatch,
    Table,
    drop_missing_words,
    float_values,
    id_column,
    is_list,
    is_string,
    join_chunks,
    list_names,
)
from unseen.data.words import Block, block_of, stacked_blocks, years_of
from unseen.errors import InputError, counted, first_of, logger, show_path
from unseen.ids import Array, numbers_of


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

    def _piece(self, batch: Table | MatrixBatch) -> FeatureRows:
        if isinstance(batch, MatrixBatch):
            return self._matrix_rows(batch)
        node, columns = self._columns(batch)
        ids = None if node is None else batch.ids(node, "node")
        if ids is not None:
            codes = ids.dictionary_encode().indices.to_numpy(zero_copy_only=False)
            _, first = np.unique(codes, return_index=True)
            if len(first) < len(codes):
                row = int(np.setdiff1d(np.arange(len(codes)), first)[0])
                what = f"the node {ids[row].as_py()!r} has {self.role} already"
                msg = f"{batch.place(row)}: {what}; one row per node is allowed"
                raise InputError(msg)
        if self.role == "features":
            whole, labels_too = None if self.in_pieces else ids, self.labels_too
            columns = feature_positions(
                batch, columns, whole, self.label_names, labels_too=labels_too, quiet=self._quiet
            )
            self._quiet = self.in_pieces
        blocks, words, texts = self._blocks(batch, columns)
        matrix: Any = np.hstack([np.empty((batch.n_rows, 0), np.int8), *(block for block, _ in blocks)])
        names: Any = None if batch.names is None else tuple(name for _, own in blocks for name in own)
        if len(columns) == 1 and blocks and is_list(batch.columns[columns[0]].type):
            stored = batch.metadata.get("feature_names")
            names = None if stored is None else tuple(json.loads(stored))
        matrix, names = self._fill(matrix, names, batch)
        if words:
            matrix, names = stacked_blocks([(matrix, names or ()), *words] if matrix.shape[1] else words)
        if not matrix.shape[1] and batch.n_rows:
            msg = f"{batch.source} has no column beside ids and labels that can be a feature"
            raise InputError(msg)
        return FeatureRows(
            ids, matrix, names, batch.source, batch.place, texts[0] if len(texts) == 1 else None
        )

    def _blocks(self, batch: Table, columns: list[int]) -> tuple[list[Block], list[Block], list[list[str]]]:
        """Return blocks of numbers and of words, each with the names of its columns, and the columns of text."""
        numbers, words, texts = list[Block](), list[Block](), list[list[str]]()
        source, is_feature = show_path(batch.source), self.role == "features"
        for k in columns:
            name: Any = k if batch.names is None else batch.names[k]
            named = () if batch.names is None else (name,)
            column = join_chunks(batch.columns[k])
            if is_list(column.type):
                lists = self._lists(batch, column)
                numbers.append((lists, tuple(f"{name} {j}" for j in range(lists.shape[1]))))
                continue
            if is_feature and pa.types.is_nested(column.type):
                logger.info("%s: the column %r holds several values a node and is not used", source, name)
                continue
            try:
                numbers.append((self._numbers(batch, column, f"{self.noun} {name!r}")[:, None], named))
            except InputError:
                if not is_feature or not named:
                    raise
                years = years_of(column)
                if years is not None and not self.in_pieces:
                    logger.info("%s: the column %r holds dates; it is used as years", source, name)
                    numbers.append((years[:, None], named))
                    continue
                found = block_of(batch, k, name)
                if found is None:
                    raise
                if self.in_pieces:
                    msg = f"{batch.source}: the column {name!r} is no number; a graph in parts takes numbers only"
                    raise InputError(msg) from None
                words.append(found[0])
                texts += [] if found[1] is None else [found[1]]
        return numbers, words, texts

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
            way = "to fill in missing values, say missing='median' or 'zero' (--missing)"
            if self.in_pieces:
                way = "a graph in parts can have 0 there: say missing='zero' (--missing zero)"
            way = f"; {way}" if self.role == "features" else ""
            what = f"the {self.noun} {shown[column[first]]} is missing"
            msg = f"{batch.place(int(row[first]))}: {what}; {self.rule}{way}"
            raise InputError(msg)
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

    def _matrix_rows(self, batch: MatrixBatch) -> FeatureRows:
        """Return the rows of a matrix of numbers, none of them infinite."""
        source, values = batch.source, batch.values
        if values.ndim != 2:
            msg = f"{source} has shape {values.shape}; {self.role} need two dimensions, nodes and columns"
            raise InputError(msg)
        require_numbers(batch)
        if self.kind is not None:
            with np.errstate(over="ignore"):  # what does not fit is infinite, and refused as such
                values = values.astype(self.kind, copy=False)
        if np.isinf(numbers_of(values)).any():
            coo = sp.coo_array(values)
            k = int(np.argmax(np.isinf(coo.data)))
            msg = f"{batch.place(coo.row[k])}, column {coo.col[k]} is {coo.data[k]}; {self.rule}"
            raise InputError(msg)
        ids = None if batch.ids is None else id_column(batch.ids, f"ids of {source}")
        values = values if isinstance(values, np.ndarray) else sp.csr_array(values)
        return FeatureRows(ids, *self._fill(values, batch.names, batch), source)

    def _numbers(self, table: Table, column: pa.Array, what: str) -> Array:
        """Return a column of numbers with NaN where one is missing.

        The type is float32 where the column has it, `kind` where that is given, and else float64. Raises an error
        with the place of the first cell that is infinite or not a number.
        """
        values: Array
        if column.type == pa.float32() and not column.null_count:
            values = column.to_numpy(zero_copy_only=False)
        else:
            values = float_values(
                table, drop_missing_words(column) if is_string(column.type) else column, what
            )
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
