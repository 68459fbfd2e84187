"""RSDNE against the same rounds with n x n matrices: time, memory, and time to equal J, as ratios from one run.

Each side runs in a process of its own, one after the other, so that peaks of memory do not mix. The dense side is
:mod:`unseen.bench.dense_rsdne` in float64, as numpy does it; rounds it would need beyond those that are timed are
counted with the sparse solver, which takes the same rounds, and charged at the measured time of a round.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Row = dict[str, Any]

DENSE_ROUNDS = 4
SPARSE_ROUNDS = 20


def run(
    dataset: str = "citeseer", *, label_rate: float = 0.3, n_components: int = 200, repeats: int = 3
) -> list[Row]:
    """Return one row a comparison: what, seconds and megabytes of either side, and the ratios.

    Parameters
    ----------
    dataset : str
        Name of a data set with one label a node.
    label_rate : float
        Share of labelled nodes; the first two classes are hidden.
    n_components : int
        Columns.
    repeats : int
        The fast side is timed this often, and the median taken.
    """
    job = (dataset, label_rate, n_components)
    dense = _apart(_dense_rounds, *job)
    sparse = [_apart(_gradient_rounds, *job) for _ in range(repeats)]
    als = [_apart(_alternating, *job) for _ in range(repeats)]
    needed = _apart(_rounds_to, *job, als[0]["cost"])
    gradient = _median(sparse)
    alternating = _median(als)
    return [
        {
            "what": f"a round of gradient descent, {dataset}",
            "dense_seconds": dense["seconds"],
            "seconds": gradient["seconds"],
            "faster": dense["seconds"] / gradient["seconds"],
            "dense_megabytes": dense["megabytes"],
            "megabytes": gradient["megabytes"],
            "less_memory": dense["megabytes"] / gradient["megabytes"],
        },
        {
            "what": f"to J = {als[0]['cost']:.4f}: als in {als[0]['rounds']} rounds, gradient in {needed['rounds']}",
            "dense_seconds": dense["seconds"] * needed["rounds"],
            "seconds": alternating["seconds"],
            "faster": dense["seconds"] * needed["rounds"] / alternating["seconds"],
            "dense_megabytes": dense["megabytes"],
            "megabytes": alternating["megabytes"],
            "less_memory": dense["megabytes"] / alternating["megabytes"],
        },
    ]


def _median(results: list[Row]) -> Row:
    return {key: float(np.median([result[key] for result in results])) for key in ("seconds", "megabytes")}


def _apart(work: Callable[..., Row], *job: Any) -> Row:
    """Run `work` in a new process and add the megabytes by which its memory grew."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (work, job))


def _measured(work: Callable[..., Row], job: tuple[Any, ...]) -> Row:
    import torch  # noqa: F401  # both sides are measured beyond what importing takes

    import unseen.methods.rsdne  # noqa: F401

    _prepared(*job[:3])
    before = _peak()
    result = work(*job)
    return {"megabytes": max(_peak() - before, 1.0), **result}


def _peak() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def _prepared(dataset: str, label_rate: float, n_components: int) -> tuple[Any, Any, Any]:
    import unseen

    data = unseen.load_dataset(dataset)
    split = unseen.completely_imbalanced_split(
        data.labels, label_rate=label_rate, unseen=data.labels.classes[:2], random_state=0
    )
    start = np.random.default_rng(0).random((2, data.graph.n_nodes, n_components)) / n_components
    return data.graph, split.seen_labels, start


def _dense_rounds(dataset: str, label_rate: float, n_components: int) -> Row:
    from unseen.bench.dense_rsdne import DenseRSDNE

    graph, seen, start = _prepared(dataset, label_rate, n_components)
    dense = DenseRSDNE(graph.adjacency.toarray(), seen.indicator.toarray())
    rounds = dense.bold_rounds(start[0], start[1].T, rate=0.01)
    next(rounds)
    begin = time.perf_counter()
    for _ in range(DENSE_ROUNDS):
        next(rounds)
    return {"seconds": (time.perf_counter() - begin) / DENSE_ROUNDS}


def _gradient_rounds(dataset: str, label_rate: float, n_components: int) -> Row:
    from unseen.methods.rsdne_solvers import gradient_descent

    graph, seen, start = _prepared(dataset, label_rate, n_components)
    U, Ht = start.astype(np.float32)
    rounds = gradient_descent(_objective(graph, seen), U, Ht, step="bold")
    next(rounds)
    next(rounds)  # threads have started, memory is there
    begin = time.perf_counter()
    for _ in range(SPARSE_ROUNDS):
        next(rounds)
    return {"seconds": (time.perf_counter() - begin) / SPARSE_ROUNDS}


def _alternating(dataset: str, label_rate: float, n_components: int) -> Row:
    import unseen

    graph, seen, _ = _prepared(dataset, label_rate, n_components)
    begin = time.perf_counter()
    method = unseen.RSDNE(n_components=n_components, random_state=0).fit(graph, seen)
    return {
        "seconds": time.perf_counter() - begin,
        "cost": method.loss_history_[-1],
        "rounds": method.n_iter_,
    }


def _rounds_to(dataset: str, label_rate: float, n_components: int, cost: float) -> Row:
    """Count the rounds of gradient descent from the released start until J is as low as `cost`."""
    from unseen.methods.rsdne_solvers import gradient_descent

    graph, seen, start = _prepared(dataset, label_rate, n_components)
    U, Ht = start.astype(np.float32)
    for number, state in enumerate(gradient_descent(_objective(graph, seen), U, Ht, step="bold")):
        if state.cost <= cost or number == 2000:
            break
    return {"rounds": number}


def _objective(graph: Any, seen: Any) -> Any:
    from unseen.linalg.labelled import LabelledWalk, label_groups
    from unseen.linalg.neighbours import nearest_in_class
    from unseen.linalg.walk import WalkMatrix
    from unseen.methods.rsdne_solvers import Objective

    groups = label_groups(seen.indicator)
    walk = WalkMatrix(graph.adjacency)
    return Objective(
        walk,
        0.1,
        1.0,
        LabelledWalk(graph.adjacency, groups),
        lambda U: nearest_in_class(U, groups, 5),
        walk.frobenius_squared() or 0.0,
    )
