"""RECT against a plain dense implementation, and RECT-L against PyTorch Geometric's: `unseen bench rect`."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

import unseen
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.methods.registry import make_method
from unseen_paper.bench.isolated import Measured, measure
from unseen_paper.bench.report import Table

EPOCHS = 100
Job = tuple[str, str, float]


def run(*, repeats: int = 3, epochs: int = EPOCHS) -> list[Table]:
    """Time all pairs in turn, `repeats` times; ratios are medians of the paired runs."""
    pairs: list[tuple[str, str, Job, Job]] = [
        ("RECT, citeseer, 30%", "dense RECT", ("dense_rect", "citeseer", 0.3), ("our_rect", "citeseer", 0.3))
    ]
    for name in ("citeseer", "cora"):
        for rate in (0.1, 0.5):
            jobs: tuple[Job, Job] = ("pyg_rect_l", name, rate), ("our_rect_l", name, rate)
            pairs.append((f"RECT-L, {name}, {rate:.0%}", "PyTorch Geometric RECT_L", *jobs))
    rows = [_compare(what, other, theirs, ours, repeats, epochs) for what, other, theirs, ours in pairs]
    header = (
        *("what", "against", "theirs s", "ours s", "times faster", "theirs MB", "ours MB"),
        *("share of memory", "whole processes MB"),
    )
    notes = (
        f"{epochs} epochs, two unseen classes, percentages are label rates; features and labels in memory, imports "
        f"not counted, each run in a process of its own; medians of {repeats} paired runs. Memory is the peak on top "
        "of libraries and input; the last column has the peaks of the whole processes.",
    )
    return [Table("RECT against other implementations", header, rows, notes)]


def _compare(what: str, other: str, theirs: Job, ours: Job, repeats: int, epochs: int) -> tuple[str, ...]:
    runs = [(_run(theirs, epochs), _run(ours, epochs)) for _ in range(repeats)]
    seconds, memory, peaks = (
        [median(getattr(pair[side], name) for pair in runs) for side in (0, 1)]
        for name in ("seconds", "added", "megabytes")
    )
    faster = median(a.seconds / b.seconds for a, b in runs)
    share = median(b.added / a.added for a, b in runs)
    figures = *(f"{each:.2f}" for each in seconds), f"{faster:.1f}", *(f"{each:.0f}" for each in memory)
    return what, other, *figures, f"{share:.2f}", f"{peaks[0]:.0f}, {peaks[1]:.0f}"


def _run(job: Job, epochs: int) -> Measured:
    function, dataset, rate = job
    return measure("unseen_paper.bench.rect", function, dataset=dataset, rate=rate, epochs=epochs)


def our_rect(dataset: str, rate: float, epochs: int, name: str = "rect") -> Callable[[], Any]:
    """Prepare our RECT, or another method of its family."""
    graph, labels = hide_two(dataset, rate)
    method = make_method(name, epochs=epochs, random_state=0)
    return lambda: float(method.fit_transform(graph, labels).vectors[0, 0])


def our_rect_l(dataset: str, rate: float, epochs: int) -> Callable[[], Any]:
    """Prepare our RECT-L."""
    return our_rect(dataset, rate, epochs, "rect-l")


def dense_rect(dataset: str, rate: float, epochs: int) -> Callable[[], Any]:
    """Prepare the plain dense implementation."""
    from unseen_paper.dense.rect import train_rect

    graph, labels = hide_two(dataset, rate)
    return lambda: float(train_rect(graph, labels, epochs=epochs)[0, 0])


def pyg_rect_l(dataset: str, rate: float, epochs: int) -> Callable[[], Any]:
    """Prepare PyTorch Geometric's RECT_L as its example trains it, with our learning rate and epochs."""
    import numpy as np
    import torch
    from torch_geometric.data import Data
    from torch_geometric.nn.models import RECT_L
    from torch_geometric.transforms import SVDFeatureReduction

    graph, labels = hide_two(dataset, rate)
    coo = graph.adjacency.tocoo()
    mask = torch.zeros(graph.n_nodes, dtype=torch.bool)
    mask[torch.tensor(labels.labelled)] = True
    data = Data(
        x=torch.tensor(graph.features.toarray(), dtype=torch.float32),  # type: ignore[union-attr]
        edge_index=torch.tensor(np.stack([coo.row, coo.col]), dtype=torch.int64),
        y=torch.tensor(labels.codes),
    )

    def train() -> float:
        reduced = SVDFeatureReduction(200)(data)
        model = RECT_L(200, 200)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
        targets = model.get_semantic_labels(reduced.x, reduced.y, mask)
        for _ in range(epochs):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(
                model(reduced.x, reduced.edge_index)[mask], targets, reduction="sum"
            )
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        return float(model.embed(reduced.x, reduced.edge_index)[0, 0])

    return train


def hide_two(dataset: str, rate: float) -> tuple[Graph, Labels]:
    """Return a graph and the labels that are left of it without its first two classes."""
    data = unseen.load_dataset(dataset)
    split = unseen.completely_imbalanced_split(
        data.labels, label_rate=rate, unseen=data.labels.classes[:2], random_state=0
    )
    return data.graph, split.seen_labels
