"""Methods on the parts of a graph give the vectors of one process, whatever the number of parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.data.write import write_part
from unseen.engine.comm import Comm
from unseen.engine.partition import partition
from unseen.engine.parts import load_parts
from unseen.engine.run import Run
from unseen.engine.sparse import GraphPart, Matrix
from unseen.engine.steps import Checkpoints
from unseen.errors import UnsupportedError
from unseen.linalg import reduction
from unseen.linalg.walk import WalkMatrix
from unseen.methods import views

from .conftest import on_ranks

rng = np.random.default_rng(1)


@pytest.fixture(scope="module")
def planted() -> unseen.Dataset:
    return unseen.planted_partition(700, 3, random_state=0)


def _write(data: unseen.Dataset, folder: Path, parts: int, *, features: str | None = None) -> Path:
    """Partition a data set, its nodes in their order."""
    n, rng = data.graph.n_nodes, np.random.default_rng(0)
    X: Any = {
        "sparse": lambda: sp.csr_array(sp.random_array((n, 400), density=0.05, rng=rng)),
        "dense": lambda: rng.standard_normal((n, 20)).astype(np.float32),
    }.get(str(features), lambda: None)()
    graph = unseen.Graph(data.graph.adjacency, X, [f"n{k}" for k in range(n)])
    values = [None if k % 3 else str(code) for k, code in enumerate(data.labels.codes)]
    sources: dict[str, Path] = {"nodes": folder / "nodes.parquet", "labels": folder / "labels.parquet"}
    if features:
        sources["features"] = folder / ("x.npz" if features == "sparse" else "x.parquet")
    write_part(graph, "edges", folder / "edges.parquet")
    for role, path in sources.items():
        value = unseen.Labels.from_values(values, graph.node_ids) if role == "labels" else graph
        write_part(value, role, path)  # type: ignore[arg-type]
    partition(folder / "edges.parquet", folder / f"parts-{parts}", parts=parts, **sources)  # type: ignore[arg-type]
    return folder / f"parts-{parts}"


def _on_parts(folder: Path, size: int, work: Callable[[Any, Any], Any]) -> list[Any]:
    def run(comm: Comm) -> Any:
        graph, labels, _ = load_parts(folder, comm)
        return work(graph, labels)

    return on_ranks(size, run)


def _whole(folder: Path) -> tuple[unseen.Graph, unseen.Labels]:
    return _on_parts(folder, 1, lambda graph, labels: (graph, labels))[0]


def differences(found: np.ndarray, expected: np.ndarray) -> tuple[float, float]:
    """Return the relative Frobenius difference and the largest one of an entry."""
    gap = found.astype(np.float64) - expected
    return float(np.linalg.norm(gap) / np.linalg.norm(expected)), float(np.abs(gap).max())


def _fit_both(folder: Path, name: str, **params: Any) -> tuple[Any, list[Any]]:
    """Return a method fitted on the whole graph and on its parts, whose vectors are compared."""

    def fit(graph: Any, labels: Any) -> Any:
        return unseen.make_method(name, **params, random_state=0).fit(graph, labels)

    whole, parts = fit(*_whole(folder)), _on_parts(folder, 3, fit)
    ids = np.concatenate([part.embedding_.node_ids for part in parts])
    assert ids.tolist() == whole.embedding_.node_ids.tolist()
    found = np.concatenate([part.embedding_.vectors for part in parts])
    relative, largest = differences(found, whole.embedding_.vectors)
    assert relative <= 1e-4
    assert largest <= 1e-3
    return whole, parts


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3])
def test_products_of_parts_are_those_of_the_whole(planted: unseen.Dataset, tmp_path: Path, size: int) -> None:
    folder = _write(planted, tmp_path, 5)
    A = _whole(folder)[0].adjacency
    V = rng.standard_normal((A.shape[0], 70)).astype(np.float32)

    def normalized(A: Matrix) -> list[Matrix]:
        return [A.gcn_normalized(), A.row_normalized(), A.column_normalized()]

    def work(graph: GraphPart, _: Any) -> Any:
        with Run().for_graph(graph, 0) as run:
            part = run.matrix(graph.adjacency)
            own = slice(part.layout.first, part.layout.first + part.layout.n_rows)
            products = [A @ V[own] for A in normalized(part)]
            walk = WalkMatrix(part)
            back = part.collect_rows(part.extend_rows(V[own]))
            counts = part.collect_rows(part.extend_rows(np.ones((part.layout.n_rows, 1))))
            other = Matrix(part.local, run, part.halo)  # whose transpose is not known to be itself
            return [
                *products,
                walk.symmetric(V[own]),
                back / counts,
                other.T @ V[own],
            ], walk.frobenius_squared()

    results = _on_parts(folder, size, work)
    whole = Run().matrix(A, symmetric=True)
    for k, wanted in enumerate(normalized(whole)):
        assert np.array_equal(np.concatenate([rows[k] for rows, _ in results]), wanted @ V)  # the same bits
    walk = WalkMatrix(whole)
    for k, expected in ((3, walk.symmetric(V)), (4, V), (5, A @ V)):
        assert np.allclose(np.concatenate([rows[k] for rows, _ in results]), expected, atol=1e-5)
    assert [norm for _, norm in results] == pytest.approx([walk.frobenius_squared()] * size, rel=1e-12)


CASES = [
    ("rect-n", {"epochs": 30}, "sparse"),
    ("rect-n", {"features": "identity"}, None),
    ("rect-n", {"hidden": (16,), "epochs": 20}, "dense"),
    ("rect-l", {}, "dense"),
    ("rect-l", {"svd_components": 30, "input": "raw", "readout": "median", "epochs": 20}, "sparse"),
    ("rect-l", {"svd_components": 10, "features": "identity"}, None),
    ("rect", {"svd_components": 30}, "sparse"),
    ("mfdw", {"init": "uniform", "solver": "gradient"}, None),
    ("rsdne-light", {"n_candidates": 20}, None),
    ("rsdne-light", {"intra": "random", "inter": False}, None),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "params", "features"), CASES)
def test_parts_train_to_the_vectors_of_the_whole(
    planted: unseen.Dataset, tmp_path: Path, name: str, params: dict[str, Any], features: str | None
) -> None:
    _, parts = _fit_both(_write(planted, tmp_path, 3, features=features), name, n_components=24, **params)
    assert parts[0].loss_history_ == parts[1].loss_history_


@pytest.mark.parametrize("features", [None, "sparse", "dense"])
@pytest.mark.parametrize("name", ["smoothfeats", "rect-plus", "rect-plus on a large graph"])
def test_methods_without_training_give_the_vectors_of_the_whole(
    planted: unseen.Dataset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    features: str | None,
) -> None:
    folder = _write(planted, tmp_path, 3, features=features)
    if name == "rect-plus on a large graph":
        monkeypatch.setattr(views, "LARGE", 300)
        monkeypatch.setattr(reduction, "STREAMED_ROWS", 300)
    whole, parts = _fit_both(folder, name.split()[0], n_components=20)
    for part in parts if name != "smoothfeats" else ():
        assert part.views_ == whole.views_
        assert part.view_scores_ == pytest.approx(whole.view_scores_)


def test_what_needs_all_nodes_in_one_place_is_refused(planted: unseen.Dataset, tmp_path: Path) -> None:
    folder = _write(planted, tmp_path, 2)
    with pytest.raises(UnsupportedError, match="use rsdne-light, or one process"):
        _on_parts(folder, 2, lambda graph, labels: unseen.RSDNE(n_components=4).fit(graph, labels))


@pytest.mark.slow
def test_a_factorisation_goes_on_from_a_checkpoint(planted: unseen.Dataset, tmp_path: Path) -> None:
    folder = _write(planted, tmp_path, 2)

    def fit(rounds: int, every: int) -> np.ndarray:
        def work(comm: Comm) -> Any:
            graph, labels, _ = load_parts(folder, comm)
            run = Run(keeper=Checkpoints(tmp_path / "kept", comm, "job", every))
            method = unseen.RSDNELight(n_components=8, max_iter=rounds, tol=0.0, random_state=0)
            return method._fit_run(graph, labels, run).embedding_.vectors

        return np.concatenate(on_ranks(2, work))

    whole = fit(4, 0)
    assert not np.array_equal(fit(2, 1), whole)
    assert np.array_equal(fit(4, 1), whole)  # the same bits, two rounds of which came from disk
    assert sorted(p.name for p in (tmp_path / "kept" / "job").iterdir()) == ["rsdne-light-000004"]
