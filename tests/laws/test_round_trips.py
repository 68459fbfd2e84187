"""Whatever is written is read back the same, or refused before anything is written: in every format of FORMATS."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from drawn import IDS, ODD, WORDS, relation_graphs, relations_of
from reading import dense, edges_of, labels_of, read_features
from unseen.data.sources import FORMATS
from unseen.data.write import write_graph, write_part
from unseen.errors import UnsupportedError

ROUNDS = settings(max_examples=15, deadline=None)
NUMBERS = st.integers(-(2**63), 2**63 - 1)


def targets(role: str) -> list[str]:
    """Return a file name for each suffix that `role` is written with, packed too where that is text."""
    names = [
        suffix if not suffix.startswith(".") else f"x{suffix}"
        for format_ in FORMATS
        if role in format_.writers
        for suffix in format_.suffixes
        if suffix
    ]
    return names + [f"{name}.gz" for name in names if name in ("x.csv", "x.txt", "x.w2v.txt")]


def written(write: Callable[[Path], Any], folder: str, name: str) -> Path | None:
    """Return the file, or None where the format refused; then nothing may be there."""
    path = Path(folder) / name
    try:
        write(path)
    except UnsupportedError:
        assert not list(Path(folder).iterdir())
        return None
    return path


@st.composite
def graphs(draw: Callable[..., Any]) -> unseen.Graph:
    several = {"min_size": 1, "max_size": 6, "unique": True}
    ids: list[Any] = draw(st.lists(IDS, **several) | st.lists(NUMBERS, **several))
    matrix = np.zeros((len(ids), len(ids)))
    for i in range(len(ids)):
        for j in range(i, len(ids)):
            matrix[i, j] = matrix[j, i] = draw(st.sampled_from([0, 0, 1, 1]) | st.floats(0, 1e300))
    return unseen.Graph(sp.csr_array(matrix), None, ids)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*targets("edges"), "folder"])
@ROUNDS
@given(data=st.data())
def test_any_graph(name: str, data: st.DataObject) -> None:
    graph = data.draw(graphs())
    with tempfile.TemporaryDirectory() as folder:
        path = written(lambda target: write_graph(graph, target), folder, name)
        if path is None:
            return
        nodes = next(Path(folder).glob("x.nodes.*"), None)
        back = unseen.read_graph(path, nodes=nodes)
        assert sorted(map(str, back.node_ids)) == sorted(map(str, graph.node_ids))
        assert edges_of(back) == edges_of(graph)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*targets("edges"), "folder"])
@ROUNDS
@given(data=st.data())
def test_any_graph_of_relations(name: str, data: st.DataObject) -> None:
    graph = data.draw(relation_graphs())
    with tempfile.TemporaryDirectory() as folder:
        path = written(lambda target: write_graph(graph, target), folder, name)
        if path is None:
            return
        beside = sorted(file.name for file in Path(folder).iterdir())
        nodes = next((Path(folder) / file for file in beside if file.startswith("x.nodes.")), None)
        if nodes is None and graph.node_types is not None:
            nodes = path  # a network lists its nodes
        features: Any = [Path(folder) / file for file in beside if file.startswith("x.features.")]
        if name == "folder":
            features = list(path.glob("features.npz"))
        if graph.node_types is not None:
            features = {file.name.split(".")[2]: file for file in features}
        else:
            features = next(iter(features), None)
        back = unseen.read_graph(path, nodes=nodes, features=features or None)
        assert relations_of(back) == relations_of(graph)
        assert sorted(map(str, back.node_ids)) == sorted(map(str, graph.node_ids))
        if graph.node_types is not None:
            kinds = dict(zip(map(str, graph.node_ids), graph.node_types, strict=True))
            assert dict(zip(map(str, back.node_ids), back.node_types, strict=True)) == kinds
        order = [list(map(str, back.node_ids)).index(str(node)) for node in graph.node_ids]
        if graph.stored_features:
            np.testing.assert_array_equal(dense(back.features)[order], dense(graph.features))


@pytest.mark.slow
@pytest.mark.parametrize("name", targets("labels"))
@ROUNDS
@given(data=st.data())
def test_any_labels(name: str, data: st.DataObject) -> None:
    classes = st.text(max_size=4) | st.sampled_from([*ODD, *WORDS])
    values = data.draw(st.lists(st.lists(classes, max_size=3), min_size=1, max_size=5))
    ids = data.draw(st.lists(IDS, min_size=len(values), max_size=len(values), unique=True))
    labels = unseen.Labels.from_values(values, ids)
    graph = unseen.Graph(sp.csr_array((len(ids), len(ids))), None, ids)
    with tempfile.TemporaryDirectory() as folder:
        path = written(lambda target: write_part(labels, "labels", target), folder, name)
        if path is not None:
            assert labels_of(unseen.read_labels(path, graph)) == labels_of(labels)


@pytest.mark.slow
@pytest.mark.parametrize("name", targets("features"))
@ROUNDS
@given(data=st.data())
def test_any_features(name: str, data: st.DataObject) -> None:
    n, width = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    numbers = st.sampled_from([0.0, 1.0, 0.1]) | st.floats(allow_nan=False, allow_infinity=False)
    matrix = np.array(data.draw(st.lists(numbers, min_size=n * width, max_size=n * width))).reshape(n, width)
    ids: Any = list(range(n))
    if data.draw(st.booleans()):
        ids = data.draw(st.lists(IDS, min_size=n, max_size=n, unique=True))
    names = data.draw(st.none() | st.lists(IDS, min_size=width, max_size=width))
    values = sp.csr_array(matrix) if data.draw(st.booleans()) else matrix
    graph = unseen.Graph(sp.csr_array((n, n)), values, ids, names)
    with tempfile.TemporaryDirectory() as folder:
        path = written(lambda target: write_part(graph, "features", target), folder, name)
        if path is None:
            return
        back_ids, back, back_names = read_features(path)
        np.testing.assert_array_equal(dense(back), matrix)
        rows = range(n) if back_ids is None else back_ids  # Matrix Market numbers its rows, and nothing else
        assert [str(value) for value in rows] == [str(value) for value in ids]
        expected = graph.feature_names
        if names is None and not name.endswith(
            (".parquet", ".pq", ".npz", ".mtx", ".feather", ".arrow", ".ipc")
        ):
            expected = tuple(f"feature_{k}" for k in range(width))
        assert back_names == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", targets("vectors"))
@ROUNDS
@given(data=st.data())
def test_any_vectors(name: str, data: st.DataObject) -> None:
    several = {"min_size": 1, "max_size": 6, "unique": True}
    ids = data.draw(st.lists(IDS, **several) | st.lists(NUMBERS, **several))  # type: ignore[arg-type]
    floats = st.floats(width=32, allow_nan=False, allow_infinity=False)
    width = data.draw(st.integers(1, 4))
    rows = st.lists(floats, min_size=width, max_size=width)
    embedding = unseen.Embedding(data.draw(st.lists(rows, min_size=len(ids), max_size=len(ids))), ids)
    with tempfile.TemporaryDirectory() as folder:
        path = written(lambda target: write_part(embedding, "vectors", target), folder, name)
        if path is None:
            return
        back = unseen.read_embedding(path)
        np.testing.assert_array_equal(back.vectors, embedding.vectors)
        assert [str(node) for node in back.node_ids] == [str(node) for node in embedding.node_ids]
