"""What a job will take, before it begins: memory and time, from the sizes alone.

A method says in ``_resources`` what it holds and does, in the units that are here. Memory is counted: it is the number
of tall arrays that a method holds at its peak, the graph in its normalisations, and the program. Times are processor
seconds measured on one machine (``docs/scale.md``), divided by the number of threads where the work is; on another
machine, or a busy one, they are orders of size.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from unseen.data.bounds import free_memory, memory_entry, shown_bytes
from unseen.engine.run import default_threads
from unseen.engine.sparse import LEAST_COLUMNS
from unseen.errors import InputError, counted, logger

if TYPE_CHECKING:
    from unseen.methods.base import Method

PROGRAM, TORCH = 0.09e9, 0.19e9
"""Bytes of the program and its libraries, and what torch adds for the methods that need it."""
PRODUCT_SECONDS = 6e-10
"""Of a sparse product, for an entry or row and a column."""
FETCH_SECONDS, CACHE_BYTES, MOST_DOUBLINGS = 2e-8, 32e6, 6.5
"""To fetch the row of an entry from vectors that are not in the cache, for each doubling beyond it.

Measured up to 2.6 GB, which is 6.3 doublings; vectors larger than that are taken to cost no more.
"""
GRAM_SECONDS = 5e-11
"""Of U'U and U(U'U), for a row and a pair of columns."""
PASS_SECONDS = 5e-9
"""Of activation, gradients and optimiser, for a number."""
PREPARE_SECONDS = 1.5e-6
"""Of checking and normalising the graph and of the loss's constant, on one thread, for a row or an entry."""
EXCHANGE_SECONDS = 3e-9
"""Of gathering, sending, receiving and putting in place, on one thread, for a byte of rows sent to another process."""
DRAW_SECONDS = 1.6e-8
"""Of a random number that belongs to a node."""
REPORTED_SECONDS, REPORTED_BYTES = 60, 2e9
"""Jobs below both are begun without a word."""


@dataclass(frozen=True)
class Sizes:
    """What the estimate needs to know of a job: rows and entries are those of one process.

    Attributes
    ----------
    nodes, entries : int
        Rows, and entries of the adjacency in them.
    columns : int
        Of the vectors.
    rounds : int
        Epochs, or rounds of a factorisation.
    feature_columns, feature_entries : int
        Of the features, where they are used.
    source : str
        "features", "adjacency" or "identity".
    labelled : int or None
        Rows with a label; a tenth of all where it is not known.
    halo : int
        Rows of other processes that the entries name.
    """

    nodes: int
    entries: int
    columns: int
    rounds: int
    feature_columns: int = 0
    feature_entries: int = 0
    source: str = "adjacency"
    labelled: int | None = None
    halo: int = 0

    @property
    def labelled_rows(self) -> float:
        """Rows with a label, or the guess."""
        return self.nodes / 10 if self.labelled is None else self.labelled


@dataclass(frozen=True)
class Estimate:
    """What one process takes.

    Attributes
    ----------
    n_bytes : float
        Memory at the peak.
    movable : float
        Bytes of it that may lie on disk instead.
    seconds : float
        From the first normalisation to the vectors.
    sent : float
        Bytes of rows sent to other processes.
    """

    n_bytes: float
    movable: float
    seconds: float
    sent: float = 0.0


@dataclass(frozen=True)
class Resources:
    """Bytes of arrays and how many of them may lie on disk, processor seconds, and exchanges of rows."""

    held: float
    movable: float
    work: float
    exchanges: float


def estimate(method: Method | type[Method], sizes: Sizes, *, threads: int | None = None) -> Estimate | None:
    """Return what a method takes on a graph, None where it is not known.

    Parameters
    ----------
    method : method, or its class
        Whose `_resources` are asked for.
    sizes : Sizes
        The job.
    threads : int, optional
        How many threads work; as many as there are here when not given.

    Examples
    --------
    >>> import unseen
    >>> job = estimate(unseen.RECTN, Sizes(10_000_000, 40_000_000, 64, 100, source="identity"), threads=2)
    >>> round(job.n_bytes / 1e9), round(job.movable / 1e9)
    (23, 10)
    """
    needs = method._resources(sizes)
    if needs is None:
        return None
    s = sizes
    threads = default_threads() if threads is None else threads
    graph = 45.0 * s.entries + 60.0 * s.nodes + 24.0 * s.feature_entries
    sent = 4.0 * needs.exchanges * s.halo * s.columns
    alone = PREPARE_SECONDS * (s.nodes + s.entries) + EXCHANGE_SECONDS * sent
    held = PROGRAM + (TORCH if method._traits.extra or s.halo else 0.0) + graph + needs.held + halo_bytes(s)
    return Estimate(held, needs.movable, alone + needs.work / threads, sent)


def product_seconds(s: Sizes, columns: int) -> float:
    """Return the processor seconds of a sparse product."""
    turns = _turns(s, columns)
    vectors = 4.0 * (s.nodes + s.halo) * columns / turns
    doublings = min(max(0.0, math.log2(max(1.0, vectors) / CACHE_BYTES)), MOST_DOUBLINGS)
    return (s.entries + s.nodes) * (columns * PRODUCT_SECONDS + turns * doublings * FETCH_SECONDS)


def _turns(s: Sizes, columns: int) -> int:
    """Return into how many turns a product is cut, so that rows of others do not outnumber the own ones."""
    return max(1, min(-(-s.halo // max(1, s.nodes)), columns // LEAST_COLUMNS))


def dense_seconds(s: Sizes, columns: int) -> float:
    """Return the processor seconds of U'U, U(U'U) and a pass."""
    return s.nodes * columns * (columns * GRAM_SECONDS + PASS_SECONDS)


def halo_bytes(s: Sizes) -> float:
    """Return the memory of a product on several processes: own rows, and those of others thrice.

    What others need is gathered, what comes is received, and both lie side by side with the own rows; as many columns
    at a time as keep the rows of others no more than the own ones, and 32 at least.

    Examples
    --------
    >>> halo_bytes(Sizes(1000, 4000, 64, 1, halo=500)), halo_bytes(Sizes(1000, 4000, 64, 1, halo=9000))
    (640000.0, 3584000.0)
    """
    if not s.halo:
        return 0.0
    return 4.0 * (s.nodes + 3 * s.halo) * -(-s.columns // _turns(s, s.columns))


def check_fits(
    method: Method, sizes: Sizes, *, scratch: bool = False, force: bool = False, free: float | None = None
) -> Estimate | None:
    """Report what a job will take, and refuse one that does not fit, naming what would.

    Parameters
    ----------
    method, sizes
        The job.
    scratch : bool
        Whether a folder for arrays on disk was given.
    force : bool
        Begin all the same.
    free : float, optional
        Bytes that this process may hold; asked of the system when not given.
    """
    job = estimate(method, sizes)
    if job is None:
        return None
    free = free_memory() if free is None else free
    needed = job.n_bytes - (job.movable if scratch else 0.0)
    if job.seconds > REPORTED_SECONDS or needed > REPORTED_BYTES:
        logger.info(
            "%s on %s, %s: about %s of memory%s and %s",
            method._traits.name,
            counted(sizes.nodes, "node"),
            counted(sizes.columns, "column"),
            shown_bytes(needed),
            "" if free is None else f" ({shown_bytes(free)} are there)",
            shown_time(job.seconds),
        )
    if free is not None and needed > free and not force:
        msg = (
            f"{method._traits.name} with {counted(sizes.columns, 'column')} needs about {shown_bytes(needed)} of "
            f"memory and there are {shown_bytes(free)}; cheaper: {_cheaper(method, sizes, scratch, free)}; --force "
            "begins all the same"
        )
        raise InputError(msg)
    return job


def _cheaper(method: Method, sizes: Sizes, scratch: bool, free: float) -> str:
    def fits(other: Method | type[Method], smaller: Sizes, on_disk: bool) -> bool:
        job = estimate(other, smaller)
        return job is not None and job.n_bytes - (job.movable if on_disk else 0.0) <= free

    def narrower(other: Method | type[Method], columns: int) -> str | None:
        """Return the option for the most columns of these halved again and again that fit."""
        while columns >= 8:
            if fits(other, replace(sizes, columns=columns), scratch):
                return f"--dim {columns}"
            columns //= 2
        return None

    options = []
    whole = estimate(method, sizes)
    if whole is not None and whole.movable and not scratch and fits(method, sizes, True):
        options.append(f"--scratch FOLDER, which keeps {shown_bytes(whole.movable)} on disk")
    if fewer := narrower(method, sizes.columns // 2):
        options.append(fewer)
    if sizes.source == "adjacency" and fits(method, replace(sizes, source="identity"), scratch):
        options.append("--param features=identity")
    other = method._smaller()
    if other._traits.name != method._traits.name and (fewer := narrower(other, sizes.columns)):
        options.append(f"--method {other._traits.name} {fewer}")
    options.append(
        f"unseen partition, and python -m unseen.scale --method {other._traits.name} on several machines"
    )
    return ", or ".join(options)


def peak_bytes() -> float:
    """Return the most memory that this process has held so far; 0 where the system does not say.

    Examples
    --------
    >>> peak_bytes() >= 0
    True
    """
    peak = memory_entry("self/status", "VmHWM")
    if peak is not None:  # getrusage would count the parent's memory too: it survives the start of a program
        return peak
    try:
        import resource  # not on Windows
    except ImportError:
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


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


def sizes_of(
    method: Any,
    nodes: int,
    entries: int,
    features: tuple[int, int] = (0, 0),
    *,
    labelled: int | None = None,
    halo: int = 0,
) -> Sizes:
    """Return the sizes of a job: a method (an estimator), and what one process has of the graph.

    `features` are their columns and entries.
    """
    params = method.get_params(deep=False)
    source = params.get("features", "auto")
    if source == "auto":
        source = "features" if features[0] else "adjacency"
    rounds = params.get("epochs", params.get("max_iter", 1))
    columns = params.get("n_components") or method._traits.default_components
    return Sizes(nodes, entries, int(columns), int(rounds), *features, str(source), labelled, halo)
