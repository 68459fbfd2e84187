"""The paper's scalability test: `unseen bench scale`.

n nodes, 2n edges, identity features, one label for all nodes, a tenth of them labelled, none removed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unseen.errors import logger, unknown_name
from unseen_paper.bench import outofcore
from unseen_paper.bench.isolated import measure
from unseen_paper.bench.report import Table

ROUNDS = 10
"""Rounds of RSDNE at every size: it would stop by itself after more or fewer, which says nothing of growth."""


@dataclass(frozen=True)
class Contestant:
    """A method of the table: its registry name, parameters, and the largest graph it is asked to do.

    `steps` is the parameter that says how long it works: epochs, or rounds of a factorisation.
    """

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    largest: int = 1_000_000
    steps: str = "epochs"


CONTESTANTS: tuple[Contestant, ...] = (
    Contestant("rect-n", {"n_components": 200, "features": "identity"}),
    Contestant("rect", {"n_components": 400, "features": "identity"}, 100_000),
    Contestant("rect-dw", {"n_components": 400, "features": "identity"}, 100_000),
    Contestant("rsdne", {"n_components": 200, "tol": 0.0}, 100_000, steps="max_iter"),
    Contestant("rsdne-light", {"n_components": 200, "tol": 0.0}, steps="max_iter"),
)
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


def run(
    *,
    sizes: Sequence[int] = SIZES,
    methods: Sequence[str] | None = None,
    contestants: Sequence[Contestant] = CONTESTANTS,
    epochs: int = 100,
    rounds: int = ROUNDS,
    parts: bool = True,
) -> list[Table]:
    """Return time, peak memory and growth of every method, and what RECT-N's time at the largest size consists of.

    From a million nodes on there is RECT-N with narrower vectors too, and half of its arrays on disk.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of nodes.
    methods : sequence of str, optional
        Which of the contestants; all where it is not given.
    contestants : sequence of Contestant
        The methods there are.
    epochs, rounds : int
        How long methods that are trained, and factorisations, work.
    parts : bool
        Whether RECT-N's parts are timed alone, too, where it is among the methods.
    """
    names = [contestant.name for contestant in contestants]
    for name in methods or ():
        if name not in names:
            raise unknown_name("method of the scalability test", name, names)
    selected = [contestant for contestant in contestants if methods is None or contestant.name in methods]
    rows: list[tuple[str, ...]] = []
    for contestant in selected:
        rows += _rows(contestant, sizes, epochs if contestant.steps == "epochs" else rounds)
    header = ("method", "nodes", "seconds", "of it neighbours", "processor s", "peak MB", "growth exponent")
    note = (
        f"{epochs} epochs of RECT, {rounds} rounds of RSDNE. The exponent compares processor seconds with those "
        "of the row above: 1 is linear, 2 quadratic. Neighbours: what RSDNE's search for them took."
    )
    tables = [Table("The paper's scalability test", header, rows, (note,))]
    structure = next((contestant for contestant in selected if contestant.name == "rect-n"), None)
    if structure is not None:
        within = [n for n in sizes if n <= structure.largest]
        if parts and within:
            tables.append(parts_table(max(within), epochs))
        if large := [n for n in sizes if n >= outofcore.SIZES[0]]:
            tables += outofcore.run(sizes=large)
    return tables


def _rows(contestant: Contestant, sizes: Sequence[int], steps: int) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    before: tuple[int, float] | None = None
    for n in sizes:
        if n > contestant.largest:
            continue
        params = {**contestant.params, contestant.steps: steps}
        cost = measure(
            "unseen_paper.bench.scale",
            "fit",
            name=contestant.name,
            n=n,
            params=params,
            steps=contestant.steps,
        )
        growth = "" if before is None else f"{_exponent(before, (n, cost.processor)):.2f}"
        search = cost.result["neighbour_seconds"]
        share = "" if search is None else f"{search:.2f} ({search / cost.seconds:.0%})"
        cells = f"{cost.seconds:.2f}", share, f"{cost.processor:.2f}", f"{cost.megabytes:.0f}", growth
        rows.append((contestant.name, f"{n:,}", *cells))
        before = n, cost.processor
        logger.info("%s, %d nodes: %.2f s, peak %.0f MB", contestant.name, n, cost.seconds, cost.megabytes)
    return rows


def parts_table(n: int, epochs: int) -> Table:
    """Return RECT-N's time at `n` nodes beside its parts timed alone in the same run."""
    cost = measure("unseen_paper.bench.scale", "whole_and_parts", n=n, epochs=epochs)
    parts: dict[str, list[float]] = cost.result["parts"]
    whole: list[float] = cost.result["whole"]
    total = [sum(times) for times in zip(*parts.values(), strict=True)]
    listed = {**parts, "sum of the parts": total, "RECT-N": whole}
    rows = [(what, *(f"{seconds:.1f}" for seconds in times)) for what, times in listed.items()]
    wall, processor = (a / b for a, b in zip(whole, total, strict=True))
    ratio = (
        f"RECT-N takes {wall:.2f} times the sum of its parts, in processor seconds {processor:.2f} times, which other "
        f"work on the machine disturbs less; peak memory {cost.megabytes:.0f} MB."
    )
    title = f"RECT-N, {n:,} nodes, d = 200, {epochs} epochs"
    return Table(title, ("part", "seconds", "processor s"), rows, (ratio,))


def _exponent(before: tuple[int, float], now: tuple[int, float]) -> float:
    return math.log(now[1] / before[1]) / math.log(now[0] / before[0])


def fit(name: str, n: int, params: dict[str, Any], steps: str = "epochs") -> Callable[[], Any]:
    """Prepare a method on the test's graph; it tells what its search for neighbours took, if it has one."""
    import unseen

    graph = unseen.random_graph(n, random_state=0)
    labelled = np.random.default_rng(0).random(n) < 0.1
    labels = unseen.Labels.from_values(np.where(labelled, 0, -1).tolist(), graph.node_ids)
    method = unseen.make_method(name, **params, random_state=0)
    unseen.make_method(name, **{**params, steps: 1}, random_state=0).fit(
        unseen.random_graph(500, random_state=0), np.zeros(500, dtype=int)
    )  # warm up

    def work() -> dict[str, Any]:
        method.fit(graph, labels)
        return {"neighbour_seconds": getattr(method, "neighbour_seconds_", None)}

    return work


def whole_and_parts(n: int, epochs: int, width: int = 200, tries: int = 3) -> Callable[[], Any]:
    """Prepare RECT-N, and before and after it a few rounds of each of its parts alone."""
    import torch

    import unseen
    from unseen.engine.run import Run
    from unseen.methods.neural.adam import Adam
    from unseen.methods.neural.gcn_encoder import SparseProduct, blocks_of, gram

    graph = unseen.random_graph(n, random_state=0)
    unseen.RECTN(epochs=1, random_state=0).fit(unseen.random_graph(500, random_state=0))  # warm up
    cpu = torch.device("cpu")

    def alone(run: Run) -> dict[str, list[float]]:
        U = torch.randn(n, width, generator=torch.Generator().manual_seed(0))
        out, gradient = torch.empty_like(U), torch.full_like(U, 1e-3)
        small = gram(U, U, run)
        A = run.matrix(graph.adjacency, symmetric=True)
        products = [
            SparseProduct(m, cpu) for m in (A.gcn_normalized(), A.row_normalized(), A.column_normalized())
        ]
        adam = Adam([U], 1e-3, run)

        def back(start: int, stop: int) -> None:
            torch.mm(U[start:stop], small, out=out[start:stop])

        jobs: dict[str, tuple[int, Callable[[], object]]] = {
            "sparse products with Ahat": (2, lambda: products[0](U, out=out)),
            "sparse products with Abar": (2, lambda: products[1](U, out=out)),
            "sparse products with Abar'": (2, lambda: products[2](U, out=out)),
            "Gram products U'U": (1, lambda: gram(U, U, run)),
            "Gram products U(U'U)": (1, lambda: run.each(back, blocks_of(U, run))),
            "optimiser updates": (1, lambda: adam.step([gradient])),
        }
        costs = {}
        for what, (times, job) in jobs.items():
            job()
            times_taken = _timed(lambda job=job: [job() for _ in range(tries)])  # type: ignore[misc]
            costs[what] = [seconds / tries * times * epochs for seconds in times_taken]
        return costs

    def work() -> dict[str, Any]:
        with Run().of(graph, 0) as run:
            before = alone(run)
        settings: dict[str, Any] = {"n_components": width, "features": "identity", "epochs": epochs}
        whole = _timed(lambda: unseen.RECTN(**settings, random_state=0).fit(graph))
        with Run().of(graph, 0) as run:
            after = alone(run)  # a shared machine is not as fast at the end as at the beginning
        parts = {
            what: [(a + b) / 2 for a, b in zip(before[what], after[what], strict=True)] for what in before
        }
        return {"whole": whole, "parts": parts}

    return work


def _timed(work: Callable[[], object]) -> list[float]:
    """Return seconds and processor seconds that `work` takes."""
    start = time.perf_counter(), time.process_time()
    work()
    return [time.perf_counter() - start[0], time.process_time() - start[1]]
