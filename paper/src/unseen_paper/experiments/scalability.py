"""Training time against the number of nodes, on the paper's random graphs (its figure of scalability).

n nodes, 2n edges, identity features, one label, a tenth of the nodes labelled, no class hidden. Every fit is in a
process of its own, after a warm-up, without imports and preparation. On the processor, `seconds` are those of all its
threads, which other work on the machine disturbs less; on a GPU they are those of the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import unseen
from unseen.errors import InputError, UnseenError, logger, unknown_name
from unseen.methods.registry import method_class
from unseen_paper.bench.isolated import measure
from unseen_paper.csv_files import read_csv, write_csv

METHODS: dict[str, dict[str, Any]] = {
    "rsdne": {"n_components": 200, "tol": 0.0, "max_iter": 10},
    "rsdne-light": {"n_components": 200, "tol": 0.0, "max_iter": 10},
    "rect": {"n_components": 400, "features": "identity", "epochs": 100},
    "rect-dw": {"n_components": 400, "features": "identity", "epochs": 100},
}
"""The methods of the figure and their parameters. RSDNE has ten rounds at every size: it would stop by itself after
more or fewer, which says nothing of growth."""
STEPS = ("epochs", "max_iter")
"""The parameters that say how long a method works."""
SIZES = (1_000, 3_000, 10_000, 100_000)
NUMBERS: dict[str, type] = {"seconds": float, "megabytes": int, "steps": int}
COLUMNS = ("n_nodes", "method", "device", *NUMBERS, "version", "error")
Row = dict[str, Any]


def is_current(version: str) -> bool:
    """Return whether a row was measured by this release, or while it was developed."""
    return version.partition(".dev")[0] == unseen.__version__.partition(".dev")[0]


def scalability_rows(
    path: Path,
    *,
    methods: Sequence[str] | None = None,
    sizes: Sequence[float] | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> list[Row]:
    """Measure what the csv file `path` does not hold yet, write each result at once, return all that were asked for.

    A fit that fails leaves a row with its reason, and is tried again by the next start; so are fits of other versions.

    Parameters
    ----------
    path : Path
        Table of results, from which a second start continues.
    methods : sequence of str, optional
        The paper's four if not given.
    sizes : sequence of int, optional
        Numbers of nodes.
    on_progress : callable
        Told how many fits are done, and of how many.
    """
    names = list(methods or METHODS)
    for name in names:
        if name not in METHODS:
            raise unknown_name("method of the scalability test", name, METHODS)
    for n in sizes or ():
        if not float(n).is_integer() or n < 500:
            msg = f"a size of the scalability test must be an integer of at least 500 nodes, got {n:g}"
            raise InputError(msg)
    chosen = sorted({int(n) for n in sizes}) if sizes else SIZES
    plan = [(n, name, device) for n in chosen for name in names for device in devices(name)]
    done = {(row["n_nodes"], row["method"], row["device"]): row for row in read_times(path)}
    for k, (n, name, device) in enumerate(plan, start=1):
        row = done.get((n, name, device))
        if row is None or row["error"] or not is_current(row["version"]):
            params, figures, why = dict(METHODS[name]), dict.fromkeys(NUMBERS), ""
            if "device" in method_class(name)().get_params():
                params["device"] = device
            try:
                cost = measure(__name__, "fit", name=name, n=n, params=params)
                seconds = cost.processor if device == "cpu" else cost.seconds
                steps = next(params[key] for key in STEPS if key in params)
                figures = {"seconds": round(seconds, 3), "megabytes": round(cost.megabytes), "steps": steps}
            except UnseenError as error:
                logger.warning("%s, %d nodes, %s: %s", name, n, device, error)
                why = " ".join(str(error).split())
            values = (n, name, device, *figures.values(), unseen.__version__, why)
            done[n, name, device] = dict(zip(COLUMNS, values, strict=True))
            write_csv([done[each] for each in sorted(done)], path)
        on_progress(k, len(plan))
    return [done[key] for key in plan if key in done]


def devices(name: str) -> tuple[str, ...]:
    """Return where a method can be timed: the processor, and a GPU where there is one and the method knows what to do.

    Examples
    --------
    >>> devices("rsdne")
    ('cpu',)
    """
    import torch

    takes_device = "device" in method_class(name)().get_params()
    return ("cpu", "cuda") if takes_device and torch.cuda.is_available() else ("cpu",)


def fit(name: str, n: int, params: dict[str, Any]) -> Callable[[], None]:
    """Prepare a method on the test's graph."""
    graph = unseen.random_graph(n, random_state=0)
    labelled = np.random.default_rng(0).random(n) < 0.1
    labels = unseen.Labels.from_values(np.where(labelled, 0, -1).tolist(), graph.node_ids)
    method = unseen.make_method(name, **params, random_state=0)
    short = {**params, **{key: 1 for key in STEPS if key in params}}
    unseen.make_method(name, **short, random_state=0).fit(
        unseen.random_graph(500, random_state=0), np.zeros(500, dtype=int)
    )  # warm up

    def work() -> None:
        method.fit(graph, labels)

    return work


def read_times(path: Path) -> list[Row]:
    """Return the rows of a csv file of times; none where there is no file."""
    rows: list[Row] = list(read_csv(path, COLUMNS)) if path.exists() else []
    try:
        for row in rows:
            row["n_nodes"] = int(row["n_nodes"])
            row |= {name: kind(row[name]) if row[name] else None for name, kind in NUMBERS.items()}
    except ValueError as error:
        msg = f"{path} is not a table of the scalability test ({error}); move it away to start anew"
        raise InputError(msg) from None
    return rows
