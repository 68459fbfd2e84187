"""Is the first line of a text file a header? Names that are sure say so; any other line waits until all ids are known.

There is one rule, whether a file is read whole or in pieces: a line of data whose ids stand elsewhere too is never
dropped, whatever was said (`header` is one word for several files, and one of them may have no header); a line that
was taken as a header is named in a notice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from unseen.data.sources import Role
from unseen.data.tables import First
from unseen.errors import InputError, logger

SRC, DST, WEIGHT = ("src", "source"), ("dst", "target"), ("weight",)
NODE, LABEL = ("node", "node_id", "id"), ("label", "labels", "class")
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

HeaderTest = Callable[[Sequence[str]], bool]
"""From the cells of a first line, stripped and in lower case, to whether they are column names."""


def is_edge_header(cells: Sequence[str]) -> bool:
    """Return whether these lower-case cells name both ends of an edge."""
    return bool(set(SRC) & set(cells) and set(DST) & set(cells))


def edge_pair(cells: Sequence[str]) -> tuple[int, int] | None:
    """Return where these lower-case cells name the two ends by one of the less usual pairs, or None.

    Examples
    --------
    >>> edge_pair(["weight", "from", "to"])
    (1, 2)
    """
    pair = next((pair for pair in EDGE_PAIRS if set(pair) <= set(cells)), None)
    return None if pair is None else (cells.index(pair[0]), cells.index(pair[1]))


def may_be_edge_header(cells: Sequence[str]) -> bool:
    """Return whether these lower-case cells could name the ends of an edge, as ``from, to`` do."""
    return is_edge_header(cells) or edge_pair(cells) is not None


def is_label_header(cells: Sequence[str]) -> bool:
    """Return whether these lower-case cells name a column of nodes or one of labels."""
    return bool(set(NODE + LABEL) & set(cells))


def may_be_label_header(cells: Sequence[str]) -> bool:
    """Return whether these lower-case cells could name nodes and labels, as ``name, category`` do."""
    return is_label_header(cells) or (
        len(cells) > 1 and cells[0] in FIRST_ONLY and any(cell in (*LABEL, *LABEL_TOO) for cell in cells[1:])
    )


def is_node_header(cells: Sequence[str]) -> bool:
    """Return whether one of these lower-case cells names a column of nodes."""
    return bool(set(NODE) & set(cells))


def may_be_node_header(cells: Sequence[str]) -> bool:
    """Return whether the first of these lower-case cells could name nodes, as ``vertex`` does."""
    return is_node_header(cells) or (bool(cells) and cells[0] in FIRST_ONLY)


def is_feature_header(cells: Sequence[str]) -> bool:
    """Return whether these cells head a table of numbers: a known name, or no number beside the id."""
    empty_or_number = [not cell or is_number(cell) for cell in cells[1:]]
    return is_node_header(cells) or (len(cells) > 1 and not any(empty_or_number))


def may_be_feature_header(cells: Sequence[str]) -> bool:
    """Return whether these cells could head a table of numbers: columns called 0, 1, 2, ... are pandas' way.

    Examples
    --------
    >>> may_be_feature_header(["paper", "0", "1", "2"]), may_be_feature_header(["paper", "0", "0", "2"])
    (True, False)
    """
    return may_be_node_header(cells) or (
        len(cells) > 3 and list(cells[1:]) == [str(k) for k in range(len(cells) - 1)]
    )


def id_position(names: Sequence[str]) -> int | None:
    """Return which of these column names is that of the ids, in any case, or None; pandas' index counts as one.

    Examples
    --------
    >>> id_position(["x", "ID"]), id_position(["word", "x"]), id_position(["x", "word"])
    (1, 0, None)
    """
    own = lower(names)
    position = next((own.index(name) for name in (*NODE, PANDAS_INDEX) if name in own), None)
    return 0 if position is None and own and own[0] in FIRST_ONLY else position


@dataclass(frozen=True)
class Rule:
    """How text files of one role begin.

    Attributes
    ----------
    sure, may_be : callable
        Names that make a header for sure, and those that make one of a line whose ids stand nowhere else.
    blanks : bool
        Whether blanks may separate the columns; in a list of nodes they belong to the ids.
    stranger : {"refuse", "warn", "leave"}
        What becomes of a first line that alone names no node of the other sources.
    """

    sure: HeaderTest
    may_be: HeaderTest
    blanks: bool = True
    stranger: Literal["refuse", "warn", "leave"] = "refuse"


RULES: dict[Role, Rule] = {
    "edges": Rule(is_edge_header, may_be_edge_header, stranger="leave"),
    "nodes": Rule(is_node_header, may_be_node_header, blanks=False, stranger="warn"),
    "features": Rule(is_feature_header, may_be_feature_header),
    "labels": Rule(is_label_header, may_be_label_header),
    "vectors": Rule(is_feature_header, may_be_feature_header, blanks=False, stranger="leave"),
}


def judge(
    role: Role, cells: Sequence[str], header: bool | None, place: str
) -> Literal["header", "row", "wait"]:
    """Return what the first line of a text file is, as far as it alone can tell."""
    if header is False:
        return "row"
    names = lower(cells)
    if RULES[role].sure(names):
        return "header"
    if role != "edges" or len(cells) == 2:
        return "wait"
    weight = len(cells) == 3 and is_number(cells[2])
    if header and weight:
        _say_kept(place, cells, "its third cell is a weight")
    if weight or not (header or RULES[role].may_be(names)):
        return "row"
    _say_dropped(place, cells)  # a third cell that is no number makes it no edge
    return "header"


@dataclass(frozen=True)
class Facts:
    """What is known of the ids once all sources are read; each is asked for only where it matters.

    Attributes
    ----------
    stands : callable
        Whether an id stands in another line of the file, or in another source.
    n_rows : int
        Number of other lines of the file.
    all_numbers : bool
        Whether all ids in these are written in digits.
    strangers : callable, optional
        How many of these lines name a node that no other source names; None: there is no other source.
    """

    stands: Callable[[str], bool]
    n_rows: int
    all_numbers: bool = False
    strangers: Callable[[], int] | None = None


def is_row(first: First, role: Role, facts: Facts) -> bool:
    """Return whether a first line that waited is a row, not a header; what nobody told us is said."""
    ends = first.cells[: 2 if role == "edges" else 1]
    names = lower(first.cells)
    if any(map(facts.stands, ends)):
        if first.told:
            _say_kept(first.place, first.cells, f"{listed_ids(ends)} elsewhere too")
        return True
    digits = [cell.isdigit() for cell in ends]
    above_numbers = role == "edges" and facts.n_rows > 0 and facts.all_numbers and not any(digits)
    if first.told or RULES[role].may_be(names) or above_numbers:
        why = "all other ids are numbers" if above_numbers and not first.told else ""
        _say_dropped(first.place, first.cells, why)
        return False
    if role == "edges" and facts.n_rows >= _FEW_EDGES:
        logger.warning(
            "%s (%s) was read as an edge though its ids stand in no other line; for a header say header=True "
            "(--header)",
            first.place,
            ", ".join(ends),
        )
    stranger = RULES[role].stranger
    if stranger != "leave" and _is_alone(facts):
        _tell_stranger(first, stranger)
    return True


def _is_alone(facts: Facts) -> bool:
    if facts.strangers is None or not facts.n_rows:
        return False
    return facts.strangers() <= _FEW_STRANGERS * facts.n_rows


def _tell_stranger(first: First, stranger: str) -> None:
    name = first.cells[0]
    if stranger == "refuse":
        msg = (
            f"{first.place}: the id {name!r} stands in no other source though the others do, as a header would; "
            "if it is one, say header=True (--header), if it is a node, name it in `nodes` (--nodes)"
        )
        raise InputError(msg)
    logger.warning(
        "%s (%s) was read as a node though it alone stands in no other source; for a header say header=True "
        "(--header)",
        first.place,
        name,
    )


def _say_dropped(place: str, cells: Sequence[str], why: str = "") -> None:
    because = f": {why}" if why else ""
    logger.info("%s (%s) was taken as a header%s", place, ", ".join(cells), because)


def _say_kept(place: str, cells: Sequence[str], why: str) -> None:
    logger.warning(
        "%s (%s) was kept as a row, though header=True (--header), because %s", place, ", ".join(cells), why
    )


def listed_ids(ends: Sequence[str]) -> str:
    """Return the subject of a sentence about one id or two."""
    return f"the node {ends[0]!r} stands" if len(ends) == 1 else "its ids stand"


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
