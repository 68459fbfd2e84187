"""Is the first line of a text file a header? Names we know for sure say so; else its ids are looked up.

A line of data whose ids stand elsewhere too is never dropped, whatever was said: `header` is one word
for several files, and one of them may have no header.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import InputError, logger
from unseen.io.columns import (
    FIRST_ONLY,
    LABEL,
    edge_pair,
    is_edge_header,
    is_label_header,
    is_node_header,
)
from unseen.io.sniff import HeaderTest
from unseen.io.tables import Table

Stranger = Literal["refuse", "warn", "leave"]
"""What becomes of a first line that names a node unlike all others."""

LABEL_TOO = ("category", "target", "y", "topic", "group", "classes")
"""Further names of labels; alone they could be anything."""
_FEW_STRANGERS = 0.01
_FEW_EDGES = 3


def may_be_edge_header(cells: Sequence[str]) -> bool:
    """Return whether these lower-case cells could name the ends of an edge, as ``from, to`` do."""
    return is_edge_header(cells) or edge_pair(cells) is not None


def may_be_label_header(cells: Sequence[str]) -> bool:
    """Return whether these lower-case cells could name nodes and labels, as ``name, category`` do."""
    return is_label_header(cells) or (
        len(cells) > 1 and cells[0] in FIRST_ONLY and any(cell in (*LABEL, *LABEL_TOO) for cell in cells[1:])
    )


def may_be_node_header(cells: Sequence[str]) -> bool:
    """Return whether the first of these lower-case cells could name nodes, as ``vertex`` does."""
    return is_node_header(cells) or (bool(cells) and cells[0] in FIRST_ONLY)


def settle_edges(table: Table) -> tuple[Table, tuple[str, str] | None]:
    """Return the table with its header as names, and the ends in a first line that was dropped because told to."""
    if not table.text:
        return table, None
    if table.names is None:
        return (table if table.told else _settle_unknown_edges(table)), None
    if not table.told or is_edge_header(_lower(table.names)) or len(table.names) < 2:
        return table, None
    ends = table.names[0], table.names[1]
    repeats = _repeats(table, ends)
    if repeats or (len(table.names) == 3 and _is_number(table.names[2])):
        return _as_row(
            table, "its ids stand in other lines too" if repeats else "its third cell is a weight"
        ), None
    return table, ends


def _settle_unknown_edges(table: Table) -> Table:
    first = _first_row(table)
    if len(first) < 2:
        return table
    pair = edge_pair(_lower(first)) or (0, 1)
    ends = first[pair[0]], first[pair[1]]
    repeats = _repeats(table, ends, pair)
    if edge_pair(_lower(first)) is not None and not repeats:
        return _as_header(table)
    digits = [pc.utf8_is_digit(table.columns[k]) for k in (0, 1)]
    above_numbers = (
        table.n_rows > 1
        and not any(d[0].as_py() for d in digits)
        and all(pc.all(d[1:]).as_py() for d in digits)
    )
    if above_numbers or (not repeats and table.n_rows > _FEW_EDGES):
        why = "all other ids are numbers" if above_numbers else "its ids stand in no other line"
        logger.warning(
            "%s (%s) was read as an edge though %s; for a header say header=True (--header)",
            table.place(0),
            ", ".join(ends),
            why,
        )
    return table


def settle_ids(
    table: Table,
    is_header: HeaderTest,
    may_be_header: HeaderTest,
    known: pa.Array | None,
    stranger: Stranger = "leave",
) -> Table:
    """Return the table of a nodes, features or labels file with its header as names.

    Parameters
    ----------
    table : Table
        As read; its ids stand in the first column where there are no names.
    is_header, may_be_header : callable
        Names that make a header for sure, and those that make one of a line that names no known node.
    known : pyarrow array, optional
        The ids of the other sources.
    stranger : {"refuse", "warn", "leave"}
        What to do with a first line that names no known node where (nearly) all others do.
    """
    if not table.text:
        return table
    quiet = known is not None and stranger == "leave"  # for a graph whose reading has told it
    if table.names is not None:
        if not table.told or is_header(_lower(table.names)):
            return table
        if _stands_below(table, 0, table.names[0]) or contains(known, table.names[0]):
            return _as_row(table, f"the node {table.names[0]!r} stands elsewhere too")
        if not quiet:
            _say_dropped(table)
        return table
    if table.told or table.n_rows == 0:
        return table
    first = _first_row(table)
    if contains(known, first[0]) or _stands_below(table, 0, first[0]):
        return table
    if may_be_header(_lower(first)):
        return _as_header(table, quiet=quiet)
    if stranger != "leave" and known is not None and _looks_alone(table, known):
        msg = (
            f"{table.place(0)}: the id {first[0]!r} stands in no other source though the others do, as a header would; "
            "if it is one, say header=True (--header), if it is a node, name it in `nodes` (--nodes)"
        )
        if stranger == "refuse":
            raise InputError(msg)
        logger.warning(
            "%s (%s) was read as a node though it alone stands in no other source; "
            "for a header say header=True (--header)",
            table.place(0),
            first[0],
        )
    return table


def _looks_alone(table: Table, known: pa.Array) -> bool:
    others = table.columns[0].slice(1).cast(pa.large_string())
    if not len(others):
        return False
    strangers = pc.sum(pc.invert(pc.is_in(others, known.cast(pa.large_string())))).as_py()
    return bool(strangers <= _FEW_STRANGERS * len(others))


def contains(known: pa.Array | None, value: str) -> bool:
    """Return whether an id stands in a column of ids, by string form."""
    if known is None or not len(known):
        return False
    return bool(pc.any(pc.equal(known.cast(pa.large_string()), value), min_count=0).as_py())


def say_dropped(source: str, cells: Sequence[str]) -> None:
    """Say that a first line was taken as a header, so that nobody loses a row unknowingly."""
    logger.info("%s: the first line (%s) was taken as a header", source, ", ".join(cells))


def _say_dropped(table: Table) -> None:
    say_dropped(table.source, table.names or ())


def _as_header(table: Table, *, quiet: bool = False) -> Table:
    """Return the table with its first row as the names of the columns."""
    made = replace(
        table,
        columns=tuple(column.slice(1) for column in table.columns),
        names=tuple(_first_row(table)),
        place=lambda row: table.place(row + 1),
    )
    if not quiet:
        _say_dropped(made)
    return made


def _as_row(table: Table, why: str) -> Table:
    """Return the table with its names as its first row, and say so: a header was asked for."""
    names = table.names or ()
    columns = []
    for name, column in zip(names, table.columns, strict=True):
        if not pa.types.is_large_string(column.type):
            if not _is_number(name):
                return table  # a word above numbers: a header after all
            columns.append(pa.chunked_array([pa.array([float(name)], column.type), *column.chunks]))
        else:
            columns.append(pa.chunked_array([pa.array([name], column.type), *column.chunks]))
    logger.warning(
        "%s: the first line (%s) was kept as a row, though header=True (--header), because %s",
        table.source,
        ", ".join(names),
        why,
    )

    def place(row: int) -> str:
        return f"{table.source}, the first line" if row == 0 else table.place(row - 1)

    return replace(table, columns=tuple(columns), names=None, place=place)


def _first_row(table: Table) -> list[str]:
    return [str(column[0].as_py()) for column in table.columns] if table.n_rows else []


def _lower(cells: Sequence[str]) -> list[str]:
    return [cell.strip().lower() for cell in cells]


def _repeats(table: Table, ends: tuple[str, str], columns: tuple[int, int] = (0, 1)) -> bool:
    return any(_stands_below(table, k, end) for k in columns for end in ends)


def _stands_below(table: Table, index: int, value: str) -> bool:
    column = table.columns[index].slice(0 if table.names is not None else 1)
    return bool(len(column)) and bool(pc.any(pc.equal(column, value), min_count=0).as_py())


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
