"""One process alone, and what is said when others are missing; groups are tested in test_processes.py."""

from __future__ import annotations

import pytest
import torch

from unseen.engine.comm import SOLO, CommError, _explain_errors, connect
from unseen.errors import InputError


def test_one_process_forms_no_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "1")
    with connect() as comm:
        assert comm is SOLO
        assert not torch.distributed.is_initialized()


def test_what_torch_says_of_a_lost_connection_becomes_a_sentence() -> None:
    lost = pytest.raises(CommError, match="a sum failed: Connection closed by peer; if a process died")
    with lost, _explain_errors("a sum"):
        raise RuntimeError("[/build/gloo/transport/tcp/pair.cc:129] Connection closed\n by peer")
    with pytest.raises(InputError, match="ours"), _explain_errors("a sum"):
        raise InputError("ours")
