"""Ids: exact, of one kind, unique; joins by string form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from unseen.ids import as_ids, default_ids, match_ids, require_unique

ROUNDS = settings(max_examples=80, deadline=None, derandomize=True, database=None)
INTEGERS = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=8)
STRINGS = st.lists(st.text(max_size=4), max_size=8)


@ROUNDS
@given(INTEGERS | STRINGS)
def test_ids_are_kept_exactly(values: list[Any]) -> None:
    ids = as_ids(values)
    assert ids.tolist() == values
    assert ids.dtype == (np.int64 if values and isinstance(values[0], int) else object)
    assert not ids.flags.writeable


def test_an_array_given_is_neither_shared_nor_locked() -> None:
    for given_ids in (np.array([3, 4]), np.array(["x", "y"], dtype=object)):
        ids = as_ids(given_ids)
        kept = ids.tolist()
        given_ids[0] = given_ids[1]
        assert ids.tolist() == kept


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.int64, "U3"])
def test_numpy_types(dtype: Any) -> None:
    ids = as_ids(np.array(["7", "12"]).astype(dtype))
    assert ids.tolist() == (["7", "12"] if dtype == "U3" else [7, 12])


@pytest.mark.parametrize(
    ("values", "match"),
    [
        (["a", 1], r"all strings or all integers, found 1 of type int"),
        ([1, None], r"found None of type NoneType"),
        ([1.0], r"found 1\.0 of type float"),
        ([True, False], r"found True of type bool"),
        ([(1, 2), (3, 4)], r"found \(1, 2\) of type tuple"),
        ([[1], [2]], r"found \[1\] of type list"),
        (np.zeros((2, 2), dtype=int), r"must be one-dimensional, got an array of shape \(2, 2\)"),
        ("abc", r"must be a list of ids, one per row, got 'abc'"),
        (3, r"must be a list of ids, one per row, got 3"),
        ([2**63], r"do not fit into 64-bit integers; pass them as strings"),
    ],
)
def test_what_is_no_id(values: Any, match: str) -> None:
    with pytest.raises(unseen.InputError, match=match):
        as_ids(values)


def test_the_message_names_what_was_given() -> None:
    with pytest.raises(unseen.InputError, match=r"^src must be all strings"):
        as_ids([None], what="src")


@pytest.mark.parametrize(("values", "twice"), [([3, 1, 3], "3"), (["b", "a", "b"], "'b'")])
def test_repeated_ids_are_named(values: list[Any], twice: str) -> None:
    with pytest.raises(unseen.InputError, match=rf"must be unique, {twice} occurs more than once"):
        require_unique(as_ids(values))


def test_unique_ids_pass() -> None:
    require_unique(as_ids(["1", "01"]))
    require_unique(default_ids(3))


@ROUNDS
@given(INTEGERS.map(lambda v: list(dict.fromkeys(v))), INTEGERS)
def test_matching_by_string_form(known: list[int], wanted: list[int]) -> None:
    expected = [known.index(w) if w in known else -1 for w in wanted]
    assert match_ids(as_ids(wanted), as_ids(known)).tolist() == expected
    as_text = [str(v) for v in known]
    assert match_ids(as_ids(wanted), as_ids(as_text)).tolist() == expected
    assert match_ids(as_ids([str(w) for w in wanted]), as_ids(known)).tolist() == expected


def test_leading_zeros_do_not_match() -> None:
    assert match_ids(as_ids(["007", "7"]), as_ids([7])).tolist() == [-1, 0]
