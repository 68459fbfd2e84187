"""The main job in one minute: hide classes of the bundled graph and see which vectors keep them apart."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from unseen.data.datasets import Dataset, load_dataset
from unseen.embedding import Embedding
from unseen.errors import UnsupportedError
from unseen.evaluation import Score, fit_and_evaluate
from unseen.explorer import Subject, explore
from unseen.methods.registry import make_method
from unseen.splits import Split, completely_imbalanced_split, random_unseen_sets

METHODS = ("nodefeats", "gcn", "smoothfeats", "rect", "rect-plus")
"""Shown in this order, as far as they are installed: no graph, the usual way, no training, the paper's, ours."""
PAGE_METHOD = "rect-plus"
"""Whose vectors the page shows: those the demo recommends."""


@dataclass(frozen=True, eq=False)
class DemoRun:
    """What one method made of it; `seconds` for learning the vectors and judging them."""

    embedding: Embedding
    score: Score
    seconds: float


@dataclass(frozen=True, eq=False)
class Demo:
    """The data, what was hidden, one run per method, and the methods that are not installed."""

    data: Dataset
    split: Split
    runs: dict[str, DemoRun]
    left_out: tuple[str, ...] = ()


def run_demo(
    *,
    hidden: Sequence[str] = (),
    label_rate: float = 0.1,
    seed: int = 0,
    on_start: Callable[[str, int, int], None] = lambda name, k, total: None,  # noqa: ARG005
) -> Demo:
    """Hide three sections (drawn with `seed` unless named), learn vectors, classify.

    Parameters
    ----------
    hidden : sequence of str
        Sections that no method may see.
    label_rate : float
        Share of the packages whose section is known.
    seed : int
        Seed of the draw and of every method.
    on_start : callable
        Called with the method's name, its number and the number of methods, before each begins.

    Examples
    --------
    >>> demo = run_demo(label_rate=0.1, seed=0)  # doctest: +SKIP
    """
    data = load_dataset("debian")
    unseen = tuple(hidden) or random_unseen_sets(data.labels, 3, 1, random_state=seed)[0]
    split = completely_imbalanced_split(data.labels, label_rate=label_rate, unseen=unseen, random_state=seed)
    runs, left_out = {}, []
    for k, name in enumerate(METHODS):
        on_start(name, k, len(METHODS))
        start = time.perf_counter()
        try:
            method = make_method(name, random_state=seed)
            embedding, score = fit_and_evaluate(method, data.graph, data.labels, split, random_state=seed)
        except UnsupportedError:  # needs torch, which the core does without
            left_out.append(name)
            continue
        runs[name] = DemoRun(embedding, score, time.perf_counter() - start)
    return Demo(data, split, runs, tuple(left_out))


def demo_subject(demo: Demo, *, seed: int = 0, on_step: Callable[[int, int], None] | None = None) -> Subject:
    """Return what the demo's page shows: the hidden sections as discovery finds them, and the truth for the reader.

    Parameters
    ----------
    demo : Demo
        What :func:`run_demo` returned.
    seed : int
        Seed of the discovery.
    on_step : callable or None
        Called with the progress.

    Examples
    --------
    >>> subject = demo_subject(run_demo())  # doctest: +SKIP
    """
    run = demo.runs.get(PAGE_METHOD)
    return explore(
        demo.data.graph,
        demo.split.seen_labels,
        embedding=None if run is None else run.embedding,
        truth=demo.data.labels,
        random_state=seed,
        on_step=on_step,
    )
