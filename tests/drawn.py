"""Graphs and labels drawn at random, for round trips through files and other libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import settings
from hypothesis import strategies as st

import unseen

ODD = ["a b", "a,b", "a;b", "a\tb", "a\0", " a", "a ", "\ufeffa", "\u2028", "#a", "# a", '"', "|", "ü", "x\r"]
WORDS = ["007", "7", "NaN", "NA", "src", "dst", "from", "to", "node", "label", "-1"]
IDS = st.text(max_size=6) | st.sampled_from([*ODD, *WORDS])
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


@st.composite
def relation_graphs(draw: Callable[..., Any]) -> unseen.Graph:
    """Graphs whose edges have directions, signs and names, between nodes of one type or two, with features or not."""
    n = draw(st.integers(2, 5))
    ids: list[Any] = draw(st.lists(IDS, min_size=n, max_size=n, unique=True))
    types = [*"pq", *draw(st.lists(st.sampled_from("pq"), min_size=n - 2, max_size=n - 2))]
    typed = draw(st.booleans())
    relations = []
    for name in draw(
        st.lists(st.sampled_from(["edge", "likes", "p-q"]), min_size=1, max_size=3, unique=True)
    ):
        source, target = draw(st.sampled_from(["pp", "pq", "qp"])) if typed else (None, None)
        directed = draw(st.booleans())
        matrix = np.zeros((n, n))
        for i in range(n):
            for j in range(n):
                if not typed or (types[i], types[j]) == (source, target):
                    matrix[i, j] = draw(st.sampled_from([0, 1, 1, -1, 2.5]))
        if source == target and not directed:
            matrix = np.triu(matrix)
        if matrix.any():
            relations.append(unseen.Relation(name, source, target, matrix, directed))
    if not relations:
        relations = [
            unseen.Relation("edge", *("pp" if typed else (None, None)), np.diag([1.0, *[0.0] * (n - 1)]))
        ]
    features: Any = None
    if draw(st.booleans()):
        features = np.arange(2.0 * n).reshape(n, 2) + 1
        features = {key: features[np.array(types) == key] for key in "pq"} if typed else features
    return unseen.Graph.from_relations(relations, ids, types if typed else None, features)


def relations_of(graph: unseen.Graph) -> dict[tuple[Any, ...], set[tuple[Any, ...]]]:
    names = [str(value) for value in graph.node_ids]
    found = {}
    for each in graph.relations:
        coo = each.matrix.tocoo()
        entries = {(names[i], names[j], w) for i, j, w in zip(coo.row, coo.col, coo.data, strict=True)}
        found[each.name, each.source_type, each.target_type, each.directed] = entries
    return found


def facts(graph: unseen.Graph) -> tuple[Any, ...]:
    """Return what a graph of relations holds, for a comparison in which the order of nodes does not count."""
    ids = list(map(str, graph.node_ids))
    types = None if graph.node_types is None else dict(zip(ids, graph.node_types.tolist(), strict=True))
    features = {
        key: {ids[row]: values for row, values in zip(graph.rows_of(key), dense(matrix), strict=True)}
        for key, (matrix, _) in graph.stored_features.items()
    }
    return relations_of(graph), types, features, graph.feature_names
