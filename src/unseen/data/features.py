"""Features of nodes: numbers, lists, texts and categories from the columns of a table, or a matrix of numbers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from unseen.data.build import Report
from unseen.data.columns import id_values, require_single_rows
from unseen.data.headers import id_position
from unseen.data.ids import id_column, is_list
from unseen.data.leaks import feature_positions, label_names
from unseen.data.numbers import fill_missing, list_rows, number_column
from unseen.data.options import Options
from unseen.data.pieces import FeatureRows, Reader, several_rows
from unseen.data.roles import lack_of_columns, require_numbers
from unseen.data.sources import Role
from unseen.data.tables import Matrix, Table
from unseen.data.words import Block, block_of, stacked_blocks
from unseen.errors import InputError, logger
from unseen.ids import Features, numbers_of


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
    noun = "feature"
    rule = "features must be finite numbers"
    kind: type[np.floating[Any]] | None = None

    def __init__(self, source: Any, options: Options | None = None, report: Report | None = None) -> None:
        super().__init__(source, options, report)
        self.label_names, self.labels_too = label_names(self.options), False

    def _ids(self, batch: Table | Matrix) -> list[pa.Array]:
        if isinstance(batch, Matrix):
            return [] if batch.ids is None else [id_column(batch.ids, f"ids of {batch.source}")]
        node, _ = self._columns(batch)
        if node is None:
            return []
        ids = id_values(batch, node, "node")
        require_single_rows(ids, batch, self.role)
        return [ids]

    def _piece(self, batch: Table | Matrix, ids: list[pa.Array]) -> FeatureRows:
        own_ids = ids[0] if ids else None
        if isinstance(batch, Matrix):
            values, names = self._filled(self._real_matrix(batch), batch.names, batch)
            return FeatureRows(own_ids, values, names, batch.source)
        _, columns = self._columns(batch)
        if ids and len(ids[0]) > 1 and self.first is not None:  # it may be a row like another
            counts = ids[0].value_counts().field("counts").to_numpy()
            if counts.max() > 1:
                raise several_rows(batch.source, ids[0].unique()[int(counts.argmax())].as_py())
        if self.role == "features":
            whole = None if self.in_pieces else own_ids
            columns = feature_positions(batch, columns, whole, self.label_names, labels_too=self.labels_too)
        values, names, texts = self._blocks(batch, columns)
        if not values.shape[1] and batch.n_rows:
            msg = f"{batch.source} has no column beside ids and labels that can be a feature"
            raise InputError(msg)
        return FeatureRows(own_ids, values, names, batch.source, batch.place, texts)

    def _blocks(self, batch: Table, columns: list[int]) -> tuple[Any, Any, list[str] | None]:
        """Return the features of columns, their names, and the texts where one column holds some."""
        numbers, words, texts = list[Block](), list[Block](), list[list[str]]()
        names: Any = batch.names
        for k in columns:
            what = f"{self.noun} {k}" if names is None else f"{self.noun} {names[k]!r}"
            if is_list(batch.columns[k].type):
                matrix = list_rows(batch, k, f"{self.noun} 0", self.rule, self.kind)
                numbers.append((matrix, tuple(f"{names[k]} {j}" for j in range(matrix.shape[1]))))
                continue
            if self.role == "features" and pa.types.is_nested(batch.columns[k].type):
                logger.info(
                    "%s: the column %r holds several values a node and is not used", batch.source, names[k]
                )
                continue
            try:
                column = number_column(batch, k, what, self.rule, self.kind)
                numbers.append((column[:, None], () if names is None else (names[k],)))
            except InputError as error:
                block, cells = self._words(batch, k, error)
                words.append(block)
                texts += [] if cells is None else [cells]
        own: Any
        matrix, own = stacked_blocks(numbers) if numbers else (np.empty((batch.n_rows, 0)), ())
        if len(columns) == 1 and numbers and is_list(batch.columns[columns[0]].type):
            stored = batch.metadata.get("feature_names")
            own = None if stored is None else tuple(json.loads(stored))
        matrix, own = self._filled(matrix, None if names is None else own, batch)
        if words:
            matrix, own = stacked_blocks([(matrix, own or ()), *words] if matrix.shape[1] else words)
        return matrix, own, texts[0] if len(texts) == 1 else None

    def _filled(self, values: Any, names: Any, batch: Table | Matrix) -> tuple[Any, Any]:
        """Return numbers without missing ones, and the names of the columns that have numbers."""

        def name(k: int) -> str:
            return str(k) if names is None else repr(names[k])

        def error(row: int, column: int) -> InputError:
            place, what = (
                f"{batch.source}: row {row}",
                f"{self.noun} {column if names is None else repr(names[column])}",
            )
            if isinstance(batch, Table):
                place = batch.place(row)
            elif batch.ids is not None:
                place += f" (node {batch.ids[row]!r})"
            way = (
                ""
                if self.role == "vectors"
                else "; fill in missing values with missing='median' or 'zero' (--missing)"
            )
            if self.in_pieces:
                way = "; a graph in parts can take 0 for missing values: missing='zero' (--missing zero)"
            return InputError(f"{place}: the {what} is missing; {self.rule}{way}")

        how = self.options.missing
        if self.role == "vectors" or (self.in_pieces and how == "median"):
            how = "error"
        values, kept = fill_missing(
            values, how, batch.source, name, error, every=self.in_pieces or self.role == "vectors"
        )
        return values, None if names is None else tuple(names[k] for k in kept)

    def _words(self, batch: Table, index: int, error: InputError) -> tuple[Block, list[str] | None]:
        """Return the words or categories of a column that is no numbers, or raise the error about its first number."""
        names = batch.names or ()
        block = block_of(batch, index, names[index]) if names and self.role == "features" else None
        if block is None:
            raise error
        if self.in_pieces:
            msg = f"{batch.source}: the column {names[index]!r} is no number; a graph in parts takes numbers only"
            raise InputError(msg)
        return block

    def _columns(self, table: Table) -> tuple[int | None, list[int]]:
        """Return the column of ids and those of numbers."""
        node, names = id_position(table.names or ()), table.names or ()
        if node is None and not table.text:
            raise lack_of_columns(table, "features need a column `node`")
        if node is None and names and not self._started:
            logger.info("%s: the first column, %r, is taken as the ids", table.source, names[0])
        values = [k for k in range(len(table.columns)) if k != (node or 0)]
        if not values:
            msg = f"{table.source} has no column beside the node ids; {self.role} need at least one"
            raise InputError(msg)
        return node or 0, values

    def _real_matrix(self, matrix: Matrix) -> Features:
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
