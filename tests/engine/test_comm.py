"""One process alone, and what is said when others are missing; groups are tested in test_processes.py."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from unseen.engine.comm import SOLO, CommError, _explain_errors, connect
from unseen.errors import InputError


def test_one_process_forms_no_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "1")
    with connect() as comm:
        assert comm is SOLO
        assert not torch.distributed.is_initialized()


def test_alone_sums_and_exchanges_change_nothing() -> None:
    array, rows = np.arange(3.0), torch.ones(2, 1)
    assert SOLO.sum_(array) is array
    assert SOLO.exchange(rows, [2], [2]) is rows
    assert SOLO.exchange(array, [3], [3]) is array
    with pytest.raises(ValueError, match="cannot receive"):
        SOLO.exchange(rows, [2], [1])


def test_what_torch_says_of_a_lost_connection_becomes_a_sentence() -> None:
    lost = pytest.raises(CommError, match="a sum failed: Connection closed by peer; if a process died")
    with lost, _explain_errors("a sum"):
        raise RuntimeError("Connection closed\n by peer")
    with pytest.raises(InputError, match="ours"), _explain_errors("a sum"):
        raise InputError("ours")


def test_where_in_torch_an_error_comes_from_is_left_out() -> None:
    place = "[/build/gloo/transport/tcp/unbound_buffer.cc:129] "
    with (
        pytest.raises(CommError, match=r"^an exchange failed: Timed out"),
        _explain_errors("an exchange"),
    ):
        raise RuntimeError(place + "Timed out waiting 15000ms")
