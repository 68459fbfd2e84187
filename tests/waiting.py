"""Wait for what other processes do."""

from __future__ import annotations

import time
from collections.abc import Callable

DEADLINE = 300
"""Seconds; a machine with ten times more to do than it has cores takes two minutes for what takes ten seconds."""


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Wait until something holds, or fail."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)
