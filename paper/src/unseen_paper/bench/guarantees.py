"""Error rates of discovery, measured where the truth is known: `unseen bench guarantees`.

Every draw is a row of `guarantees.csv` in the working folder; a second start takes up where the first one ended.
Draws come in rounds over all cells, so that an early end leaves about as many draws of each.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from unseen.data.datasets import Dataset, load_dataset
from unseen.discovery import discover as discovery
from unseen.discovery.discover import find_error_rates
from unseen.ids import Mask, as_ids, match_ids
from unseen.labels import Labels
from unseen.splits import balanced_split, completely_imbalanced_split
from unseen_paper.bench.draws import OncePerGraph, Row, kept_draws
from unseen_paper.bench.report import Table

FIRST_SEED = 63_000
ROUND = 4
"""Draws of a cell in each round."""
RATES = (0.05, 0.1, 0.2)
"""False discovery rates of the lists."""
FILE = Path("guarantees.csv")
ONCE = OncePerGraph()
KEYS = ("labels", "rate", "hidden", "seed")
FIGURES = (
    "holds",
    "reason",
    "weighted",
    "n_hidden",
    *(f"{what}_{100 * fdr:.0f}" for fdr in RATES for what in ("false", "power")),
    "at_least",
    "cuts_hold",
    "seconds",
    "cost",
)


class Cell(NamedTuple):
    """One setting: how labels are drawn, the graph, the share of labels, the number of hidden classes."""

    labels: str
    graph: str
    rate: float
    hidden: int


EIGHT = [
    (graph, rate, hidden)
    for rate in (0.05, 0.3)
    for graph, hidden in (("cora", 2), ("citeseer", 2), ("debian", 4), ("photo", 3))
]
OTHERS = (("wiki", 6), ("facebook", 1), ("m10", 3), ("photo", 3), ("coauthor-cs", 5))
"""Graphs on which the alarm for concentrated labels was not tuned, and a third of their classes."""
CELLS = [
    *(Cell("uniform", *cell) for cell in EIGHT),
    *(Cell("uniform", graph, rate, 0) for graph, rate, _ in EIGHT),
    *(
        Cell(kind, graph, rate, hidden)
        for kind in ("rates", "rates differ")
        for graph, rate, hidden in EIGHT[4:7]
    ),
    *(Cell("region", graph, rate, hidden) for graph, rate, hidden in EIGHT if graph != "photo"),
    *(Cell(kind, graph, 0.1, hidden) for graph, hidden in OTHERS for kind in ("uniform", "region")),
    *(
        Cell("uniform", graph, 0.1, hidden)
        for graph, hidden in (("actor", 2), ("chameleon", 2), ("blogcatalog", 13))
    ),
]


def run(*, repeats: int = 100, methods: Sequence[str] | None = None, file: Path = FILE) -> list[Table]:
    """Return the tables of `repeats` draws of each cell of the graphs, measured where `file` lacks them."""
    cells = [cell for cell in CELLS if methods is None or cell.graph in methods]
    load = cache(load_dataset)
    rows: dict[tuple[object, ...], Row] = {}
    for first in range(0, repeats, ROUND):
        seeds = range(FIRST_SEED + first, FIRST_SEED + min(first + ROUND, repeats))
        for cell in cells:
            draws = [(cell.labels, cell.rate, cell.hidden, seed) for seed in seeds]
            kept = kept_draws([cell.graph], draws, measure, KEYS, FIGURES, file, load)
            rows |= {tuple(str(row[name]) for name in ("graph", *KEYS)): row for row in kept}
    return [make_table(list(rows.values()), cells)]


def measure(data: Dataset, labels: str, rate: float, hidden: int, seed: int) -> dict[str, object]:
    """Draw labels, discover, and compare the lists and the bounds with the truth."""
    seen = draw(data, labels, rate, hidden, seed)
    start = time.process_time()
    with time_of_error_rates() as seconds, ONCE.of(data.name) as once:
        found = discovery.discover(
            data.graph, seen, rates="differ" if labels == "rates differ" else "same", random_state=seed
        )
    total = time.process_time() - start + once.saved
    nodes = as_ids(found.nodes.column("node").to_pylist())
    new = is_hidden(data.labels, seen)[match_ids(nodes, data.labels.node_ids)]
    p = found.nodes.column("unseen_probability").to_numpy()
    figures: dict[str, object] = {
        "holds": int(found.guarantee.holds),
        "reason": found.guarantee.reason,
        "weighted": int("within each class" in found.guarantee.assumption),
        "n_hidden": int(new.sum()),
    }
    for fdr in RATES:
        listed = np.isin(nodes, as_ids(list(found.select(fdr))))
        figures[f"false_{100 * fdr:.0f}"] = f"{(~new[listed]).mean() if listed.any() else 0.0:.4f}"
        figures[f"power_{100 * fdr:.0f}"] = f"{new[listed].sum() / max(new.sum(), 1):.4f}"
    at_least = found.new_nodes.at_least
    cuts_hold = all(
        (~new[p > above]).sum() <= (found.at_most_false(above=float(above)) or 0)
        for above in np.quantile(p, [0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98])
    )
    figures["at_least"] = "" if at_least is None else at_least
    figures["cuts_hold"] = "" if at_least is None else int(cuts_hold)
    figures["seconds"] = f"{total:.2f}"
    figures["cost"] = f"{sum(seconds) / total:.3f}"
    return figures


def is_hidden(truth: Labels, seen: Labels) -> Mask:
    """Return which nodes have no class that has a label."""
    labelled = [truth.classes.index(name) for name, n in zip(seen.classes, seen.counts, strict=True) if n]
    has_class = np.diff(truth.indicator.indptr) > 0
    return np.asarray(has_class & ~truth.indicator[:, labelled].toarray().any(axis=1))


@contextmanager
def time_of_error_rates() -> Iterator[list[float]]:
    """Collect the processor seconds that discovery spends on error rates."""
    seconds: list[float] = []

    def timed(*arguments: Any) -> Any:
        start = time.process_time()
        try:
            return find_error_rates(*arguments)
        finally:
            seconds.append(time.process_time() - start)

    with patch.object(discovery, "find_error_rates", timed):
        yield seconds


def draw(data: Dataset, labels: str, rate: float, hidden: int, seed: int) -> Labels:
    """Return labels of about `rate` of the nodes: uniform, at different rates of the classes, or of one region.

    Where rates differ, a third of the labelled classes has a quarter of its labels, at least three. A region is what a
    breadth-first search from a random node reaches first.
    """
    rng = np.random.default_rng(seed)
    if labels == "region":
        unseen = rng.choice(len(data.labels.classes), hidden, replace=False)
        is_seen = ~data.labels.indicator[:, unseen].toarray().any(axis=1)
        rows = search_breadth_first(data, rng)
        rows = np.sort(rows[is_seen[rows]][: max(20, round(rate * is_seen.sum()))])
        return data.labels.keep(rows, without=[data.labels.classes[k] for k in unseen])
    if not hidden:
        return balanced_split(data.labels, label_rate=rate, random_state=seed).seen_labels
    split = completely_imbalanced_split(data.labels, label_rate=rate, unseen=hidden, random_state=seed)
    if labels == "uniform":
        return split.seen_labels
    seen = split.seen_labels
    fewer = rng.choice(len(seen.classes), max(1, len(seen.classes) // 3), replace=False)
    parts = []
    for k in range(len(seen.classes)):
        members = np.flatnonzero(seen.indicator[:, [k]].toarray().ravel())
        count = max(3, len(members) // 4) if k in fewer else len(members)
        parts.append(rng.choice(members, min(count, len(members)), replace=False))
    return seen.keep(np.unique(np.concatenate(parts)))


def search_breadth_first(data: Dataset, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return all rows in the order of a breadth-first search from a random node, and on from others."""
    from scipy.sparse.csgraph import breadth_first_order

    left = np.ones(data.graph.n_nodes, dtype=bool)
    parts = []
    while left.any():
        start = int(rng.choice(np.flatnonzero(left)))
        part = breadth_first_order(data.graph.adjacency, start, directed=False, return_predecessors=False)
        parts.append(part[left[part]])
        left[part] = False
    return np.concatenate(parts).astype(np.int64)


def make_table(rows: Sequence[Row], cells: Sequence[Cell]) -> Table:
    """Return the figures of each cell, means over the draws in which the guarantee holds."""
    lines = []
    for cell in cells:
        key = (cell.graph, cell.labels, str(cell.rate), str(cell.hidden))
        draws = [row for row in rows if tuple(str(row[name]) for name in ("graph", *KEYS[:3])) == key]
        held = [row for row in draws if str(row["holds"]) == "1"]
        if not draws:
            continue

        def column(name: str, held: Sequence[Row] = held) -> npt.NDArray[np.float64]:
            return np.array([float(str(row[name])) for row in held])

        lists = []
        for fdr in RATES:
            false = column(f"false_{100 * fdr:.0f}")
            mean = f"{false.mean():.3f} ± {false.std() / max(len(false), 1) ** 0.5:.3f}" if held else ""
            lists.append(f"{mean} / {column(f'power_{100 * fdr:.0f}').mean():.2f}" if held else "")
        bound = column("at_least") <= column("n_hidden")
        share = column("at_least") / np.maximum(column("n_hidden"), 1)
        listed = column("power_10") + column("false_10") > 0
        lines.append(
            (
                cell.labels,
                cell.graph,
                f"{100 * cell.rate:g} %",
                str(cell.hidden),
                f"{len(held)} of {len(draws)}",
                *lists,
                f"{bound.sum()}, {share.mean():.2f}" if held else "",
                f"{int(column('cuts_hold').sum())}" if held else "",
                f"{int(listed.sum())}" if held else "",
                f"{100 * column('cost').mean():.0f} %" if held else "",
            )
        )
    header = "labels,graph,rate,hidden,guarantee holds,5 %: false / power,10 %,20 %,bound held; share of the truth,"
    header += "all cuts held,lists at 10 %,cost"
    notes = ("Means over the draws in which the guarantee holds, ± one standard error.",)
    return Table("Error rates of discovery", tuple(header.split(",")), lines, notes)
