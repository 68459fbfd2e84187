"""Refuse a fit that does not fit into memory before it starts, and name what would fit.

What a method allocates beside the graph is a formula of the sizes, ``_bytes_needed`` of its class, with bytes per node,
per entry and per column that were read off measured peaks. Each is between the peak and 1.25 times the peak, so that no
fit is refused that needs less than 80 % of the memory.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from unseen.data.opened import free_memory, memory_entry, shown_bytes
from unseen.engine.sparse import columns_at_a_time
from unseen.errors import InputError, counted, logger

if TYPE_CHECKING:
    from unseen.methods.base import Method

TORCH_BYTES = 200e6
"""What the import of torch takes."""
NOTICE_BYTES = 2e9
"""Smaller jobs start without a notice."""


@dataclass(frozen=True)
class Job:
    """Sizes of a fit; rows and entries are those of one process.

    Attributes
    ----------
    nodes, entries, columns : int
        Rows and entries of the adjacency, and columns of the embedding.
    feature_columns, feature_entries : int
        Of the features that the method uses.
    source : str
        "features", "adjacency" or "identity".
    labelled : int
        Rows with a label.
    halo : int
        Rows of other processes that the entries name.
    scratch : bool
        Whether large arrays may lie on disk.
    loaded : bool
        Whether the graph is in memory already.
    graph_nodes : int or None
        Nodes of all processes together; None where there is one process.
    """

    nodes: int
    entries: int
    columns: int
    feature_columns: int = 0
    feature_entries: int = 0
    source: str = "adjacency"
    labelled: int = 0
    halo: int = 0
    scratch: bool = False
    loaded: bool = True
    graph_nodes: int | None = None

    @property
    def all_nodes(self) -> int:
        """Nodes of the whole graph."""
        return self.graph_nodes or self.nodes

    @property
    def tall(self) -> float:
        """Bytes of one float32 array with a row per node and a column per column of the embedding."""
        return 4.0 * self.nodes * self.columns

    def feature_bytes(self, dense: float, sparse: float) -> float:
        """Return the bytes of the features, given those of an entry of dense and of sparse ones."""
        is_dense = self.feature_entries == self.nodes * self.feature_columns
        return (dense if is_dense else sparse) * self.feature_entries


def make_job(
    method: Method, nodes: int, entries: int, features: tuple[int, int] = (0, 0), **sizes: Any
) -> Job:
    """Return the sizes of a fit of `method`; `features` are columns and entries, `sizes` further fields of a job."""
    source = getattr(method, "features", "auto")
    if source == "auto":
        source = "features" if features[0] else "adjacency"
    columns = getattr(method, "n_components", None) or method._traits.default_components
    return Job(nodes, entries, int(columns), *features, source, **sizes)


def estimate_peak(method: Method | type[Method], job: Job) -> float:
    """Return the bytes that this process holds at the peak of a fit.

    Examples
    --------
    >>> import unseen
    >>> small, large = (estimate_peak(unseen.MFDW, Job(n, 4 * n, 64)) for n in (10_000, 1_000_000))
    >>> small < large
    True
    """
    n_bytes = (memory_entry("self/status", "VmRSS") or 0.0) + method._bytes_needed(job)
    if "torch" not in sys.modules and (method._traits.extra or job.halo):
        n_bytes += TORCH_BYTES
    if not job.loaded:
        n_bytes += 12.0 * job.entries + 40.0 * job.nodes + 12.0 * job.feature_entries
    if job.halo:  # own rows, and those of others thrice: gathered to be sent, received, below the own ones
        width = columns_at_a_time(job.columns, -(-job.halo // max(1, job.nodes)))
        n_bytes += 4.0 * (job.nodes + 3 * job.halo) * width
    return n_bytes


def check_memory(method: Method, job: Job, *, force: bool = False, processes: int = 1) -> None:
    """Raise an `InputError` that names what would fit if a fit needs more memory than there is.

    Parameters
    ----------
    method, job
        What is to be fitted.
    force : bool
        Start anyway.
    processes : int
        Processes on this machine that share its memory.
    """
    free, needed = free_memory(processes), estimate_peak(method, job)
    if free is None:
        return
    if needed > NOTICE_BYTES:
        nodes, columns = counted(job.nodes, "node"), counted(job.columns, "column")
        available = f"{shown_bytes(needed)} of memory ({shown_bytes(free)} available)"
        logger.info("%s on %s with %s needs about %s", method._traits.name, nodes, columns, available)
    if needed > free and not force:
        msg = (
            f"{method._traits.name} with {counted(job.columns, 'column')} needs about {shown_bytes(needed)} of memory "
            f"({shown_bytes(free)} available); use {_find_alternatives(method, job, free)}; --force starts anyway"
        )
        raise InputError(msg)


def _find_alternatives(method: Method, job: Job, free: float) -> str:
    """Return options that make the job fit, the nearest to what was asked first."""

    def find_columns(other: type[Method], columns: int) -> str:
        """Return the option for the most columns, halved again and again, that fit."""
        while columns >= 8 and estimate_peak(other, replace(job, columns=columns)) > free:
            columns //= 2
        return f"--dim {columns}" if columns >= 8 else ""

    own, other = type(method), method._smaller_method()
    options = []
    if not job.scratch and estimate_peak(own, replace(job, scratch=True)) <= free:
        options.append("--scratch FOLDER")
    options.append(find_columns(own, job.columns // 2))
    if job.source == "adjacency" and estimate_peak(own, replace(job, source="identity")) <= free:
        options.append("--param features=identity")
    if other is not own and (columns := find_columns(other, job.columns)):
        options.append(f"--method {other._traits.name} {columns}")
    options.append(
        f"unseen partition and python -m unseen.scale --method {other._traits.name} on several machines"
    )
    return ", or ".join(option for option in options if option)


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
