"""How a text file begins: what separates its columns, and whether its first line is a header.

Names that are sure make a header; any other line waits until all ids are known.

There is one rule, whether a file is read whole or in pieces: a line of data whose ids stand elsewhere too is never
dropped, whatever was said (`header` is one word for several files, and one of them may have no header); a line that
was taken as a header is named in a notice.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.ids import stacked
from unseen.data.sources import Role
from unseen.data.tables import First
from unseen.errors import InputError, logger

SRC, DST, WEIGHT = ("src", "source"), ("dst", "target"), ("weight",)
EDGE_COLUMNS = {
    "src": SRC,
    "dst": DST,
    "weight": WEIGHT,
    "type": ("type", "edge_type", "etype", "relation", "predicate"),
    "sign": ("sign",),
}
"""The columns of edges, and what they may be called."""
NODE, LABEL = ("node", "node_id", "id"), ("label", "labels", "class", "cell_type")
REPLACES, STATUS = ("replaces",), ("unseen_status", "status")
NODE_TYPE = ("type", "node_type", "ntype")
PANDAS_INDEX = "__index_level_0__"
FIRST_ONLY = ("nodeid", "ids", "vertex", "name", "key", "word", "index", "")
"""Names of ids in a first column only, since elsewhere they may be words that were counted."""
LABEL_TOO = ("category", "target", "y", "topic", "group", "classes")
"""Further names of labels; alone they could be anything."""
EDGE_PAIRS = (("from", "to"), ("u", "v"), ("node1", "node2"), ("head", "tail"), ("start", "end"))
"""Further names of the two ends; in text they could be nodes as well."""
HEADER_HINT = "; if this line is a header, say header=True (--header)"
_FEW_STRANGERS = 0.01
_FEW_EDGES = 3

BLANK = " "
"""The delimiter that stands for any run of blanks and tabs."""
NEVER = "\x1f"
"""A delimiter that no text has, for files of one column."""
_BLANKS = " \t"
_RUN = re.compile(r"[ \t]+")
_QUOTED = re.compile(r'"[^"]*"?')


def edge_pair(cells: Sequence[str]) -> tuple[int, int] | None:
    """Return where these lower-case cells name the two ends by one of the less usual pairs, or None."""
    pair = next((pair for pair in EDGE_PAIRS if set(pair) <= set(cells)), None)
    return None if pair is None else (cells.index(pair[0]), cells.index(pair[1]))


def is_header(role: Role, cells: Sequence[str]) -> bool:
    """Return whether these lower-case cells are names of columns for sure."""
    names = set(neo4j_names(cells, role))
    if role == "edges":
        return bool(names.intersection(SRC) and names.intersection(DST))
    words = all(cell and not is_number(cell) for cell in cells[1:])
    if words and len(cells) > 1 and role in ("features", "vectors"):
        return True  # no number beside the id
    return bool(names.intersection(NODE + LABEL if role == "labels" else NODE))


def may_be_header(role: Role, cells: Sequence[str]) -> bool:
    """Return whether these lower-case cells name columns, if the ids among them stand nowhere else.

    Columns of numbers that are called 0, 1, 2, ... are pandas' way.
    """
    numbers = role in ("features", "vectors")  # whose columns may be called anything
    if is_header("nodes" if numbers else role, cells):
        return True
    if role == "edges":
        return edge_pair(cells) is not None
    node = cells[0] in FIRST_ONLY
    if role == "labels":
        return node and any(cell in LABEL_TOO for cell in cells[1:])
    return node or (numbers and len(cells) > 3 and list(cells[1:]) == [str(k) for k in range(len(cells) - 1)])


def id_position(names: Sequence[str]) -> int | None:
    """Return which of these column names is that of the ids, in any case, or None; pandas' index counts as one."""
    own = lower(names)
    first = 0 if own and own[0] in FIRST_ONLY else None
    return next((own.index(name) for name in (*NODE, PANDAS_INDEX) if name in own), first)


_NEO4J = {
    "edges": {":start_id": "src", ":end_id": "dst", ":type": "type"},
    "nodes": {":id": "node", ":label": "type"},
}
_NEO4J_NAME = re.compile(
    r"[^:]*(:(?:id|start_id|end_id|label|type))(?:\(.*\))?|([^:]+):(?:float|double|int|long|short|byte)"
)


def neo4j_names(cells: Sequence[str], role: Role) -> list[str]:
    """Return column names with those of Neo4j's csv (``id:ID(Person)``, ``:START_ID``, ``weight:double``) as ours.

    Examples
    --------
    >>> neo4j_names([":START_ID(Person)", ":END_ID", "weight:double", ":TYPE"], "edges")
    ['src', 'dst', 'weight', 'type']
    """
    ours, own = _NEO4J.get(role, {}), list(cells)
    matches = [_NEO4J_NAME.fullmatch(cell.strip().lower()) for cell in own]
    if not any(match and match[1] in ours for match in matches):
        return own
    return [
        cell if match is None else ours.get(match[1], match[2] or cell)
        for cell, match in zip(own, matches, strict=True)
    ]


def judge(
    role: Role, cells: Sequence[str], header: bool | None, place: str
) -> Literal["header", "row", "wait"]:
    """Return what the first line of a text file is, as far as it alone can tell."""
    if header is False:
        return "row"
    names = lower(cells)
    if is_header(role, names):
        return "header"
    if role != "edges" or len(cells) == 2:
        return "wait"
    weight = len(cells) == 3 and is_number(cells[2])
    if header and weight:
        _say_kept(place, cells, "its third cell is a weight")
    if weight or not (header or may_be_header(role, names)):
        return "row"
    _say_dropped(place, cells)  # a third cell that is no number makes it no edge
    return "header"


def is_row(
    first: First,
    role: Role,
    n_rows: int,
    stands: Callable[[str], bool],
    *,
    all_numbers: bool,
    strangers: Callable[[], int] | None,
) -> bool:
    """Return whether a first line that waited is a row, not a header; what nobody told us is said.

    Parameters
    ----------
    first, role
        The line, and what its file is read as.
    n_rows : int
        Number of other lines of the file.
    stands : callable
        Whether an id stands in another line of the file, or in another source.
    all_numbers : bool
        Whether all ids in these lines are written in digits.
    strangers : callable, optional
        How many of these lines name a node that no other source names; None: there is no other source.
    """
    ends = first.cells[: 2 if role == "edges" else 1]
    if any(map(stands, ends)):
        if first.named_header:
            subject = f"the node {ends[0]!r} stands" if len(ends) == 1 else "its ids stand"
            _say_kept(first.place, first.cells, f"{subject} elsewhere too")
        return True
    above_numbers = role == "edges" and n_rows > 0 and all_numbers and not any(map(str.isdigit, ends))
    if first.named_header or may_be_header(role, lower(first.cells)) or above_numbers:
        why = "all other ids are numbers" if above_numbers and not first.named_header else ""
        _say_dropped(first.place, first.cells, why)
        return False
    alone = strangers is not None and n_rows > 0 and strangers() <= _FEW_STRANGERS * n_rows
    if alone and role in ("features", "labels"):
        msg = (
            f"{first.place}: the id {ends[0]!r} stands in no other source though the others do, as a header would; "
            "if it is one, say header=True (--header), if it is a node, name it in `nodes` (--nodes)"
        )
        raise InputError(msg)
    reason = {"nodes": "a node though it alone stands in no other source"} if alone else {}
    if n_rows >= _FEW_EDGES:
        reason["edges"] = "an edge though its ids stand in no other line"
    if role in reason:
        logger.warning(
            "%s (%s) was read as %s; for a header say header=True (--header)",
            first.place,
            ", ".join(ends),
            reason[role],
        )
    return True


def stands_in(columns: Sequence[pa.Array]) -> Callable[[str], bool]:
    """Return the test whether an id stands in one of these columns, by string form."""

    def stands(value: str) -> bool:
        for column in columns:
            if pa.types.is_integer(column.type):
                number = int(value) if value.lstrip("-").isdecimal() and str(int(value)) == value else None
                scalar = None if number is None or abs(number) >= 2**63 else pa.scalar(number, pa.int64())
            else:
                scalar = pa.scalar(value, pa.large_string())
            if scalar is not None and pc.index(column, scalar).as_py() >= 0:
                return True
        return False

    return stands


def strangers_among(own: list[pa.Array], others: list[pa.Array]) -> Callable[[], int] | None:
    """Return the number of own rows whose id stands in no other source; None where there is no other."""
    if not any(map(len, others)):
        return None

    def count() -> int:
        elsewhere = stacked(others).cast(pa.large_string())
        known = (pc.is_in(column.cast(pa.large_string()), elsewhere) for column in own)
        return sum(int(pc.sum(pc.invert(each), min_count=0).as_py()) for each in known)

    return count


def _say_dropped(place: str, cells: Sequence[str], why: str = "") -> None:
    because = f": {why}" if why else ""
    logger.info("%s (%s) was taken as a header%s", place, ", ".join(cells), because)


def _say_kept(place: str, cells: Sequence[str], why: str) -> None:
    logger.warning(
        "%s (%s) was kept as a row, though header=True (--header), because %s", place, ", ".join(cells), why
    )


def lower(cells: Sequence[str]) -> list[str]:
    """Return cells as names of columns are compared; a header may begin with ``#``."""
    names = [cell.strip().lower() for cell in cells]
    return [names[0].removeprefix("#").lstrip(), *names[1:]] if names else names


def is_number(cell: str) -> bool:
    """Return whether a cell holds one number, as files write them."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def split_line(line: str, delimiter: str | None) -> list[str]:
    """Return the cells of one record of text; a quoted cell may hold line breaks."""
    if delimiter == BLANK:
        line = line.strip(_BLANKS).replace("\t", BLANK)
    pieces = [piece + "\n" for piece in line.split("\n")]  # only a line feed ends a line
    try:
        cells = next(csv.reader(pieces, delimiter=delimiter or NEVER, skipinitialspace=True), [])
    except csv.Error:  # a cell beyond the csv module's limit: no header, and nothing quoted we could use
        cells = line.split(delimiter)
    return [cell.strip(_BLANKS) for cell in cells]


def sniff_delimiter(lines: Sequence[str], role: Role, suffix: str, source: str) -> str | None:
    """Return the delimiter of the first `lines` of a file, or None where they have one column.

    A delimiter under which the first line is a known header wins; then one that cuts every line
    into the same number of cells; then the one most lines have, so that the odd line can be named.
    Blanks separate no columns in a list of nodes, whose ids they belong to, nor in a table of vectors.
    """
    candidates = [",", "\t", ";"] if suffix == ".csv" else ["\t", ",", ";"]
    if role not in ("nodes", "vectors"):
        candidates.append(BLANK)
    for delimiter in candidates:
        cells = lower(split_line(lines[0], delimiter))
        if len(cells) > 1 and may_be_header(role, cells):
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


def cuts_all(lines: Sequence[str], delimiter: str) -> bool:
    """Return whether each of the first `lines` has this delimiter outside quotes."""
    return all(_count(_QUOTED.sub("q", line), delimiter) for line in lines)


def _count(line: str, delimiter: str) -> int:
    return len(_RUN.findall(line.strip(_BLANKS))) if delimiter == BLANK else line.count(delimiter)
