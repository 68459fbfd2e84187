"""Whether the first row of a text file is a header, by what the file itself holds.

A first row is a header if the user says so, if it has known names, or if it has text where later rows have numbers.
A row of text above text is data: only known names make it a header, and of labels, features and texts the ids of the
other sources (`is_only_stranger`). Each header that nobody announced is named in a notice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from unseen.data.names import (
    DST,
    FIRST_ONLY,
    LABEL,
    NODE,
    NODE_TYPE,
    PANDAS_INDEX,
    SRC,
    find_ends,
    has_id_word,
    is_label_name,
    is_text_name,
    is_thing,
    lower,
    neo4j_names,
    stem,
)
from unseen.data.sources import Role

HEADER_HINT = "; if this line is a header, say header=True (--header)"
_NUMBER = re.compile(r"[-+]?[$€£]?\d[\d.,' ]*(?:e[-+]?\d+)?\s?[%$€£]?", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?(?:[T ].*)?|\d\d?[./]\d\d?[./]\d{2,4}(?: .*)?|\d\d?:\d\d(?::\d\d)?")
_TRUTH = {"true", "false", "yes", "no", "inf", "-inf"}
_MISSING = {"", "na", "nan", "n/a", "<na>", "null", "none", "nil", "-", "--", "?", ".", "unknown", "missing"}
_SHAPES = ((re.compile(r"[A-Z]+"), "A"), (re.compile(r"[^\W\dA-Z_]+"), "a"), (re.compile(r"\d+"), "9"))


def is_number(cell: str) -> bool:
    """Return whether a cell holds one number, as files write them."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def is_value(cell: str) -> bool:
    """Return whether a cell holds a number, a date or a truth value, none of which is the name of a column."""
    cell = cell.strip()
    return (
        is_number(cell)
        or cell.lower() in _TRUTH
        or bool(_NUMBER.fullmatch(cell))
        or bool(_DATE.fullmatch(cell))
    )


def holds_only(test: Callable[[str], bool], rows: Sequence[Sequence[str]], column: int) -> bool:
    """Return whether all cells of a column pass a test, missing ones aside."""
    cells = [row[column] for row in rows if column < len(row)]
    cells = [cell for cell in cells if cell.strip().lower() not in _MISSING]
    return bool(cells) and all(map(test, cells))


def has_sure_names(role: Role, cells: Sequence[str]) -> bool:
    """Return whether these are the names that documentation asks for: ``src, dst``; ``node, label``."""
    names = set(neo4j_names(lower(cells), role))
    if role == "edges":
        return bool(names.intersection(SRC) and names.intersection(DST))
    if role == "labels":
        return bool(names.intersection(NODE) and names.intersection(LABEL))
    # features that we write are below `node`, whatever the others are called
    return "node" in names or (bool(names.intersection(NODE)) and not any(map(is_value, cells)))


def has_known_names(role: Role, cells: Sequence[str]) -> bool:
    """Return whether these cells are names of columns, if the rows below do not say otherwise."""
    names = lower(cells)
    if has_sure_names(role, cells):
        return True
    if role == "edges":
        if any(map(is_value, cells)) or len(cells) < 2:
            return False
        ends = [cell for cell, name in zip(cells, names, strict=True) if name not in ("", "unnamed: 0")]
        things = [is_thing(end) or (k == 1 and is_label_name(end)) for k, end in enumerate(ends[:2])]
        return find_ends(ends) is not None or things == [True, True]
    first = names[0] in (*NODE, PANDAS_INDEX, *FIRST_ONLY)
    if role == "nodes":
        typed = len(cells) > 1 and any(name in NODE_TYPE for name in names[1:])
        return (first and names[0] != "") or has_id_word(cells[0]) or (typed and is_thing(cells[0]))
    if role in ("features", "vectors"):
        numbers = [cell for cell in cells[1:] if is_value(cell)]
        counted = not numbers or (len(numbers) == len(cells) - 1 and _is_count(numbers, role))
        many = role == "vectors" and len(numbers) > 2 and not is_value(cells[0])
        return counted and (first or is_thing(cells[0]) or any(n in NODE for n in names) or many)
    if any(map(is_value, cells)):
        return False
    labelled = any(is_label_name(cell) or is_text_name(cell) or is_thing(cell) for cell in cells[1:])
    strict = any(name in (*NODE, *LABEL) for name in names) or has_id_word(cells[0])
    label_first = len(cells) > 1 and is_label_name(cells[0]) and has_id_word(cells[1])
    return strict or (labelled and (first or is_thing(cells[0]))) or label_first


def _is_count(cells: Sequence[str], role: Role) -> bool:
    """Return whether names of columns count on by one, as pandas' do, or as years."""
    if not cells or not all(cell.strip().isdigit() for cell in cells):
        return False
    numbers = [int(cell) for cell in cells]
    steps = all(b - a == 1 for a, b in pairwise(numbers))
    return steps and (numbers[0] in (0, 1) or (1900 <= numbers[0] <= 2100 and role == "features"))


def explain_header(role: Role, cells: Sequence[str], rows: Sequence[Sequence[str]]) -> str | None:
    """Return why the first row of a file is a header, or None; `rows` are those below it, or the first of many.

    Examples
    --------
    >>> explain_header("edges", ["zig", "zag", "zug"], [["P1", "P2", "3"]])
    'it has text above numbers'
    >>> explain_header("edges", ["u", "v"], [["v", "w"], ["w", "u"]]) is None
    True
    """
    if has_sure_names(role, cells):
        return "it has known names"
    n_ids = 2 if role == "edges" else 1
    below = {row[k] for row in rows for k in range(min(n_ids, len(row)))}
    if below.intersection(cell for cell in cells[:n_ids] if cell):
        return None
    if role == "labels" and _has_label_again(cells, rows):
        return None
    if has_known_names(role, cells):
        stems = {stem(cell) for cell in below}
        if not any(stem(cell) in stems for cell in cells[:n_ids] if stem(cell)):
            return "it has known names"
    if role == "edges" and _is_pair_of_one_stem(cells, below):
        return "its first two cells are one name with two endings"
    named = [cell for cell in cells if is_value(cell)]
    numbered = role in ("features", "vectors") and len(named) == len(cells) - 1 and _is_count(named, role)
    if named and not numbered:
        return None
    texts = (k for k, cell in enumerate(cells) if not is_value(cell) and cell.strip().lower() not in _MISSING)
    return "it has text above numbers" if any(holds_only(is_value, rows, k) for k in texts) else None


def may_be_header(role: Role, cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a first row could still be a header where the file alone does not tell."""
    n_ids = 2 if role == "edges" else 1
    fractions = any(is_value(cell) and not cell.strip().isdigit() for cell in cells)
    repeats = role == "labels" and _has_label_again(cells, rows)
    return not any(map(is_value, cells[:n_ids])) and not fractions and not repeats


def _has_label_again(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether another row has one of these labels: the name of a column is not a class."""
    return any(cell and cell in row[k : k + 1] for k, cell in enumerate(cells) if k for row in rows)


def _is_pair_of_one_stem(cells: Sequence[str], below: set[str]) -> bool:
    """Return whether two cells are one name with two endings, and no id of the file is written in the same way."""
    if len(cells) < 2 or find_ends(cells[:2], any_stem=True) is None:
        return False
    shapes, stems = {_shape(cell) for cell in below}, {stem(cell) for cell in below}
    return bool(below) and not any(_shape(cell) in shapes or stem(cell) in stems for cell in cells[:2])


def _shape(cell: str) -> str:
    """Return how an id is written: ``a_9`` for ``user_17``, ``A9`` for ``TP53``."""
    for pattern, sign in _SHAPES:
        cell = pattern.sub(sign, cell)
    return cell
