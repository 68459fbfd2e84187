"""RSDNE and RSDNE* as methods: settings, odd labels, new nodes, memory on hubs, the paper's graphs."""

from __future__ import annotations

import itertools
import logging
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.engine.run import Run
from unseen.linalg.walk import WalkMatrix

N = 150


def planted(n: int = N, seed: int = 0, inside: float = 0.1, across: float = 0.02) -> unseen.Graph:
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    upper = np.triu(rng.random((n, n)) < np.where(group[:, None] == group, inside, across), 1).astype(float)
    return unseen.Graph(sp.csr_array(upper + upper.T), node_ids=[f"node {i}" for i in range(n)])


def some_labels(graph: unseen.Graph, every: int = 2) -> unseen.Labels:
    return unseen.Labels.from_values(
        [f"c{i % 3}" if i % every == 0 else None for i in range(graph.n_nodes)], graph.node_ids
    )


METHODS = [unseen.RSDNE, unseen.RSDNELight]


@pytest.mark.parametrize("cls", METHODS)
@pytest.mark.parametrize("solver", ["als", "gradient"])
def test_without_weight_or_terms_of_the_labels_or_without_labels_it_is_mfdw(
    cls: type, solver: str, caplog: pytest.LogCaptureFixture
) -> None:
    graph = planted()
    common = {"n_components": 8, "max_iter": 3, "solver": solver, "random_state": 0}
    plain = unseen.MFDW(**common).fit(graph)
    weightless = cls(alpha=0, **common).fit(graph, some_labels(graph))
    assert weightless.loss_history_ == plain.loss_history_
    unlabelled = cls(**common).fit(graph)
    assert "no node has a label" in caplog.text
    bare = cls(intra=None, inter=False, **common).fit(graph, some_labels(graph))
    for method in (weightless, unlabelled, bare):
        np.testing.assert_allclose(method.embedding_.vectors, plain.embedding_.vectors, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("cls", METHODS)
def test_every_setting_reaches_the_result(cls: type) -> None:
    graph = planted()
    settings = [
        *({}, {"alpha": 0.3}, {"lam": 0.3}, {"n_neighbors": 2}, {"intra": "random"}, {"intra": None}),
        *({"inter": False}, {"intra": None, "inter": False}, {"init": "uniform"}, {"max_iter": 2}),
        *({"solver": "gradient"}, {"solver": "gradient", "step": "armijo"}),
        *([{"n_candidates": 7}] if cls is unseen.RSDNELight else []),
    ]
    common = {"n_components": 8, "max_iter": 4, "tol": 0, "random_state": 0}
    found = [cls(**{**common, **each}).fit_transform(graph, some_labels(graph)).vectors for each in settings]
    for (i, a), (j, b) in itertools.combinations(enumerate(found), 2):
        assert np.abs(a - b).max() > 1e-4, (settings[i], settings[j])


def test_enough_candidates_make_the_light_version_exact() -> None:
    graph = planted()
    common = {"n_components": 8, "max_iter": 5, "random_state": 0}
    exact = unseen.RSDNE(**common).fit_transform(graph, some_labels(graph)).vectors
    light = unseen.RSDNELight(n_candidates=N, **common).fit_transform(graph, some_labels(graph)).vectors
    np.testing.assert_allclose(light, exact, atol=1e-5)
    with pytest.raises(
        unseen.InputError, match="`n_candidates` of RSDNELight is 3, which is fewer than its 5"
    ):
        unseen.RSDNELight(n_candidates=3, n_components=8).fit(graph, some_labels(graph))


@pytest.mark.parametrize("cls", METHODS)
def test_the_cost_never_rises_and_labels_bring_classes_together(cls: type) -> None:
    graph = planted(300, inside=0.05, across=0.02)
    labels = some_labels(graph)
    method = cls(n_components=16, tol=0, random_state=0).fit(graph, labels)
    history = np.array(method.loss_history_)
    assert (np.diff(history) <= 1e-5 * history[:-1]).all()
    assert method.n_iter_ == 15
    plain = unseen.MFDW(n_components=16, random_state=0).fit_transform(graph)
    assert _separation(method.embedding_.vectors, labels) > 1.15 * _separation(plain.vectors, labels)


def _separation(vectors: np.ndarray, labels: unseen.Labels) -> float:
    """Mean squared distance between labelled nodes of different classes over that within a class."""
    rows = labels.labelled
    U, code = vectors[rows].astype(float), labels.codes[rows]
    squared = ((U[:, None] - U[None]) ** 2).sum(axis=2)
    same = code[:, None] == code
    return squared[~same].mean() / squared[same & ~np.eye(len(U), dtype=bool)].mean()


@pytest.mark.parametrize("cls", METHODS)
@pytest.mark.parametrize(
    "values",
    [
        ["a"] + [None] * (N - 1),
        ["a", "b", "c"] + [None] * (N - 3),
        ["rare"] * 3 + ["full"] * 20 + [None] * (N - 23),
        ["a"] * N,
        [["a", "b"], "a", "b", ["b", "c"], "c", ["a", "b", "c"]] + [None] * (N - 6),
    ],
    ids=["one labelled node", "classes of one", "fewer than k others", "one class", "several labels"],
)
def test_odd_labels(cls: type, values: list[object], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    adjacency = planted().adjacency.tolil()
    adjacency[0, :] = adjacency[:, 0] = (
        0  # a labelled node without edges moves to its class, if that has others
    )
    method = cls(n_components=8, max_iter=3, tol=0, random_state=0).fit(
        unseen.Graph(adjacency.tocsr()), values
    )
    assert np.isfinite(method.embedding_.vectors).all()
    assert method.embedding_.vectors[0].any() == (values.count(values[0]) > 1 or values[0] == ["a", "b"])
    assert (np.diff(method.loss_history_) <= 1e-4).all()
    few = "fewer than 5 others of their class for the labelled nodes of: rare;"
    assert (few in caplog.text) == ("rare" in values)


@pytest.mark.parametrize("cls", [unseen.MFDW, *METHODS])
def test_new_nodes_solve_the_u_step_of_their_rows(cls: type) -> None:
    whole = planted(60, seed=5)
    old = np.arange(60) < 45
    kept = unseen.Graph(whole.adjacency[old][:, old], node_ids=whole.node_ids[old])
    method = cls(n_components=6, random_state=0).fit(kept, some_labels(kept))
    U = method.transform(whole).vectors.astype(float)
    H = method.context_.T.astype(float)
    M = WalkMatrix(Run().matrix(whole.adjacency)).matmat(np.eye(60))
    sym = (M + M.T) / 2
    slope = U @ (H @ H.T + 0.1 * np.eye(6)) - M[:, old] @ H.T
    if cls is not unseen.MFDW:
        slope += (np.diag(sym.sum(axis=1)) - sym) @ U
    np.testing.assert_allclose(slope[~old], 0, atol=1e-4)
    np.testing.assert_array_equal(U[old].astype(np.float32), method.embedding_.vectors)


MEASURE = """
import resource, sys
import numpy as np, scipy.sparse as sp, torch
torch.set_num_threads(1)
import unseen
n = 100_000
rng = np.random.default_rng(0)
if sys.argv[1] == "star":
    more = rng.integers(1, n, (2, n // 2))
    src, dst = np.r_[np.zeros(n - 1, dtype=int), more[0]], np.r_[np.arange(1, n), more[1]]
else:
    weight = np.arange(1, n + 1) ** -0.8
    place = np.cumsum(weight) / weight.sum()
    src, dst = (np.minimum(np.searchsorted(place, rng.random(2 * n)), n - 1) for _ in range(2))
adjacency = sp.csr_array((np.ones(len(src)), (src, dst)), shape=(n, n))
graph = unseen.Graph(sp.csr_array(adjacency.maximum(adjacency.T)))
values = rng.integers(0, 40, n)
rows = np.flatnonzero(values < 4)
indicator = sp.csr_array((np.ones(len(rows), bool), (rows, values[rows])), shape=(n, 4))
labels = unseen.Labels(indicator, "abcd", graph.node_ids)
unseen.RSDNE(n_components=2, max_iter=1, random_state=0).fit(unseen.Graph.from_edges([0], [1]), ["a", "a"])
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for name in ("rsdne", "rsdne-light"):
    method = unseen.make_method(name, n_components=4, max_iter=1, random_state=0).fit(graph, labels)
grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
squared = float((np.diff(graph.adjacency.indptr).astype(float) ** 2).sum())
print(grown / (graph.adjacency.nnz + n), squared / graph.adjacency.nnz)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured as Linux reports it")
@pytest.mark.parametrize("kind", ["star", "power law"])
def test_memory_is_linear_in_the_edges_of_a_graph_with_hubs(kind: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, kind], capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stderr
    bytes_an_edge, entries_of_square = map(float, run.stdout.split())
    assert entries_of_square > 100  # for each edge: Abar^2 would take thousands of bytes where we take
    assert bytes_an_edge < 600


@pytest.mark.parametrize("cls", METHODS)
def test_dense_graphs_get_a_smaller_weight_and_a_warning(cls: type, caplog: pytest.LogCaptureFixture) -> None:
    sparse, dense = planted(), planted(400, inside=0.9, across=0.6)
    common = {"n_components": 8, "max_iter": 5, "random_state": 0}
    assert cls(**common).fit(sparse, some_labels(sparse)).alpha_ == 1
    assert "dense" not in caplog.text
    labels = some_labels(dense, every=4)
    mean_degree = np.diff(dense.adjacency.indptr).mean()
    scaled = cls(**common).fit(dense, labels)
    assert scaled.alpha_ == pytest.approx(1 / mean_degree)
    assert "the graph is dense" in caplog.text
    given = cls(alpha=1, **common).fit(dense, labels)
    assert given.alpha_ == 1
    assert "outweigh the graph" in caplog.text
    truth = np.arange(400) % 3

    def share_of_variance(method: unseen.RSDNE) -> float:
        """Return how much of the variance of the nodes without a label lies between the classes."""
        vectors, codes = (part[np.arange(400) % 4 != 0] for part in (method.embedding_.vectors, truth))
        means = np.array([vectors[codes == code].mean(axis=0) for code in range(3)])
        return float(means[codes].var(axis=0).sum() / vectors.var(axis=0).sum())

    start = unseen.MFDW(**common).fit(dense)
    assert share_of_variance(scaled) > 0.9 * share_of_variance(start)
