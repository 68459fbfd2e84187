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
COLUMNS = ("n_nodes", "method", "device", "seconds", "megabytes", "steps", "version", "error")
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
    plan = [(n, name, device) for n in _checked(sizes) for name in names for device in devices(name)]
    done = {(row["n_nodes"], row["method"], row["device"]): row for row in _read(path)}
    for k, key in enumerate(plan, start=1):
        if key not in done or done[key]["error"] or not is_current(done[key]["version"]):
            try:
                row = _measured(*key)
            except UnseenError as error:
                logger.warning("%s, %d nodes, %s: %s", key[1], key[0], key[2], error)
                row = _row(*key, error=" ".join(str(error).split()))
            done[key] = row
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


def _measured(n: int, name: str, device: str) -> Row:
    params = dict(METHODS[name])
    if "device" in method_class(name)().get_params():
        params["device"] = device
    cost = measure(__name__, "fit", name=name, n=n, params=params)
    return _row(
        n,
        name,
        device,
        seconds=round(cost.processor if device == "cpu" else cost.seconds, 3),
        megabytes=round(cost.megabytes),
        steps=next(params[key] for key in STEPS if key in params),
    )


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


def _row(
    n: int,
    name: str,
    device: str,
    *,
    seconds: float | None = None,
    megabytes: int | None = None,
    steps: int | None = None,
    error: str = "",
) -> Row:
    values = (n, name, device, seconds, megabytes, steps, unseen.__version__, error)
    return dict(zip(COLUMNS, values, strict=True))


def _checked(sizes: Sequence[float] | None) -> Sequence[int]:
    for n in sizes or ():
        if not float(n).is_integer() or n < 500:
            msg = f"a size of the scalability test must be an integer of at least 500 nodes, got {n:g}"
            raise InputError(msg)
    return sorted({int(n) for n in sizes}) if sizes else SIZES


def _read(path: Path) -> list[Row]:
    if not path.exists():
        return []
    rows = read_csv(path, COLUMNS)
    try:
        return [
            {
                **row,
                "n_nodes": int(row["n_nodes"]),
                "seconds": float(row["seconds"]) if row["seconds"] else None,
                "megabytes": int(row["megabytes"]) if row["megabytes"] else None,
                "steps": int(row["steps"]) if row["steps"] else None,
            }
            for row in rows
        ]
    except ValueError as error:
        msg = f"{path} is not a table of the scalability test ({error}); move it away to start anew"
        raise InputError(msg) from None
