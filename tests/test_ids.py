"""Ids: exact, of one kind; joins by string form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.int64, "U3"])
def test_numpy_types(dtype: Any) -> None:
    ids = as_ids(np.array(["7", "12"]).astype(dtype))
    assert ids.tolist() == (["7", "12"] if dtype == "U3" else [7, 12])


@ROUNDS
@given(INTEGERS.map(lambda v: list(dict.fromkeys(v))), INTEGERS)
def test_matching_by_string_form(known: list[int], wanted: list[int]) -> None:
    expected = [known.index(w) if w in known else -1 for w in wanted]
    assert match_ids(as_ids(wanted), as_ids(known)).tolist() == expected
    assert match_ids(as_ids(wanted), as_ids([str(v) for v in known])).tolist() == expected
    assert match_ids(as_ids([str(w) for w in wanted]), as_ids(known)).tolist() == expected


def test_leading_zeros_make_another_id() -> None:
    assert match_ids(as_ids(["007", "7"]), as_ids([7])).tolist() == [-1, 0]
    require_unique(as_ids(["1", "01"]))
    require_unique(default_ids(3))
