"""What each constant of discovery is worth: `unseen bench constants` halves and doubles every one of them.

10 % of the labels, a third of the classes hidden. Embeddings are computed once per graph, unless the constant belongs
to them. Every draw is a row of `constants.csv` in the working folder; a second start goes on from there.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from unseen.data.datasets import Dataset, load_dataset
from unseen.discovery import discover as discovery
from unseen.discovery.truth import compare
from unseen.splits import completely_imbalanced_split
from unseen_paper.bench.draws import OncePerGraph, Row, kept_draws
from unseen_paper.bench.guarantees import is_hidden
from unseen_paper.bench.report import Table

GRAPHS = ("cora", "citeseer", "debian", "wiki", "chameleon", "actor", "facebook", "photo", "coauthor-cs")
MODULES = ("vectors", "ranking", "validation", "guarantees", "groups", "discover")
"""Files of discovery whose constants decide what is found."""
FIRST_SEED, RATE = 45_000, 0.1
FILE = Path("constants.csv")
ONCE = OncePerGraph()
KEYS = ("constant", "factor", "seed")
FIGURES = ("auroc", "ece", "false", "classes")
AUROC, ECE = 0.003, 0.005
"""A constant that changes less than that needs no name."""


def run(*, repeats: int = 3, methods: Sequence[str] | None = None, file: Path = FILE) -> list[Table]:
    """Return the table of `repeats` draws of each graph (all, or `methods`), measured where `file` lacks them."""
    graphs, load, rows = methods or GRAPHS, cache(load_dataset), []
    settings = [("none", 1.0), *((name, factor) for name in find_constants() for factor in (0.5, 2.0))]
    for seed in range(FIRST_SEED, FIRST_SEED + repeats):
        for graph in graphs:
            draws = [(name, factor, seed) for name, factor in settings]
            rows = kept_draws([graph], draws, measure, KEYS, FIGURES, file, load)
    return [
        make_table(rows if len(graphs) == 1 else kept_draws(graphs, [], measure, KEYS, FIGURES, file, load))
    ]


def find_constants() -> list[str]:
    """Return the constants of discovery, as ``module.NAME``: numbers, and tuples, arrays and mappings of numbers."""
    names = []
    for module in MODULES:
        source = importlib.import_module(f"unseen.discovery.{module}")
        text = Path(str(source.__file__)).read_text(encoding="utf-8").splitlines()
        assigned = [line.split(" =")[0] for line in text if line[:1].isupper() and " = " in line]
        constants = [name.strip() for line in assigned for name in line.split(",")]
        scalable = [name for name in constants if scale(getattr(source, name, None), 2.0) is not None]
        names += [f"{module}.{name}" for name in scalable if name.isupper()]
    return names


def scale(value: Any, factor: float) -> Any:
    """Return a constant times a factor; None for what is no number, and whole numbers stay whole."""
    if isinstance(value, np.ndarray):
        return value * factor
    if isinstance(value, dict):
        scaled = {key: scale(entry, factor) for key, entry in value.items()}
        return None if None in scaled.values() else scaled
    if isinstance(value, tuple):
        entries = tuple(scale(entry, factor) for entry in value)
        return None if None in entries else entries
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, int):
        return max(1, round(value * factor))
    return min(value * factor, 0.99) if value < 1 else value * factor


@contextmanager
def changed(constant: str, factor: float) -> Iterator[None]:
    """Multiply a constant wherever discovery has imported it."""
    if constant == "none":
        yield
        return
    module, _, name = constant.partition(".")
    value = getattr(importlib.import_module(f"unseen.discovery.{module}"), name)
    holders = [
        each
        for key, each in sys.modules.items()
        if key.startswith("unseen.discovery") and getattr(each, name, None) is value
    ]
    for holder in holders:
        setattr(holder, name, scale(value, factor))
    try:
        yield
    finally:
        for holder in holders:
            setattr(holder, name, value)


def measure(data: Dataset, constant: str, factor: float, seed: int) -> dict[str, object]:
    """Hide a third of the classes, change the constant, and return how right what was found is."""
    hidden = max(1, round(len(data.labels.classes) / 3))
    split = completely_imbalanced_split(data.labels, label_rate=RATE, unseen=hidden, random_state=seed)
    once = OncePerGraph() if constant.startswith("vectors.") else ONCE
    with changed(constant, factor), once.of(data.name):
        found = discovery.discover(data.graph, split.seen_labels, random_state=seed)
    truth = compare(found, data.labels)
    new = set(data.labels.node_ids[is_hidden(data.labels, split.seen_labels)].tolist())
    listed = set(found.select())
    return {
        "auroc": f"{truth.auroc:.5f}",
        "ece": f"{truth.ece:.5f}",
        "false": f"{len(listed - new) / max(len(listed), 1):.4f}",
        "classes": found.count.best,
    }


def make_table(rows: Sequence[Row]) -> Table:
    """Return the mean change that each constant makes, halved and doubled."""
    plain = {(row["graph"], str(row["seed"])): row for row in rows if row["constant"] == "none"}
    lines = []
    for constant in dict.fromkeys(str(row["constant"]) for row in rows if row["constant"] != "none"):
        cells, matters = [], False
        for factor in ("0.5", "2.0"):
            pairs = [
                (row, plain[row["graph"], str(row["seed"])])
                for row in rows
                if row["constant"] == constant and str(row["factor"]) == factor
            ]
            change = {
                name: np.mean([float(str(a[name])) - float(str(b[name])) for a, b in pairs])
                for name in FIGURES
            }
            matters |= bool(abs(change["auroc"]) >= AUROC or abs(change["ece"]) >= ECE)
            cells += [f"{change[name]:+.4f}" for name in FIGURES]
        lines.append((constant, str(len(pairs)), *cells, "yes" if matters else ""))
    figures = ["AUROC", "ECE", "false at 10 %", "classes"]
    header = (
        "constant",
        "draws",
        *(f"{name} x 1/2" for name in figures),
        *(f"{name} x 2" for name in figures),
    )
    return Table("Constants of discovery", (*header, "matters"), lines)
