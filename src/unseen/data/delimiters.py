"""What separates the columns of a text file."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence

from unseen.errors import InputError

BLANK = " "
"""The delimiter that stands for any run of blanks and tabs."""
NEVER = "\x1f"
"""A delimiter that no text has, for files of one column."""
_BLANKS = " \t"
_RUN = re.compile(r"[ \t]+")
_QUOTED = re.compile(r'"[^"]*"?')
_BLANK_ALONE = re.compile(r"[^\s,;][ \t]+[^\s,;]")
"""A blank between two cells, not one after a comma or a semicolon."""


def split_line(line: str, delimiter: str | None) -> list[str]:
    """Return the cells of one line, to count them and to compare their names."""
    if delimiter == BLANK:
        line = line.strip(_BLANKS).replace("\t", BLANK)
    pieces = [piece + "\n" for piece in line.split("\n")]  # only a line feed ends a line
    try:
        cells = next(csv.reader(pieces, delimiter=delimiter or NEVER, skipinitialspace=True), [])
    except csv.Error:  # a cell beyond the csv module's limit: not a header, and not quoted
        cells = line.split(delimiter)
    return [cell.strip(_BLANKS) for cell in cells]


def sniff_delimiter(
    lines: Sequence[str],
    suffix: str,
    source: str,
    *,
    blanks: bool,
    has_names: Callable[[Sequence[str]], bool],
) -> str | None:
    """Return the delimiter of the first `lines` of a file, or None where they have one column.

    A delimiter under which the first line has known names (`has_names`) wins; then one that splits every line
    into the same number of cells; then the one most lines have, so that the odd line can be named.

    Parameters
    ----------
    lines : sequence of str
        The first lines that are not comments.
    suffix : str
        That of the file; commas come first in ``.csv``, and blanks in ``.edgelist``, as networkx writes it.
    source : str
        What messages call the file.
    blanks : bool
        Whether blanks may separate columns; not in a list of nodes, where they belong to the ids.
    has_names : callable
        Whether the cells of the first line are known names of columns.
    """
    if blanks and suffix == ".edgelist" and all(_BLANK_ALONE.search(line) for line in lines):
        return BLANK
    candidates = [",", "\t", ";"] if suffix == ".csv" else ["\t", ",", ";"]
    if blanks:
        candidates.append(BLANK)
    others = any(sign in lines[0] for sign in candidates if sign != BLANK)
    for delimiter in candidates[: -1 if others and blanks else None]:
        cells = split_line(lines[0], delimiter)
        if len(cells) > 1 and has_names(cells):
            return delimiter
    bare = [_QUOTED.sub("q", line).strip(" ") for line in lines]
    counts = {d: [_count(line, d) for line in bare] for d in candidates}
    even = [d for d in candidates if counts[d][0] and len(set(counts[d])) == 1]
    if even[:1] == [","] and ";" in even:
        msg = (
            f"the columns of {source} may be separated by ',' or by ';'; say which with delimiter=... "
            "or begin the file with a header line"
        )
        raise InputError(msg)
    if even:
        return even[0]
    most = max(candidates, key=lambda d: sum(count > 0 for count in counts[d]))
    return most if any(counts[most]) else None


def separates_all(lines: Sequence[str], delimiter: str) -> bool:
    """Return whether each of the first `lines` has this delimiter outside quotes."""
    return all(_count(_QUOTED.sub("q", line), delimiter) for line in lines)


def _count(line: str, delimiter: str) -> int:
    return len(_RUN.findall(line.strip(_BLANKS))) if delimiter == BLANK else line.count(delimiter)
