"""The embedding value: checked once, read-only, row i belongs to node i."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.errors import InputError
from unseen.ids import as_ids


def test_vectors_are_float32_and_a_copy() -> None:
    source = np.arange(6, dtype=np.float64).reshape(3, 2)
    embedding = unseen.Embedding(source)
    source[0, 0] = 99
    assert embedding.vectors.dtype == np.float32
    assert embedding.vectors.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert embedding.node_ids.tolist() == [0, 1, 2]


def test_everything_is_read_only() -> None:
    embedding = unseen.Embedding([[1.0]], ["a"], "line", {"seed": 1})
    with pytest.raises(ValueError, match="read-only"):
        embedding.vectors[0, 0] = 2
    with pytest.raises(ValueError, match="read-only"):
        embedding.node_ids[0] = "b"
    with pytest.raises(TypeError, match="does not support item assignment"):
        embedding.params["seed"] = 2  # type: ignore[index]
    with pytest.raises(AttributeError, match="cannot assign"):
        embedding.method = "other"  # type: ignore[misc]


def test_params_are_a_copy() -> None:
    params = {"alpha": 1}
    embedding = unseen.Embedding([[1.0]], params=params)
    params["alpha"] = 2
    assert dict(embedding.params) == {"alpha": 1}


def test_sparse_vectors_stay_sparse_and_read_only() -> None:
    embedding = unseen.Embedding(sp.coo_array(np.eye(3)), ["a", "b", "c"])
    assert isinstance(embedding.vectors, sp.csr_array)
    assert embedding.vectors.dtype == np.float32
    with pytest.raises(ValueError, match="read-only"):
        embedding.vectors.data[0] = 2


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_by_id(sparse: bool) -> None:
    matrix: Any = np.diag([1.0, 2.0, 3.0])
    embedding = unseen.Embedding(sp.csr_array(matrix) if sparse else matrix, ["a", "b", "c"])
    rows: Any = embedding.rows(as_ids(["c", "a", "c"]))
    found = rows.toarray() if sparse else rows
    assert found.tolist() == [[0, 0, 3], [1, 0, 0], [0, 0, 3]]


def test_rows_meet_by_string_form() -> None:
    embedding = unseen.Embedding([[1.0], [2.0]], [7, 8])
    assert np.asarray(embedding.rows(as_ids(["8"]))).tolist() == [[2.0]]


def test_rows_that_are_not_there() -> None:
    embedding = unseen.Embedding([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(InputError, match="the embedding has no vector for 2 of 3 nodes, the first is 'x'"):
        embedding.rows(as_ids(["a", "x", "y"]))


@pytest.mark.parametrize(
    ("vectors", "ids", "sentence"),
    [
        ([1.0, 2.0], None, r"`vectors` must have two dimensions, got shape \(2,\)"),
        ([["a"]], None, r"`vectors` must hold real numbers, got dtype <U1"),
        ([["1.5"]], None, r"`vectors` must hold real numbers, got dtype <U3"),
        ([[1j]], None, r"`vectors` must hold real numbers, got dtype complex128"),
        (sp.csr_array([[1j]]), None, r"`vectors` must hold real numbers, got dtype complex128"),
        (None, None, r"`vectors` must have two dimensions, got shape"),
        ([[1.0], [1.0, 2.0]], None, r"`vectors` must be a matrix, its rows have different lengths"),
        ([[1.0]], "a", "node ids must be a list of ids, one per row, got 'a'"),
        ([[np.nan]], None, "`vectors` must be finite and fit into 32-bit floats, found NaN or infinity"),
        ([[1e60]], None, "`vectors` must be finite and fit into 32-bit floats"),
        (
            sp.csr_array([[np.inf]]),
            None,
            "`vectors` must be finite and fit into 32-bit floats, found NaN or infinity",
        ),
        ([[1.0]], ["a", "b"], "`node_ids` has 2 entries but there are 1 vectors"),
        ([[1.0], [2.0]], ["a", "a"], "node ids must be unique, 'a' occurs more than once"),
        ([[1.0], [2.0]], ["a", 1], "node ids must be all strings or all integers, found 1 of type int"),
    ],
)
def test_bad_embeddings(vectors: Any, ids: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        unseen.Embedding(vectors, ids)


@pytest.mark.parametrize("way", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_copies_and_other_processes_get_the_same(way: Any) -> None:
    embedding = unseen.Embedding([[1.0, 2.0]], ["007"], "line", {"random_state": 3})
    other = way(embedding)
    assert other.vectors.tolist() == [[1.0, 2.0]]
    assert other.node_ids.tolist() == ["007"]
    assert (other.method, dict(other.params)) == ("line", {"random_state": 3})
    assert not other.vectors.flags.writeable


def test_params_are_a_mapping() -> None:
    with pytest.raises(InputError, match=r"`params` must be a mapping of names to values, got \['alpha'\]"):
        unseen.Embedding([[1.0]], params=["alpha"])  # type: ignore[arg-type]


def test_repr_names_the_method() -> None:
    assert repr(unseen.Embedding([[1.0, 2.0]], method="line")) == "Embedding(1 nodes, 2 columns, by line)"
    assert repr(unseen.Embedding([[1.0, 2.0]])) == "Embedding(1 nodes, 2 columns)"
