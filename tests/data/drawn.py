"""Graphs and labels drawn at random, for round trips through other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import settings
from hypothesis import strategies as st

import unseen

ROUNDS = settings(max_examples=40, deadline=None, derandomize=True, database=None)
WEIGHT = st.floats(min_value=2.0**-10, max_value=2.0**10, width=32)
NAME = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


@st.composite
def graphs(draw: st.DrawFn) -> unseen.Graph:
    ids: list[Any] = draw(
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8, unique=True)
        | st.lists(NAME, min_size=1, max_size=8, unique=True)
    )
    n = len(ids)
    dense = np.zeros((n, n))
    for i, j, w in draw(
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), WEIGHT), max_size=12)
    ):
        dense[i, j] = dense[j, i] = w
    kind = draw(st.sampled_from(["none", "dense", "sparse"]))
    if kind == "none":
        return unseen.Graph(sp.csr_array(dense), None, ids)  # type: ignore[arg-type]
    m = draw(st.integers(1, 3))
    value = st.floats(-1000, 1000, width=32) if kind == "dense" else st.sampled_from([0.0, 0.0, 1.0, 2.5])
    values = draw(st.lists(value, min_size=n * m, max_size=n * m))
    features = np.array(values, dtype=np.float32).reshape(n, m)
    names = draw(st.none() | st.lists(NAME, min_size=m, max_size=m, unique=True))
    matrix = features if kind == "dense" else sp.csr_array(features)
    return unseen.Graph(sp.csr_array(dense), matrix, ids, names)  # type: ignore[arg-type]


@st.composite
def labelled_graphs(draw: st.DrawFn) -> tuple[unseen.Graph, unseen.Labels]:
    graph = draw(graphs())
    n = graph.n_nodes
    value = (
        st.none()
        | st.sampled_from(["x", "y", "z z"])
        | st.lists(st.sampled_from(["x", "y", "w"]), max_size=3)
    )
    return graph, unseen.Labels.from_values(draw(st.lists(value, min_size=n, max_size=n)), graph.node_ids)


def dense(features: Any) -> Any:
    if features is None:
        return None
    return features.toarray().tolist() if sp.issparse(features) else np.asarray(features).tolist()


def assert_same(a: unseen.Graph, b: unseen.Graph) -> None:
    assert a.node_ids.tolist() == b.node_ids.tolist()
    assert a.node_ids.dtype == b.node_ids.dtype
    assert a.adjacency.toarray().tolist() == b.adjacency.toarray().tolist()
    assert dense(a.features) == dense(b.features)
    assert sp.issparse(a.features) == sp.issparse(b.features)
    assert a.feature_names == b.feature_names


def label_sets(labels: unseen.Labels) -> list[set[str]]:
    return [{labels.classes[k] for k in np.flatnonzero(row)} for row in labels.indicator.toarray()]


TYPES = ["author", "paper", "venue"]


@st.composite
def relation_graphs(draw: Any) -> unseen.Graph:
    n = draw(st.integers(3, 8))
    types = [*TYPES, *(draw(st.sampled_from(TYPES)) for _ in range(n - 3))]
    types = draw(st.permutations(types))
    relations = []
    for k in range(draw(st.integers(1, 3))):
        source, target = draw(st.sampled_from(TYPES)), draw(st.sampled_from(TYPES))
        matrix = np.zeros((n, n))
        for _ in range(draw(st.integers(1, 4))):
            i = draw(st.sampled_from([i for i in range(n) if types[i] == source]))
            j = draw(st.sampled_from([i for i in range(n) if types[i] == target]))
            matrix[i, j] = matrix[i, j] or draw(st.sampled_from([-2.0, 1.0, 3.0]))
            if source == target and matrix[j, i] == -matrix[i, j]:
                matrix[j, i] = matrix[i, j]
        relations.append(unseen.Relation(f"r{k}", source, target, matrix, draw(st.booleans())))  # type: ignore[arg-type]
    count = types.count("paper")
    features = {"paper": np.arange(2.0 * count).reshape(count, 2)} if draw(st.booleans()) else None
    names = {"paper": ["x", "y"]} if features and draw(st.booleans()) else None
    ids = draw(st.permutations(range(n))) if draw(st.booleans()) else [f"n{k}" for k in range(n)]
    return unseen.Graph.from_relations(relations, ids, types, features, names)


def facts(graph: unseen.Graph) -> dict[str, Any]:
    ids = graph.node_ids.tolist()
    relations = {}
    for r in graph.relations:
        coo = r.matrix.tocoo()
        entries = {(ids[i], ids[j]): w for i, j, w in zip(coo.row, coo.col, coo.data, strict=True)}
        relations[r.name, r.source_type, r.target_type, r.directed] = entries
    types = dict(zip(ids, graph.node_types.tolist(), strict=True)) if graph.node_types is not None else None
    papers = None if types is None else graph.features_of("paper")
    rows = [node for node in ids if types and types[node] == "paper"]
    features = None if papers is None else dict(zip(rows, np.asarray(papers).tolist(), strict=True))
    return {"relations": relations, "types": types, "features": features, "names": graph.feature_names}
