"""DuckDB behind a few calls: tables larger than memory, sorted and joined within a bound.

A query runs on a thread of its own, so that Ctrl-C reaches Python while the engine works.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from unseen.errors import InputError, OutputError, need_library

T = TypeVar("T")

PIECE = 1 << 18
"""Rows that come out of the database together."""


class Database:
    """A database that lives as long as the block; what memory does not hold waits in `folder`.

    Parameters
    ----------
    folder : Path
        For what does not fit.
    memory : int
        Bytes that the engine may take.
    threads : int
        How many threads it may use.
    """

    def __init__(self, folder: Path, *, memory: int, threads: int) -> None:
        duckdb = need_library("duckdb", "a partition", "scale")
        self._errors = duckdb
        self._folder = folder
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="unseen-database")
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
        self._worker.shutdown()
        self._connection.close()

    def run(self, statement: str) -> None:
        """Run a statement that returns nothing."""
        self._wait(lambda: self._connection.execute(statement))

    def row(self, query: str, *values: object) -> tuple[Any, ...]:
        """Return the first row of a query; each `?` in it stands for one of the values."""
        return self._wait(lambda: tuple(self._connection.execute(query, list(values)).fetchall()[0]))

    def table(self, query: str) -> pa.Table:
        """Return all that a query returns, which must fit in memory."""
        return self._wait(lambda: self._connection.sql(query).to_arrow_table())

    def insert(self, table: str, rows: pa.Table) -> None:
        """Append rows whose columns are in the order of the table's."""

        def work() -> None:
            self._connection.register("arriving", rows)
            self._connection.execute(f"insert into {table} select * from arriving")
            self._connection.unregister("arriving")

        self._wait(work)

    def rows(self, query: str, size: int = PIECE) -> Iterator[pa.Table]:
        """Yield what a query returns, `size` rows at a time: no piece depends on how many threads worked."""
        reader = self._wait(lambda: self._connection.sql(query).to_arrow_reader(size))
        waiting = reader.schema.empty_table()
        while (batch := self._wait(lambda: next(reader, None))) is not None:
            waiting = pa.concat_tables([waiting, pa.Table.from_batches([batch])])
            while len(waiting) >= size:
                yield waiting.slice(0, size).combine_chunks()
                waiting = waiting.slice(size)
        if len(waiting):
            yield waiting.combine_chunks()

    def _wait(self, work: Callable[[], T]) -> T:
        task = self._worker.submit(work)
        try:
            return task.result()
        except (self._errors.OutOfMemoryException, self._errors.IOException) as error:
            reason = str(error).splitlines()[0]
            if re.search("max_temp_directory_size|No space left|disk full", str(error), re.IGNORECASE):
                reason = "the disk is full; free some space or choose another disk"
            elif isinstance(error, self._errors.OutOfMemoryException):
                msg = "`memory` (--memory) is too small for this graph; give more, or fewer threads"
                raise InputError(msg) from None
            msg = f"cannot write {self._folder}: {reason}"
            raise OutputError(msg) from None
        except BaseException:  # Ctrl-C: the query must end before its files are removed
            self._connection.interrupt()
            task.exception()
            raise
