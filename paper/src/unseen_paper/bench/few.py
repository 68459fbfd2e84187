"""The default method with few labels: `unseen bench few --out FOLDER`.

Micro F1 with 30, 50 and 100 labelled nodes beside the features as they are and smoothed features, all under the one
rule for C. The graphs are those on which the choice of views is hardest, and a planted one whose classes are levels of
activity. With ``--before`` the `rect-plus` of another version is scored on the same draws. Results are kept in
FOLDER/few.csv, and a later start goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from unseen.data.datasets import Dataset, load_dataset, unweighted_adjacency
from unseen.embedding import Embedding
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.methods.registry import make_method
from unseen_paper.bench.default import fit_before, score_vectors
from unseen_paper.bench.draws import load_present
from unseen_paper.bench.report import Table
from unseen_paper.experiments.plan import f1_runs
from unseen_paper.experiments.results import ResultTable

GRAPHS = ("actor", "chameleon", "photo", "debian", "planted-roles")
COUNTS = (30, 50, 100)
METHODS = ("nodefeats", "smoothfeats", "rect-plus")


def run(
    *, repeats: int = 10, methods: Sequence[str] = METHODS, before: str | None = None, out: str = "."
) -> list[Table]:
    """Run what is missing, `repeats` draws per graph and number of labels, and return the table of micro F1."""
    table, rows = ResultTable(Path(out) / "few.csv"), []
    names = [*methods, *(["rect-plus before"] if before else [])]
    graphs = load_present(
        GRAPHS, lambda name: planted_roles() if name == "planted-roles" else load_dataset(name)
    )
    for graph, data in graphs.items():
        for count in COUNTS:
            means = [f"{_mean(data, name, count, repeats, before, table):.3f}" for name in names]
            rows.append((graph, str(count), *means))
    return [Table("Micro F1 with few labels, mean over draws", ("data set", "labels", *names), rows)]


def planted_roles(n_nodes: int = 1200, n_levels: int = 5, degree: float = 12.0) -> Dataset:
    """Return a graph whose classes are levels of activity and not communities; it has no features.

    An edge joins two nodes by their activities alone. The activity of each level is 1.9 times that of the level below,
    and nodes of a level differ by a factor of about 1.3.
    """
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.arange(n_nodes) % n_levels)
    activity = 1.9**codes * np.exp(0.25 * rng.standard_normal(n_nodes))
    ends = rng.choice(n_nodes, (2, int(n_nodes * degree / 2)), p=activity / activity.sum())
    src, dst = ends[:, ends[0] != ends[1]]
    graph = Graph(unweighted_adjacency(src, dst, n_nodes))
    return Dataset("planted-roles", graph, Labels.from_values([f"level{c}" for c in codes], graph.node_ids))


def _mean(
    data: Dataset, name: str, count: int, repeats: int, before: str | None, table: ResultTable
) -> float:
    """Return the mean of micro F1 over the draws; those that are missing are run."""
    rate = count / len(data.labels.labelled)
    runs = f1_runs(data.name, data.labels, [name], [rate], repeats)
    fixed: Embedding | None = None
    for one in table.missing(runs):
        seen = one.split(data.labels).seen_labels
        if name == "rect-plus before":
            vectors = fit_before(data, seen, str(before))
        elif name == "rect-plus":
            vectors = make_method(name, random_state=0).fit_transform(data.graph, seen)
        else:
            fixed = vectors = fixed or make_method(name, random_state=0).fit_transform(data.graph)
        table.add(score_vectors(data, [one], vectors))
    results = [table.get(one) for one in runs]
    return float(np.mean([r.micro_f1 for r in results if r is not None and r.micro_f1 is not None]))
