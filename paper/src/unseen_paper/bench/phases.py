"""Which part of a fit takes how long and how much: processor seconds and memory of each, in a log."""

from __future__ import annotations

import functools
import pkgutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from unseen_paper.bench.isolated import watched

PARTS = (
    "unseen.methods.rect_plus.reductions",
    "unseen.methods.views.degree_columns",
    "unseen.methods.views.leading_eigenvectors",
    "unseen.methods.rect_plus.structure_bases",
    "unseen.linalg.reduction.Reduction.unit_columns",
    "unseen.linalg.smoothing.GraphSmoother.smooth",
    "unseen.methods.views.Pool.at",
    "unseen.methods.rect_plus.leave_one_out",
    "unseen.methods.rect_plus.add_others",
    "unseen.methods.rect_plus.RECTPlus._choose",
    "unseen.methods.joined.JoinedViews.add",
    "unseen.methods.joined.JoinedViews.strongest_directions",
    "unseen.methods.joined.JoinedViews.times",
    "unseen.methods.rect_plus.RECTPlus._fit",
)
"""Functions of the default method whose calls are logged, one inside the other."""


@contextmanager
def phases_logged(path: Path | None) -> Iterator[None]:
    """Write a line to the file after each call of :data:`PARTS` inside the block; nothing without a file.

    Examples
    --------
    >>> with phases_logged(None):
    ...     pass
    """
    if path is None:
        yield
        return
    start = time.process_time()

    def logged(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def run(*arguments: Any, **options: Any) -> Any:
            clock, used = time.perf_counter(), time.process_time()
            with watched() as most:
                result = call(*arguments, **options)
            seconds, processor = time.perf_counter() - clock, time.process_time() - used
            views = f"; {', '.join(result[0])}" if name == "_choose" else ""
            with path.open("a", encoding="utf-8") as log:
                log.write(
                    f"{time.process_time() - start:9.1f} {name:22} {processor:8.1f} processor s {seconds:8.1f} s "
                    f"own memory up to {most[0]:6.0f} MB{views}\n"
                )
            return result

        return run

    path.write_text("", encoding="utf-8")
    with ExitStack() as patches:
        for name in PARTS:
            patches.enter_context(patch(name, logged(name.rpartition(".")[2], pkgutil.resolve_name(name))))
        yield
