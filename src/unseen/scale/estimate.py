"""What a job will take, before it begins: memory and time, from the sizes alone.

The constants were measured on two cores (``docs/scale.md``); machines differ, so that times are orders of size, while
memory is counted: it is the number of tall arrays that a method holds at its peak.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unseen.errors import InputError, logger
from unseen.scale.sizes import shown_size

PRODUCT_SECONDS = 5e-10
"""Of a sparse product, for an entry and a column."""
GRAM_SECONDS = 3.5e-11
"""Of U'U and U(U'U), for a row and a pair of columns."""
PASS_SECONDS = 4e-9
"""Of activation, gradients and optimiser, for a number."""
SVD_WIDTH = 210
TELL_SECONDS, TELL_BYTES = 60, 2e9
"""Jobs below both are begun without a word."""


@dataclass(frozen=True)
class Sizes:
    """What the estimate needs to know of a job: rows and entries are those of one process."""

    nodes: int
    entries: int
    columns: int
    rounds: int
    feature_columns: int = 0
    feature_entries: int = 0
    source: str = "adjacency"


@dataclass(frozen=True)
class Estimate:
    """Bytes at the peak, bytes of it that may lie on disk instead, and seconds."""

    n_bytes: float
    movable: float
    seconds: float


def estimate(method: str, sizes: Sizes) -> Estimate | None:
    """Return what a method takes on a graph, None where it is not known.

    Examples
    --------
    >>> found = estimate("rect-n", Sizes(10_000_000, 40_000_000, 64, 100, source="identity"))
    >>> round(found.n_bytes / 1e9), round(found.movable / 1e9)
    (23, 10)
    """
    s = sizes
    tall = 4.0 * s.nodes * s.columns
    graph = 45.0 * s.entries + 60.0 * s.nodes + 24.0 * s.feature_entries
    step = s.columns * (s.entries + s.nodes) * PRODUCT_SECONDS
    work = s.nodes * s.columns * (s.columns * GRAM_SECONDS + PASS_SECONDS)
    if method == "rect-n":
        weights = 4.0 * s.feature_columns * s.columns
        if s.source == "features":
            products = 2 * s.feature_entries * s.columns * PRODUCT_SECONDS
            held = graph + 6 * tall + 4 * weights
            return Estimate(held, tall + 2 * weights, s.rounds * (6 * step + work + products))
        arrays, movable, count = (8, 4, 6) if s.source == "identity" else (9, 3, 8)
        return Estimate(graph + arrays * tall, movable * tall, s.rounds * (count * step + work))
    if method == "rect-l":
        # three bases of the subspace iteration, the features before and after smoothing, and the output twice
        entries = s.feature_entries or s.entries
        svd = 10 * entries * SVD_WIDTH * PRODUCT_SECONDS + 10 * s.nodes * SVD_WIDTH**2 * GRAM_SECONDS
        wide = 4.0 * s.nodes * SVD_WIDTH
        return Estimate(graph + 5 * wide + 2 * tall, 0.0, svd + step + s.rounds * s.nodes * 1e-7)
    if method == "rect":
        halves = [estimate(name, replace(s, columns=-(-s.columns // 2))) for name in ("rect-l", "rect-n")]
        first, second = (half for half in halves if half is not None)
        peak = max(first.n_bytes, second.n_bytes + tall / 2) + tall
        return Estimate(peak, second.movable, first.seconds + second.seconds)
    if method in ("mfdw", "rsdne", "rsdne-light"):
        arrays = 8 if method == "mfdw" else 10
        rounds = min(s.rounds, 15) * (4 if method == "mfdw" else 12) + 24 * 1.25
        return Estimate(graph + arrays * tall, 0.0, rounds * (2 * step + work))
    return None


def check_fits(
    method: str, sizes: Sizes, *, scratch: bool = False, force: bool = False, free: float | None = None
) -> Estimate | None:
    """Tell what a job will take, and refuse one that does not fit, naming what would.

    Parameters
    ----------
    method, sizes
        The job.
    scratch : bool
        Whether a folder for arrays on disk was given.
    force : bool
        Begin all the same.
    free : float, optional
        Bytes of memory that are free; asked of the system when not given.
    """
    found = estimate(method, sizes)
    if found is None:
        return None
    free = free_memory() if free is None else free
    needed = found.n_bytes - (found.movable if scratch else 0.0)
    if found.seconds > TELL_SECONDS or needed > TELL_BYTES:
        logger.info(
            "%s on %s nodes, %s columns: about %s of memory%s and %s",
            method,
            f"{sizes.nodes:,}",
            sizes.columns,
            shown_size(needed),
            "" if free is None else f" ({shown_size(free)} are free)",
            shown_time(found.seconds),
        )
    if free is not None and needed > free and not force:
        msg = (
            f"{method} with {sizes.columns} columns needs about {shown_size(needed)} of memory and there are "
            f"{shown_size(free)}; cheaper: {_cheaper(method, sizes, scratch, free)}; --force begins all the same"
        )
        raise InputError(msg)
    return found


def _cheaper(method: str, sizes: Sizes, scratch: bool, free: float) -> str:
    whole = estimate(method, sizes)
    options = []
    if whole is not None and whole.movable and not scratch and whole.n_bytes - whole.movable <= free:
        options.append(f"--scratch FOLDER, which keeps {shown_size(whole.movable)} on disk")
    columns = sizes.columns
    while columns > 8:
        columns //= 2
        smaller = estimate(method, replace(sizes, columns=columns))
        if smaller is not None and smaller.n_bytes - (smaller.movable if scratch else 0) <= free:
            options.append(f"--dim {columns}")
            break
    if sizes.source == "adjacency" and method.startswith("rect"):
        options.append("--param features=identity")
    options.append("unseen partition, and python -m unseen.scale on several machines")
    return ", or ".join(options)


def free_memory() -> float | None:
    """Return the bytes that this process may still take: what the system has free, and its control group allows."""
    limits = []
    about = Path("/proc/meminfo")
    if about.is_file():
        lines = dict(line.split(":", 1) for line in about.read_text().splitlines())
        if "MemAvailable" in lines:
            limits.append(int(lines["MemAvailable"].split()[0]) * 1024.0)
    most, used = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
    if most.is_file() and used.is_file() and (limit := most.read_text().strip()).isdecimal():
        limits.append(float(limit) - float(used.read_text()))
    return min(limits, default=None)


def shown_time(seconds: float) -> str:
    """Return seconds as a person reads them.

    Examples
    --------
    >>> shown_time(45), shown_time(600), shown_time(90_000)
    ('45 s', '10 minutes', '25.0 hours')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 2 * 3600 else f"{seconds / 3600:.1f} hours"


def sizes_of(method: Any, nodes: int, entries: int, features: Mapping[str, int] | None = None) -> Sizes:
    """Return the sizes of a job: a method (an estimator), and rows and entries of one process."""
    params = method.get_params(deep=False)
    source = params.get("features", "auto")
    if source == "auto":
        source = "features" if features else "adjacency"
    rounds = params.get("epochs", params.get("max_iter", 1))
    columns = params.get("n_components") or method.default_components
    found = features or {}
    return Sizes(
        nodes,
        entries,
        int(columns),
        int(rounds),
        found.get("columns", 0),
        found.get("entries", 0),
        str(source),
    )
