"""Features and labels on their way to the parts: rows are numbered, sent to their group, and written in order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from unseen.errors import InputError
from unseen.graph import Features
from unseen.io.columns import is_label_header
from unseen.io.edges import id_column
from unseen.io.features import _from_table, is_feature_header, read_features
from unseen.io.headers import may_be_label_header, may_be_node_header
from unseen.io.label_rows import LabelRows, is_group_layout, label_rows
from unseen.io.read import read_label_rows
from unseen.io.sources import TEXT_SUFFIXES, data_suffix, existing
from unseen.scale.hashing import id_keys
from unseen.scale.layout import ArrayFile
from unseen.scale.numbering import Numbering
from unseen.scale.spill import Spill
from unseen.scale.stream import Source, TextOptions, open_source

Ints = npt.NDArray[np.int64]
NODE_NAMES = ("node", "node_id", "id")
_LABEL = np.dtype([("n", np.int64), ("c", np.int64)])
_ENTRY = np.dtype([("n", np.int64), ("c", np.int64), ("v", np.float64)])


class FeatureStore:
    """Features of the nodes, dense or sparse, in pieces.

    Parquet and text are streamed; matrices (``.npz``, ``.npy``, ``.mat``, svmlight) are read whole.
    """

    def __init__(
        self, folder: Path, path: Path, header: bool | None, delimiter: str | None, batch: int
    ) -> None:
        self.path, self._batch = path, batch
        self.columns, self.sparse = 0, False
        self.dtype: np.dtype[Any] = np.dtype(np.float32)
        self._folder = folder
        self._source: Source | None = None
        self._whole: tuple[pa.Array, Features] | None = None
        if data_suffix(existing(path, "features")) in (*TEXT_SUFFIXES, ".parquet"):
            text = TextOptions(is_feature_header, may_be_node_header, header, delimiter, may_differ=True)
            self._source = open_source(path, "features", text, NODE_NAMES)
        else:
            ids, matrix, _ = read_features(path)
            numbers = np.arange(matrix.shape[0], dtype=np.int64) if ids is None else ids
            self._whole = id_column(numbers, "features"), matrix

    @property
    def integer_ids(self) -> bool:
        """Whether the ids are integers."""
        if self._whole is not None:
            return bool(pa.types.is_integer(self._whole[0].type))
        return self._source is not None and self._source.integer_ids

    def _pieces(self) -> Iterator[tuple[pa.Array, Features]]:
        if self._whole is not None:
            ids, matrix = self._whole
            rows = max(1, self._batch // max(8, 8 * matrix.shape[1]))
            for start in range(0, len(ids), rows):
                yield ids[start : start + rows], matrix[start : start + rows]
        elif self._source is not None:
            for table in self._source.tables(self._batch):
                ids, matrix, _ = _from_table(table)
                yield id_column(ids, "features"), matrix

    def number(self, numbering: Numbering) -> None:
        """Tell the ids to `numbering`, and find out what the features are."""
        for ids, matrix in self._pieces():
            if self.columns and matrix.shape[1] != self.columns:
                two = f"{self.columns} and of {matrix.shape[1]}"
                msg = f"{str(self.path)!r} has rows of {two} features; all rows need the same number"
                raise InputError(msg)
            self.columns, self.sparse = matrix.shape[1], sp.issparse(matrix)
            wide = matrix.dtype != np.float32
            self.dtype = np.dtype(np.float64) if wide else self.dtype
            numbering.see(numbering.column(ids))

    def distribute(self, numbering: Numbering, cuts: list[int]) -> list[int]:
        """Send every row to its group, a range of rows that fits in memory; return the cut into groups."""
        width = 1 if self.sparse else self.columns
        rows = max(1, self._batch // (8 + width * self.dtype.itemsize))
        groups = sorted({c for a, b in pairwise(cuts) for c in [*range(a, b, rows), b]})
        starts = np.array(groups[:-1])
        row_type = np.dtype([("n", np.int64), ("x", self.dtype, (0 if self.sparse else self.columns,))])
        self._rows = Spill(self._folder, "features", row_type)
        self._entries = Spill(self._folder, "feature-entries", _ENTRY)
        for ids, matrix in self._pieces():
            numbers = numbering.numbers(id_keys(numbering.column(ids)))
            place = np.searchsorted(starts, numbers, side="right") - 1
            records = np.empty(len(numbers), dtype=row_type)
            records["n"] = numbers
            if self.sparse:
                coo = sp.coo_array(matrix)
                entries = np.empty(coo.nnz, dtype=_ENTRY)
                entries["n"], entries["c"], entries["v"] = numbers[coo.row], coo.col, coo.data
                self._entries.add(place[coo.row], entries)
            else:
                records["x"] = matrix
            self._rows.add(place, records)
        return groups

    def write(self, inside: Path, groups: list[tuple[int, int, int]], numbering: Numbering) -> None:
        """Write the rows of a part, given its groups as (number, start, stop)."""
        n = groups[-1][2] - groups[0][1]
        if not self.sparse:
            with ArrayFile(inside / "features.npy", (n, self.columns), self.dtype) as file:
                for group, start, stop in groups:
                    file.write(self._ordered(group, start, stop, numbering)["x"])
            return
        counts, indices, values = [], [], []
        for group, start, stop in groups:
            self._ordered(group, start, stop, numbering)
            entries = self._entries.take(group)
            entries = entries[np.lexsort((entries["c"], entries["n"]))]
            counts.append(np.bincount(entries["n"] - start, minlength=stop - start))
            indices.append(entries["c"].astype(np.int32))
            values.append(entries["v"].astype(self.dtype))
        np.save(inside / "features_indptr.npy", np.r_[0, np.cumsum(np.concatenate(counts))])
        np.save(inside / "features_indices.npy", np.concatenate(indices))
        np.save(inside / "features_values.npy", np.concatenate(values))

    def _ordered(self, group: int, start: int, stop: int, numbering: Numbering) -> Any:
        records = self._rows.take(group)
        records = records[np.argsort(records["n"], kind="stable")]
        found = np.bincount(records["n"] - start, minlength=stop - start)
        if (found > 1).any():
            node = numbering.id_of(start + int(np.argmax(found > 1)))
            msg = f"{str(self.path)!r}: the node {node!r} has features in several rows; one row a node is allowed"
            raise InputError(msg)
        if (found == 0).any():
            node = numbering.id_of(start + int(np.argmin(found)))
            msg = (
                f"{str(self.path)!r} has no row for the node {node!r}; add rows for all nodes "
                "(zeros, if nothing is known) or remove these nodes"
            )
            raise InputError(msg)
        return records


class LabelStore:
    """Labels of the nodes, in pieces; only the names of the classes stay in memory."""

    def __init__(
        self, folder: Path, path: Path, header: bool | None, delimiter: str | None, batch: int
    ) -> None:
        self.path, self._batch = path, batch
        self._classes: dict[str, int] = {}
        self._spill = Spill(folder, "labels", _LABEL)
        path = existing(path, "labels")
        streamed = data_suffix(path) in (*TEXT_SUFFIXES, ".parquet") and not is_group_layout(path)
        text = TextOptions(is_label_header, may_be_label_header, header, delimiter, may_differ=True)
        self._source = open_source(path, "labels", text, NODE_NAMES) if streamed and path.is_file() else None
        self._whole = (
            read_label_rows(path, header=header, delimiter=delimiter) if self._source is None else None
        )

    @property
    def integer_ids(self) -> bool:
        """Whether the ids are integers."""
        if self._whole is not None:
            return bool(pa.types.is_integer(self._whole.ids.type))
        return self._source is not None and self._source.integer_ids

    def _pieces(self) -> Iterator[LabelRows]:
        if self._whole is not None:
            yield self._whole
        elif self._source is not None:
            for table in self._source.tables(self._batch):
                yield label_rows(table)

    def number(self, numbering: Numbering) -> None:
        """Tell the ids to `numbering`."""
        for found in self._pieces():
            numbering.see(numbering.column(found.ids))

    def distribute(self, numbering: Numbering, cuts: list[int]) -> None:
        """Send every label to the part of its node."""
        starts = np.array(cuts[:-1])
        for found in self._pieces():
            numbers = numbering.numbers(id_keys(numbering.column(found.ids)))[found.rows]
            encoded = found.names.dictionary_encode()
            known = [
                self._classes.setdefault(name, len(self._classes)) for name in encoded.dictionary.to_pylist()
            ]
            codes = np.array(known, dtype=np.int64)[
                np.asarray(encoded.indices.to_numpy(zero_copy_only=False))
            ]
            records = np.empty(len(numbers), dtype=_LABEL)
            records["n"], records["c"] = numbers, codes
            self._spill.add(np.searchsorted(starts, numbers, side="right") - 1, records)

    @property
    def classes(self) -> list[str]:
        """Names of the classes, sorted."""
        return sorted(self._classes)

    def write(self, inside: Path, part: int, start: int) -> int:
        """Write the labels of a part, and return how many of its nodes have one."""
        place = np.empty(len(self._classes), dtype=np.int64)
        for number, name in enumerate(self.classes):
            place[self._classes[name]] = number
        records = self._spill.take(part)
        records["c"] = place[records["c"]] if len(place) else records["c"]
        records = np.unique(records)
        np.save(inside / "label_rows.npy", records["n"] - start)
        np.save(inside / "label_classes.npy", records["c"])
        return len(np.unique(records["n"]))
