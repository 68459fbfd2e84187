"""What `discover`, `suggest` and `explore` cost on a large made-up graph: time and memory, a process each."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from unseen.data.generators import planted_partition
from unseen.errors import logger
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.splits import completely_imbalanced_split
from unseen_paper.bench.isolated import measure
from unseen_paper.bench.report import Table

SIZES = (100_000,)
N_CLASSES = 20
HIDDEN = ("c1", "c2", "c3")
RATE = 0.1
COMMANDS = ("discover", "suggest", "explore")


def time_table(sizes: Sequence[int] = SIZES) -> Table:
    """Return what each command takes, from a graph in memory to its result."""
    rows = []
    for n in sizes:
        for command in COMMANDS:
            cost = measure("unseen_paper.bench.discover_time", f"{command}_job", n=n)
            cells = (f"{cost.seconds:.0f}", f"{cost.processor:.0f}", f"{cost.megabytes:.0f}", cost.result)
            rows.append((command, f"{n:,}", *cells))
            logger.info("%s, %d nodes: %s s", command, n, cells[0])
    notes = (
        f"Planted partition of {N_CLASSES} classes with 1,500 words, {RATE:.0%} of the nodes labelled, "
        f"{len(HIDDEN)} classes hidden. suggest and explore include discover; explore draws 50,000 of the nodes.",
    )
    header = ("command", "nodes", "seconds", "processor s", "peak MB", "result")
    return Table("Time and memory of discovery", header, rows, notes)


def discover_job(n: int) -> Callable[[], str]:
    """Prepare a run of :func:`unseen.discover`."""
    from unseen.discovery.discover import discover

    graph, labels = _labelled(n)
    return lambda: f"{discover(graph, labels, random_state=0).count.best} classes"


def suggest_job(n: int) -> Callable[[], str]:
    """Prepare a run of :func:`unseen.suggest`."""
    from unseen.discovery.suggest import suggest

    graph, labels = _labelled(n)
    return lambda: f"{len(suggest(graph, labels, budget=20, random_state=0))} nodes"


def explore_job(n: int) -> Callable[[], str]:
    """Prepare the making of the explorer page."""
    from unseen.explorer import explore, write_explorer

    graph, labels = _labelled(n)

    def work() -> str:
        with tempfile.TemporaryDirectory() as folder:
            subject = explore(graph, labels, random_state=0)
            page = write_explorer(subject, Path(folder) / "page.html", title=f"{n} nodes")
            return f"{page.stat().st_size / 1e6:.1f} MB"

    return work


def _labelled(n: int) -> tuple[Graph, Labels]:
    data = planted_partition(
        n,
        N_CLASSES,
        degree_within=8,
        degree_between=3,
        n_words_per_class=50,
        n_noise_words=500,
        words_of_class=4,
        words_of_noise=6,
        random_state=0,
    )
    split = completely_imbalanced_split(data.labels, label_rate=RATE, unseen=HIDDEN, random_state=0)
    return data.graph, split.seen_labels
