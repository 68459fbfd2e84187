"""Ids and edges larger than memory: DuckDB finds and sorts them within a bound, and spills what does not fit to disk.

Numbers, repeated edges and errors are defined by :class:`unseen.data.build.Numbering` and by
:func:`unseen.weights.combine_repeats`, as in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from unseen.data.build import Numbering, Report, refuse_repeats
from unseen.data.pieces import Edges
from unseen.errors import InputError, OutputError, need_library
from unseen.ids import Array, Floats, IdArray, Ints, as_ids
from unseen.weights import Symmetrize, combine_repeats

PIECE = 1 << 18
"""Rows that come out of the database together."""
ENTRIES = 1 << 20
"""Entries of a file that are in memory together."""


class Database:
    """A database that lives as long as the block; of `memory` bytes, and what these do not hold waits in `folder`."""

    def __init__(self, folder: Path, *, memory: int, threads: int) -> None:
        duckdb = need_library("duckdb", "a graph that does not fit in memory", "scale")
        self._errors = duckdb
        self.folder = folder
        config: dict[str, Any] = {
            "memory_limit": f"{memory}B",
            "threads": threads,
            "temp_directory": str(folder / "spill"),
            "preserve_insertion_order": False,  # every query whose order counts says which
            "arrow_large_buffer_size": True,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        self._connection = duckdb.connect(":memory:", config=config)
        # after the folder for what does not fit is set
        self._connection.execute("SET enable_external_access = false")

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()

    def run(self, query: str, arriving: pa.Table | None = None) -> Any:
        """Run a statement, or return all that a query returns as a table; either may use the table `arriving`."""
        with self._explain_errors():
            if arriving is not None:
                self._connection.register("arriving", arriving)
            found = self._connection.sql(query)
            table = None if found is None else found.to_arrow_table()
            self._connection.unregister("arriving")
        return table

    def rows(self, query: str, size: int = PIECE) -> Iterator[pa.Table]:
        """Yield what a query returns, `size` rows at a time: no piece depends on how many threads worked."""
        with self._explain_errors():
            reader = self._connection.sql(query).to_arrow_reader(size)
            waiting = reader.schema.empty_table()
            for batch in reader:
                waiting = pa.concat_tables([waiting, pa.Table.from_batches([batch])])
                while len(waiting) >= size:
                    yield waiting.slice(0, size).combine_chunks()
                    waiting = waiting.slice(size)
        if len(waiting):
            yield waiting.combine_chunks()

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except (self._errors.OutOfMemoryException, self._errors.IOException) as error:
            reason = str(error).splitlines()[0]
            if re.search("max_temp_directory_size|No space left|disk full", str(error), re.IGNORECASE):
                reason = "the disk is full; free some space or choose another disk"
            elif isinstance(error, self._errors.OutOfMemoryException):
                msg = "`memory` (--memory) is too small for this graph; give more, or fewer threads"
                raise InputError(msg) from None
            msg = f"cannot write {self.folder}: {reason}"
            raise OutputError(msg) from None
        except RuntimeError as error:  # Ctrl-C while the engine works ends in this error
            if "interrupted" not in str(error):
                raise
            raise KeyboardInterrupt from None


class SpilledNumbering(Numbering):
    """A numbering whose ids are in a database."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database

    @property
    def ids(self) -> IdArray:
        """All ids by their numbers."""
        return as_ids(self._database.run("select id from numbers order by number")["id"].to_numpy())

    def name(self, number: int) -> Any:
        """Return the id that has a number."""
        return self._database.run(f"select id from numbers where number = {int(number)}")["id"][0].as_py()

    def pieces(self, start: int, stop: int) -> Iterator[pa.Table]:
        """Yield the ids of a range of numbers, as tables with the column `node`."""
        yield from self._database.rows(
            f"select id as node from numbers where number >= {start} and number < {stop} order by number"
        )

    def renumber(self, order: Ints) -> None:
        """Give the node whose number is ``order[k]`` the number k."""
        arriving = pa.table({"number": order, "new_number": np.arange(len(order))})
        query = "create or replace table numbers as select id, new_number as number from numbers"
        self._database.run(f"{query} join arriving using (number)", arriving)

    def _make_text(self) -> None:
        self._database.run("alter table numbers alter id type varchar")

    def _find(self, ids: pa.Array) -> Ints:
        arriving = pa.table({"id": ids, "row": np.arange(len(ids))})
        found = self._database.run("select row, number from numbers join arriving using (id)", arriving)
        numbers = np.full(len(ids), -1, dtype=np.int64)
        numbers[found["row"].to_numpy()] = found["number"].to_numpy()
        return numbers

    def _append(self, ids: pa.Array) -> None:
        if not self._n:
            kind = "bigint" if pa.types.is_integer(ids.type) else "varchar"
            self._database.run(f"create table numbers (id {kind}, number bigint)")
        arriving = pa.table({"id": ids, "number": np.arange(self._n, self._n + len(ids))})
        self._database.run("insert into numbers from arriving", arriving)


class SpilledEdges:
    """Numbered edges in a database, which sorts them."""

    def __init__(self, database: Database) -> None:
        self._database, self._n = database, 0
        database.run("create table edges (i bigint, j bigint, weight double, place bigint)")

    def add(self, edges: Edges) -> None:
        """Take a piece of numbered edges; a weight of 0 is no edge."""
        n = len(edges.src)
        weight = pa.nulls(n, pa.float64()) if edges.weight is None else pa.array(edges.weight)
        table = {"i": edges.src, "j": edges.dst, "weight": weight, "place": np.arange(self._n, self._n + n)}
        rows = pa.table(table)
        if edges.weight is not None and not edges.weight.all():
            rows = rows.filter(pa.array(edges.weight != 0))
        self._database.run("insert into edges from arriving", rows)
        self._n += n

    def sort(self, numbering: Numbering, symmetrize: Symmetrize, report: Report) -> SortedRows:
        """Write the rows of the adjacency to files, both directions of every edge; repeats and self-loops count."""
        add = symmetrize == "sum"
        (weighted,) = self._database.run("select count(weight) > 0 as weighted from edges")[
            "weighted"
        ].to_pylist()
        query = f"""select i, j{", coalesce(weight, 1::double) as weight" if weighted else ""}
            from (from edges union all select j, i, weight, place from edges where i <> j)
            order by i, j{", place" if weighted and add else ""}"""
        rows, repeated = SortedRows(self._database.folder, len(numbering)), None
        i = j = np.empty(0, dtype=np.int64)
        weights = np.empty(0)
        for piece in chain(self._database.rows(query), [None]):
            last = len(i)
            if piece is not None:  # the last pair may go on in the next piece
                new = [column.to_numpy() for column in piece.columns]
                new += [] if weighted else [np.ones(len(piece))]
                i, j, weights = (np.concatenate(both) for both in zip((i, j, weights), new, strict=True))
                last = int(np.searchsorted(i, i[-1]))
                last += int(np.searchsorted(j[last:], j[-1]))
            if last:
                is_first = np.ones(last, dtype=bool)
                is_first[1:] = (i[1:last] != i[: last - 1]) | (j[1:last] != j[: last - 1])
                starts = np.flatnonzero(is_first)
                values, _ = combine_repeats(weights[:last], starts, add=add)
                again = np.flatnonzero(~is_first & (i[:last] <= j[:last]))
                if len(again) and repeated is None:
                    repeated = int(i[again[0]]), int(j[again[0]])
                report.repeats += len(again)
                report.self_loops += int(np.count_nonzero((i == j)[starts]))
                refuse_repeats(symmetrize, repeated, values, numbering)
                rows.append(i[starts], j[starts], values)
            i, j, weights = i[last:], j[last:], weights[last:]
        rows.finish()
        self._database.run("drop table edges")
        return rows


class SortedRows:
    """The rows of an adjacency: columns and weights of the entries in two files, and in memory where each row ends."""

    def __init__(self, folder: Path, n: int) -> None:
        self._folder = folder
        self.ends = np.zeros(n + 1, dtype=np.int64)

    def append(self, rows: Ints, columns: Ints, weights: Floats) -> None:
        """Take entries, all of them in the order of rows and columns."""
        first, last = int(rows[0]), int(rows[-1])
        self.ends[first + 1 : last + 2] += np.bincount(rows - first)
        for name, values in {"columns": columns, "weights": weights}.items():
            with (self._folder / name).open("ab") as file:
                file.write(np.ascontiguousarray(values).data)

    def finish(self) -> None:
        """End the rows; what follows reads."""
        np.cumsum(self.ends, out=self.ends)

    def read(self, name: str, first: int, last: int) -> Iterator[Array]:
        """Yield the entries `first` up to `last` of the file `columns` or `weights`, some at a time."""
        kind = np.int64 if name == "columns" else np.float64
        for start in range(first, last, ENTRIES):
            yield np.fromfile(self._folder / name, kind, min(ENTRIES, last - start), offset=8 * start)

    def matrix(self) -> sp.csr_array:
        """Return the rows as a matrix in memory."""
        n, entries = len(self.ends) - 1, int(self.ends[-1])
        indices = np.empty(entries, dtype=np.int32 if max(n, entries) < 2**31 else np.int64)
        values = np.empty(entries)
        for name, target in (("columns", indices), ("weights", values)):
            at = 0
            for piece in self.read(name, 0, entries):
                target[at : at + len(piece)] = piece
                at += len(piece)
        return sp.csr_array((values, indices, self.ends.astype(indices.dtype)), shape=(n, n))
