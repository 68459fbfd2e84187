"""Values are checked once and read-only afterwards, also in copies and other processes; bad input gets a sentence."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen import Embedding, Graph, InputError, Labels, Relation, Split
from unseen.ids import as_ids, require_unique

PAIR = np.array([[0.0, 1.0], [1.0, 0.0]])
LABELS = Labels(np.eye(2, dtype=bool), ("x", "y"), ["007", "b"], {"007": "confirmed"})
RELATION = Relation("wrote", "author", "paper", np.triu(PAIR))
VALUES = [
    Graph(PAIR, np.eye(2), ["007", "b"], ("x", "y"), ["one", None]),
    Graph(PAIR, sp.csr_array(np.eye(2))),
    Graph.from_relations([RELATION], ["a", "b"], ["author", "paper"], {"paper": [[1.0, 2.0]]}),
    LABELS,
    Split([0], [1], ("y",), LABELS, 3),
    Embedding(np.eye(2), ["007", "b"], "line", {"random_state": 3}),
    Embedding(sp.coo_array(np.eye(2))),
]


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    """Yield all arrays that a value holds, in a fixed order."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, sp.csr_array):
        yield from (value.data, value.indices, value.indptr)
    elif hasattr(value, "items"):
        for part in value.values():
            yield from arrays_in(part)
    elif isinstance(value, tuple):
        for part in value:
            yield from arrays_in(part)
    elif type(value).__module__.startswith("unseen"):
        for name in sorted(vars(value)):
            yield from arrays_in(vars(value)[name])


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize(
    "way", [lambda value: value, copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]
)
def test_values_and_their_copies_are_read_only(value: Any, way: Callable[[Any], Any]) -> None:
    other = way(value)
    pairs = list(zip(arrays_in(value), arrays_in(other), strict=True))
    assert pairs
    assert all(ours.tolist() == theirs.tolist() and not theirs.flags.writeable for ours, theirs in pairs)
    assert repr(other) == repr(value)
    with pytest.raises(dataclasses.FrozenInstanceError):
        other.node_ids = None
    if other is not value:
        assert other != value or hash(other) == hash(value)


def test_mappings_of_values_are_read_only_copies() -> None:
    params, answers = {"alpha": 1}, {0: "confirmed"}
    embedding, labels = Embedding([[1.0]], params=params), Labels([[True]], ("x",), [0], answers)
    params["alpha"], answers[0] = 2, "skipped"
    for mapping, wanted in ((embedding.params, {"alpha": 1}), (labels.answers, {0: "confirmed"})):
        assert mapping == wanted
        with pytest.raises(TypeError):
            mapping["x"] = "skipped"


def test_input_is_neither_shared_nor_locked() -> None:
    for form in (np.array, sp.csr_array):
        adjacency, features, vectors = form(PAIR), form(np.eye(2, dtype=np.float32)), form(np.eye(2))
        ids, indicator = np.array(["a", "b"], dtype=object), form(np.eye(2, dtype=bool))
        graph, embedding = Graph(adjacency, features, ids), Embedding(vectors, ids)
        labels = Labels(indicator, ("x", "y"), ids)
        for own in (adjacency, features, vectors, indicator):
            (own if form is np.array else own.data)[:] = 0
        ids[0] = "c"
        assert graph.adjacency.toarray().tolist() == PAIR.tolist()
        for matrix in (graph.features, embedding.vectors, labels.indicator):
            assert sp.csr_array(matrix).toarray().tolist() == np.eye(2).tolist()
        assert graph.node_ids[0] == embedding.node_ids[0] == labels.node_ids[0] == "a"


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("dtype", "kept"), [(np.float32, "f4"), (float, "f8"), (np.int64, "f8"), (bool, "f4"), (np.int8, "f4")]
)
def test_features_keep_all_digits_and_vectors_are_float32(form: Any, dtype: Any, kept: str) -> None:
    matrix = form(np.eye(2, dtype=dtype))
    features, vectors = Graph(PAIR, matrix).features, Embedding(matrix).vectors
    assert (features.dtype, vectors.dtype) == (kept, np.float32)
    assert sp.issparse(features) == sp.issparse(vectors) == sp.issparse(matrix)


def test_vectors_that_are_locked_already_are_not_copied() -> None:
    vectors = np.ones((2, 2), dtype=np.float32)
    vectors.setflags(write=False)
    assert Embedding(vectors).vectors is vectors
    assert Embedding(vectors.T[:1]).vectors.flags.c_contiguous


LETTERS = Labels.from_values([*"aaaabbbbcccc"])


def from_relations(**changes: Any) -> Graph:
    parts = {"node_ids": ["a", "b"], "node_types": ["author", "paper"], "relations": [RELATION], **changes}
    return Graph.from_relations(**parts)


def split(**changes: Any) -> Split:
    arguments = {"labels": LETTERS, "label_rate": 0.5, "unseen": ["c"], **changes}
    return unseen.completely_imbalanced_split(**arguments)


TURNED = Relation("x", "author", "paper", np.tril(PAIR), directed=True)
LOOPS, LARGE = Relation("x", "author", "paper", np.eye(2)), Relation("x", "author", "author", np.eye(3))
STORED_ZERO = sp.coo_array(([1.0, 0.0], ([0, 1], [1, 2])), shape=(3, 3))
REFUSED: list[tuple[Callable[..., Any], Any, str]] = [
    (as_ids, ["a", 1], r"^node ids must be all strings or all integers, found 1 of type int"),
    (as_ids, [True, False], r"found True of type bool"),
    (as_ids, [(1, 2), (3, 4)], r"found \(1, 2\) of type tuple"),
    (as_ids, np.zeros((2, 2), dtype=int), r"must be one-dimensional, got an array of shape \(2, 2\)"),
    (as_ids, "abc", r"must be a list of ids, one per row, got 'abc'"),
    (as_ids, [2**63], r"do not fit into 64-bit integers; pass them as strings"),
    (lambda ids: require_unique(as_ids(ids)), [3, 1, 3], "must be unique, 3 occurs more than once"),
    (lambda ids: require_unique(as_ids(ids)), [*"bab"], "must be unique, 'b' occurs more than once"),
    (Graph, {"adjacency": np.ones((2, 3))}, r"must be square, got shape \(2, 3\)"),
    (Graph, {"adjacency": "edges.csv"}, "must be a matrix of real numbers, got str"),
    (Graph, {"adjacency": PAIR * 1j}, "must hold real numbers, got dtype complex128"),
    (Graph, {"adjacency": [[np.nan]]}, "row 0, column 0: the weight is nan; edge weights must be finite"),
    (Graph, {"adjacency": -PAIR}, "row 0, column 1: the weight is -1; negative weights .*--drop-negative"),
    (Graph, {"adjacency": np.triu(PAIR)}, r"must be symmetric; Graph\.from_scipy makes a directed one so"),
    (Graph, {"relations": [RELATION]}, "an adjacency, or `relations` with the `node_types`, not parts"),
    (Graph, {"node_types": ["author", "paper"]}, "not parts of both; see Graph.from_relations"),
    (Graph, {"features": np.ones(2)}, r"`features` must have two dimensions, got shape \(2,\)"),
    (Graph, {"features": np.ones((3, 1))}, "`features` has 3 rows but the graph has 2 nodes"),
    (Graph, {"features": [[1.0], [1.0, 2.0]]}, "`features` must be a matrix, its rows have different"),
    (Graph, {"features": [[1.0], [np.inf]]}, "`features` must be finite, found NaN or infinity"),
    (Graph, {"features": sp.csr_array([[1.0], [np.nan]])}, "`features` must be finite"),
    (Graph, {"features": np.ones((2, 0))}, "`features` has no columns; pass features=None"),
    (Graph, {"features": [["a"], ["b"]]}, "`features` must hold real numbers, got dtype <U1"),
    (Graph, {"node_ids": ["a"]}, "`node_ids` has 1 entries but the adjacency has 2 rows"),
    (Graph, {"node_ids": ["a", "a"]}, "node ids must be unique, 'a' occurs more than once"),
    (Graph, {"features": np.eye(2), "feature_names": ["x"]}, "`feature_names` has 1 entries but there are 2"),
    (Graph, {"feature_names": ["x"]}, "`feature_names` has 1 entries but there are 0 feature columns"),
    (Graph, {"texts": ["one"]}, "`texts` has 1 entries but the graph has 2 nodes"),
    (Graph, {"texts": [1, 2]}, "1, which is not a text"),
    (Graph.from_edges, ([1], [2, 3]), "`src` has 1 entries and `dst` has 2; an edge needs both"),
    (Graph.from_edges, ([1], [2], ["x"]), "edge weights must be numbers"),
    (Graph.from_edges, ([1], [2], [np.nan]), r"edge 1 \(1 - 2\): the weight is nan; edge weights must"),
    (Graph.from_edges, ([1, 1], [2, 3], [1, -2]), r"edge 2 \(1 - 3\): the weight is -2"),
    (Graph.from_edges, ([1], [2], [[1.0]]), r"`weight` has shape \(1, 1\) but there is 1 edge"),
    (Graph.from_edges, (["\ud800"], ["a"]), r"`src` holds '\\ud800', which is not valid Unicode text"),
    (Graph.from_edges, ([None], ["a"]), "src must be all strings or all integers, found None"),
    (Graph.from_edges, {"src": [1], "dst": [2], "symmetrize": "mean"}, "`symmetrize` must be 'max'"),
    (Relation, ("", None, None, EYE := np.eye(2)), "the name of a relation must be a text, got ''"),
    (Relation, ("x", "a", None, EYE), "'x' leads from 'a' to None; give both types"),
    (Relation, ("x", None, None, np.ones((2, 3))), "the matrix of relation 'x' must be square"),
    (Relation, ("x", None, None, [[0, np.inf], [0, 0]]), "'x', row 0, column 1: the weight is inf"),
    (Relation, ("r", None, None, STORED_ZERO), "row 1, column 2: the weight is 0; leave such"),
    (from_relations, {"relations": []}, "must be a list of unseen.Relation, at least one, got nothing"),
    (from_relations, {"relations": [EYE]}, "must be a list of unseen.Relation, at least one, got ndarray"),
    (from_relations, {"relations": [RELATION, LARGE]}, "'x' has 3 rows, that of 'wrote' has 2; every"),
    (from_relations, {"relations": [RELATION, RELATION]}, "'wrote' is given twice for the same types"),
    (from_relations, {"relations": [Relation("x", "auhtor", "paper", 0 * PAIR)]}, "did you mean 'author'"),
    (from_relations, {"relations": [Relation("x", None, None, 0 * PAIR)]}, "the nodes have: author, paper"),
    (from_relations, {"relations": [LOOPS]}, "row 0, column 0: .* but here from 'author' to 'author'"),
    (from_relations, {"relations": [TURNED]}, "row 1, column 0: .* but here from 'paper' to 'author'"),
    (from_relations, {"node_types": None}, "name the types 'author', 'paper'; give `node_types`"),
    (from_relations, {"node_types": ["author"]}, "`node_types` has 1 entries but the graph has 2 nodes"),
    (from_relations, {"node_types": ["author", None]}, "holds None for row 1; a type must be a text"),
    (from_relations, {"node_ids": ["a"]}, "`node_ids` has 1 entries but the relations have 2 rows"),
    (from_relations, {"features": {"auhtor": [[1.0]]}}, "unknown node type 'auhtor'"),
    (from_relations, {"features": {"author": EYE}}, "has 2 rows but the graph has 1 nodes of type 'author'"),
    (from_relations, {"features": EYE}, "must be a mapping from types to values, as there are 2 types"),
    (VALUES[2].view, (True,), "`need` must be an unseen.Need, got bool"),
    (VALUES[2].features_of, ("term",), "unknown node type 'term'"),
    (VALUES[2].rows_of, ("term",), "unknown node type 'term'"),
    (VALUES[0].features_of, ("author",), r"the nodes have no types, .*'author'; take graph\.features"),
    (VALUES[0].subgraph, ([0, 0],), "must be unique, '007' occurs more than once"),
    (Labels, ("red", ("a",)), r"`indicator` must be a matrix .* got str; Labels\.from_values"),
    (Labels, (np.ones(2), IDS := ("a", "b")), "`indicator` must have two dimensions, nodes and classes"),
    (Labels, (EYE, None), "`classes` must be a list of class names, one per column, got None"),
    (Labels, (EYE, ("a",)), "`indicator` has 2 columns but there are 1 class names"),
    (Labels, (EYE, ("a", "a")), "class names must be unique, 'a' occurs more than once"),
    (Labels, (EYE, IDS, ["x"]), "`node_ids` has 1 entries but the indicator has 2 rows"),
    (Labels, (EYE, IDS, ["x", "y"], {"x": "y"}), "the answer about node 'x' is 'y'; it must be one of"),
    (Labels.from_values, ({"a": "x"},), "labels in a mapping need `node_ids`"),
    (Labels.from_values, ({"a": "x", "z": "y"}, IDS), "a label for 'z', which is not among the 2 node ids"),
    (Labels.from_values, (["x"], IDS), "`values` has 1 entry but there are 2 node ids"),
    (Labels.from_values, ("xyx",), "`values` must have one entry per node, got 'xyx'"),
    (Labels.from_values, {"values": ["mial"], "classes": ["mail"]}, r"'mial'; did you mean 'mail'\?"),
    (LETTERS.class_numbers, (["d"],), "unknown class 'd'"),
    (LETTERS.class_numbers, ("a",), r"expected a list of class names, got 'a'; write \['a'\]"),
    (lambda labels: labels.codes, Labels.from_values([[*"ab"]]), "some nodes have several labels"),
    (Split, ("ab", [1], (), LETTERS), "`train` must be a list of row numbers, got 'ab'"),
    (Split, ([0], [[1], [2, 3]], (), LETTERS), "`test` must be a list of row numbers, got"),
    (Split, ([0], [1.5], (), LETTERS), r"`test` must be a list of row numbers, got \[1\.5\]"),
    (Split, ([0], [1], "mail", LETTERS), "`unseen` must be a list of class names, got 'mail'"),
    (Split, ([0], [1], (), ["a"]), r"`seen_labels` must be unseen\.Labels, got list"),
    (split, {"labels": [1, 2]}, r"`labels` must be unseen\.Labels, got list; see Labels\.from_values"),
    (split, {"labels": Labels.from_values([None]), "unseen": ()}, "there are no labels to split; label"),
    (split, {"labels": Labels.from_values([None]), "unseen": 1}, "there are no labels to split"),
    (split, {"labels": Labels.from_values([*"ab"])}, "every class has one labelled node"),
    *((split, {"label_rate": rate}, "between 0 and 1, both excluded") for rate in (0, 1, -0.5, "a", np.nan)),
    *((split, {"unseen": each}, "class names, or how many to draw, got") for each in (True, 1.0, "a")),
    (split, {"unseen": [*"abc"]}, "all 3 classes are unseen; leave at least one"),
    (split, {"unseen": ["d"]}, "unknown class 'd'"),
    (split, {"unseen": 3}, "cannot hide 3 of 3 classes; hide at least 0 and at most 2"),
    *((split, {"random_state": each}, "`random_state` must be None, an integer") for each in (-1, True, 0.5)),
    (unseen.unseen_sets, (LETTERS, -1), "cannot hide -1 of 3 classes"),
    (unseen.unseen_sets, (LETTERS, True), "`size` must be an integer, got"),
    (unseen.random_unseen_sets, (LETTERS, 1, -1), "`n_sets` must be an integer of at least 0, got"),
    (Embedding, ([1.0, 2.0],), r"`vectors` must have two dimensions, got shape \(2,\)"),
    (Embedding, ([["1.5"]],), "`vectors` must hold real numbers, got dtype <U3"),
    (Embedding, (sp.csr_array([[1j]]),), "`vectors` must hold real numbers, got dtype complex128"),
    (Embedding, ([[1.0], [1.0, 2.0]],), "`vectors` must be a matrix, its rows have different lengths"),
    (Embedding, ([[1e60]],), "`vectors` must be finite and fit into 32-bit floats, found NaN or infinity"),
    (Embedding, (sp.csr_array([[np.inf]]),), "`vectors` must be finite and fit into 32-bit floats"),
    (Embedding, ([[1.0]], IDS), "`node_ids` has 2 entries but there are 1 vectors"),
    (Embedding, {"vectors": [[1.0]], "params": ["alpha"]}, "`params` must be a mapping of names to values"),
]


@pytest.mark.parametrize(("make", "arguments", "match"), REFUSED)
def test_bad_input_gets_a_sentence(make: Callable[..., Any], arguments: Any, match: str) -> None:
    values, names = (arguments, {}) if isinstance(arguments, tuple) else ((arguments,), {})
    if isinstance(arguments, dict):
        values, names = (), {"adjacency": PAIR, **arguments} if make is Graph else arguments
    with pytest.raises(InputError, match=match):
        make(*values, **names)
