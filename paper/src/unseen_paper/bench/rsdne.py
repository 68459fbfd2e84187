"""RSDNE against the same rounds with n x n matrices: `unseen bench rsdne`.

The dense side is :mod:`unseen_paper.dense.rsdne`, in float64 as numpy does it. To equal J: the rounds that dense
gradient descent would need are counted with the sparse solver, which takes the same rounds (a test holds that), and
charged at the time of a dense round.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

import unseen
from unseen.graph import Graph
from unseen_paper.bench.isolated import measure
from unseen_paper.bench.rect import hide_two
from unseen_paper.bench.report import Table

DENSE_ROUNDS = 4
SPARSE_ROUNDS = 20
MOST_ROUNDS = 1000
RATE = 0.3


def run(*, dataset: str = "citeseer", repeats: int = 3) -> list[Table]:
    """Time both sides in turn, `repeats` times; ratios are medians of the paired runs."""
    runs = [[_run(what, dataset) for what in ("dense", "gradient", "als")] for _ in range(repeats)]
    cost, als_rounds = runs[0][2].result["cost"], runs[0][2].result["rounds"]
    needed = _run("rounds_to", dataset, cost=cost).result["rounds"]
    dense, sparse, whole = ([side[i].result["seconds"] for side in runs] for i in range(3))
    memory = [median(side[i].megabytes for side in runs) for i in range(3)]
    rows = [
        _row("a round of gradient descent", dense, sparse, memory[0], memory[1]),
        _row(
            f"RSDNE to J = {cost:.2f} (dense gradient: {needed} rounds, als: {als_rounds})",
            [seconds * needed for seconds in dense],
            whole,
            memory[0],
            memory[2],
        ),
    ]
    header = ("what", "dense s", "ours s", "times faster", "dense MB", "ours MB", "share of memory")
    notes = (
        f"{dataset}, d = 200, 30 % labels, two classes hidden; each run in a process of its own, medians of {repeats} "
        "paired runs. Memory is the peak of the whole process, libraries included. Gradient descent starts from "
        "uniform(0, 1) / d as released; RSDNE is timed whole, its start included.",
    )
    return [Table("RSDNE against a dense implementation", header, rows, notes)]


def _row(what: str, dense: list[float], ours: list[float], dense_mb: float, our_mb: float) -> tuple[str, ...]:
    faster = median(a / b for a, b in zip(dense, ours, strict=True))
    seconds = f"{median(dense):.2f}", f"{median(ours):.3f}"
    return what, *seconds, f"{faster:.0f}", f"{dense_mb:.0f}", f"{our_mb:.0f}", f"{our_mb / dense_mb:.2f}"


def _run(what: str, dataset: str, **more: Any) -> Any:
    return measure("unseen_paper.bench.rsdne", what, dataset=dataset, **more)


def dense(dataset: str) -> Callable[[], Any]:
    """Prepare rounds with n x n matrices; forming M and W is not counted."""
    from unseen_paper.dense.rsdne import DenseRSDNE

    graph, seen = hide_two(dataset, RATE)
    start = _start(graph)
    rounds = DenseRSDNE(graph.adjacency.toarray(), seen.indicator.toarray()).bold_rounds(
        start[0], start[1].T, 0.01
    )
    next(rounds)
    return lambda: {"seconds": _seconds_a_round(rounds, DENSE_ROUNDS)}


def gradient(dataset: str) -> Callable[[], Any]:
    """Prepare the same rounds of our solver."""
    rounds = _descent(dataset)
    next(rounds)
    next(rounds)  # now the threads have started
    return lambda: {"seconds": _seconds_a_round(rounds, SPARSE_ROUNDS)}


def als(dataset: str) -> Callable[[], Any]:
    """Prepare RSDNE as a user calls it."""
    graph, seen = hide_two(dataset, RATE)
    unseen.RSDNE(n_components=2, max_iter=1, random_state=0).fit(graph, seen)  # warm up

    def work() -> dict[str, Any]:
        start = time.perf_counter()
        method = unseen.RSDNE(random_state=0).fit(graph, seen)
        seconds = time.perf_counter() - start
        return {"seconds": seconds, "cost": method.loss_history_[-1], "rounds": method.n_iter_}

    return work


def rounds_to(dataset: str, cost: float) -> Callable[[], Any]:
    """Prepare counting the rounds of gradient descent until J is as low as `cost`."""
    rounds = _descent(dataset)

    def work() -> dict[str, Any]:
        for number, state in enumerate(rounds):
            if state.cost <= cost or number == MOST_ROUNDS:
                break
        return {"rounds": number}

    return work


def _seconds_a_round(rounds: Any, count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        next(rounds)
    return (time.perf_counter() - start) / count


def _descent(dataset: str) -> Any:
    from unseen.engine.run import Run
    from unseen.linalg.labelled import LabelledWalk, label_groups
    from unseen.linalg.neighbours import nearest_in_class
    from unseen.linalg.walk import WalkMatrix
    from unseen.methods.rsdne_solvers import Objective, gradient_descent

    graph, seen = hide_two(dataset, RATE)
    run = Run()
    adjacency = run.matrix(graph.adjacency, symmetric=True)
    groups = label_groups(seen.indicator, run)
    walk, pruned = WalkMatrix(adjacency), LabelledWalk(adjacency, groups)
    constant = walk.frobenius_squared() or 0.0
    objective = Objective(walk, 0.1, 1.0, pruned, lambda U: nearest_in_class(U, groups, 5, run), constant)
    return gradient_descent(objective, *_start(graph).astype(np.float32), step="bold")


def _start(graph: Graph) -> np.ndarray:
    """Return U and H' to begin with, as released."""
    return np.random.default_rng(0).random((2, graph.n_nodes, 200)) / 200
