"""The default method beside what a user would pick instead, on eleven graphs: `unseen bench default --out FOLDER`.

Micro F1 at 10 and 30 % labels over ten draws, all under the one rule for C. Beside the methods of the library stand
`hops`, [Z | PZ | PPZ] with Z the features of length 1 after SVD and P the mean over neighbours, and with ``--before``
the `rect-plus` of another version. Results are kept in FOLDER/runs.csv, and a later start goes on from there.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from unseen.data.datasets import Dataset
from unseen.embedding import Embedding
from unseen.engine.run import Run as Engine
from unseen.errors import UnseenError
from unseen.evaluation import evaluate
from unseen.labels import Labels
from unseen.linalg.normalize import l2_rows
from unseen.linalg.svd import truncated_svd
from unseen_paper.bench.draws import load_present
from unseen_paper.bench.report import Table
from unseen_paper.experiments.plan import Run, f1_runs
from unseen_paper.experiments.results import Result, ResultTable
from unseen_paper.experiments.runner import run_all

GRAPHS = (
    *("citeseer", "cora", "wiki", "ppi", "blogcatalog", "debian"),
    *("photo", "coauthor-cs", "facebook", "actor", "chameleon"),
)
METHODS = ("nodefeats", "smoothfeats", "hops", "rect", "dgi", "rect-plus")
RATES = (0.1, 0.3)
COLUMNS = 300
"""Columns of each block of `hops`."""
FIT = """
import sys, numpy as np, scipy.sparse as sp, unseen
from pathlib import Path
folder = Path(sys.argv[1])
A = sp.csr_array(sp.load_npz(folder / "adjacency.npz"))
X = sp.csr_array(sp.load_npz(folder / "features.npz")) if (folder / "features.npz").exists() else None
with np.load(folder / "labels.npz", allow_pickle=False) as file:
    ids, names, codes = file["ids"], file["classes"].tolist(), file["codes"]
labels = unseen.Labels(sp.csr_array(sp.coo_array(
    (np.ones(len(codes), dtype=bool), (codes[:, 0], codes[:, 1])), shape=(A.shape[0], len(names)))), names, ids)
method = unseen.make_method("rect-plus", random_state=0)
np.save(folder / "vectors.npy", method.fit_transform(unseen.Graph(A, X, ids), labels).vectors)
"""
"""What another version runs: vectors of its `rect-plus`, from arrays and to one."""


def run(
    *, repeats: int = 10, methods: Sequence[str] = METHODS, before: str | None = None, out: str = "."
) -> list[Table]:
    """Run what is missing, `repeats` draws per graph and rate, and return the table of micro F1."""
    table = ResultTable(Path(out) / "runs.csv")
    names = [*methods, *(["rect-plus before"] if before else [])]
    rows = []
    for graph, data in load_present(GRAPHS).items():
        for name in names:
            runs = f1_runs(graph, data.labels, [name], RATES, repeats)
            if name == "hops":
                table.add(score_vectors(data, table.missing(runs), hops(data)))
            elif name == "rect-plus before":
                for one in table.missing(runs):
                    table.add(
                        score_vectors(
                            data, [one], fit_before(data, one.split(data.labels).seen_labels, str(before))
                        )
                    )
            else:
                run_all(runs, table)
        rows += _rows(graph, names, table, data, repeats)
    header = ("data set", "labels", *names, "rect-plus less the best other")
    return [Table("Micro F1, mean over draws", header, rows)]


def hops(data: Dataset) -> Embedding:
    """Return [Z | PZ | PPZ], every block with rows of length 1; rows of the adjacency where there are no features."""
    graph, engine = data.graph, Engine()
    features = graph.adjacency if graph.features is None else graph.features
    k = min(COLUMNS, *features.shape)
    Z = l2_rows(truncated_svd(l2_rows(sp.csr_array(features)), k, np.random.default_rng(0), engine)[0])
    P = engine.matrix(graph.adjacency, symmetric=True).row_normalized()
    first = P @ Z
    return Embedding(np.hstack([Z, l2_rows(first), l2_rows(P @ first)]), graph.node_ids)


def score_vectors(data: Dataset, runs: Iterable[Run], vectors: Embedding) -> list[Result]:
    """Score the same vectors on the splits of some runs."""
    results = []
    for one in runs:
        score = evaluate(vectors, data.labels, one.split(data.labels), random_state=one.seed)
        results.append(Result(one, score.micro_f1, score.macro_f1, score.seen_f1, score.unseen_f1, C=score.C))
    return results


def fit_before(data: Dataset, labels: Labels, python: str) -> Embedding:
    """Return the vectors that another version's `rect-plus` gives for these labels."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sp.save_npz(folder / "adjacency.npz", sp.csr_matrix(data.graph.adjacency))
        if data.graph.features is not None:
            sp.save_npz(folder / "features.npz", sp.csr_matrix(data.graph.features))
        codes = np.argwhere(labels.indicator.toarray())
        ids = np.array(labels.node_ids.tolist())
        np.savez(folder / "labels.npz", ids=ids, classes=np.array(labels.classes), codes=codes)
        done = subprocess.run(
            [python, "-c", FIT, name], capture_output=True, text=True, check=False, cwd=name
        )
        if done.returncode:
            why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            msg = f"{python} failed: {why}"
            raise UnseenError(msg)
        return Embedding(np.load(folder / "vectors.npy"), data.graph.node_ids)


def _rows(
    graph: str, names: Sequence[str], table: ResultTable, data: Dataset, repeats: int
) -> list[tuple[str, ...]]:
    rows = []
    for rate in RATES:
        means = {}
        for name in names:
            results = [table.get(one) for one in f1_runs(graph, data.labels, [name], [rate], repeats)]
            means[name] = np.mean([r.micro_f1 for r in results if r is not None and r.micro_f1 is not None])
        others = [value for name, value in means.items() if name != "rect-plus"]
        ahead = f"{means['rect-plus'] - max(others):+.3f}" if others and "rect-plus" in means else ""
        rows.append((graph, f"{rate:.0%}", *(f"{value:.3f}" for value in means.values()), ahead))
    return rows
