"""Values behave like data: by id, as arrays and frames, in scikit-learn, in a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score, train_test_split

import unseen
from unseen.errors import InputError, UnsupportedError

VECTORS: Any = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.fixture
def embedding() -> unseen.Embedding:
    return unseen.Embedding(VECTORS, ["3", "0", "exim4", "1"], "line", {"random_state": 7})


def test_an_id_is_an_id_and_never_a_row(embedding: unseen.Embedding) -> None:
    assert embedding["exim4"].tolist() == VECTORS[2].tolist()
    assert embedding["0"].tolist() == embedding[0].tolist() == VECTORS[1].tolist()
    assert embedding[["1", "3", "1"]].tolist() == VECTORS[[3, 0, 3]].tolist()
    assert embedding[pd.Series(["1", "3"])].tolist() == VECTORS[[3, 0]].tolist()
    assert embedding[np.array([3, 0])].tolist() == VECTORS[[0, 1]].tolist()
    assert list(embedding) == ["3", "0", "exim4", "1"]
    assert len(embedding) == 4
    assert "exim4" in embedding
    assert 3 in embedding
    assert "2" not in embedding
    assert repr(embedding) == "Embedding(4 nodes, 3 columns, by line)"
    assert repr(unseen.Embedding(VECTORS)) == "Embedding(4 nodes, 3 columns)"


def test_an_unknown_id_is_a_key_error_with_the_nearest(embedding: unseen.Embedding) -> None:
    with pytest.raises(KeyError) as error:
        embedding["exim"]
    assert str(error.value) == "the embedding has no vector for the node 'exim'; the nearest id is 'exim4'"
    with pytest.raises(InputError, match=r"for 1 of 2 nodes, the first is 'mutt'"):
        embedding[["0", "mutt"]]
    with pytest.raises(KeyError, match="the nearest id is 11"):
        unseen.Embedding([[1.0], [2.0]], [2, 11])[9]


@pytest.mark.parametrize("key", [slice(2), (0, 1), ..., True, 0.5])
def test_what_is_no_id_is_refused(embedding: unseen.Embedding, key: Any) -> None:
    with pytest.raises(InputError, match=r"asked for node ids.*`embedding.vectors`"):
        embedding[key]


def test_sparse_vectors_become_dense_up_to_a_gigabyte() -> None:
    embedding = unseen.Embedding(sp.csr_array(VECTORS), list("abcd"))
    assert np.asarray(embedding).tolist() == VECTORS.tolist()
    assert embedding["b"].tolist() == VECTORS[1].tolist()
    assert embedding[["d", "a", "d"]].toarray().tolist() == VECTORS[[3, 0, 3]].tolist()
    large = unseen.Embedding(sp.csr_array((30_000, 10_000), dtype=np.float32))
    for use in (np.asarray, unseen.Embedding.to_arrow, unseen.Embedding.to_pandas):
        with pytest.raises(InputError, match=r"would take 1\.2 GB as an array"):
            use(large)
    with pytest.raises(ValueError, match="copy=False"):
        embedding.__array__(copy=False)


def test_arrays(embedding: unseen.Embedding) -> None:
    assert np.asarray(embedding) is embedding.vectors
    assert np.array(embedding).flags.writeable
    assert np.asarray(embedding, dtype=np.float64).dtype == np.float64
    assert embedding.shape == (4, 3)
    assert np.allclose(np.linalg.norm(embedding, axis=1), np.linalg.norm(VECTORS, axis=1))


def test_frames(embedding: unseen.Embedding, tmp_path: Path) -> None:
    frame = embedding.to_pandas()
    assert frame.index.name == "node"
    assert frame.loc["exim4"].tolist() == VECTORS[2].tolist()
    table = embedding.to_arrow()
    embedding.save(tmp_path / "v.parquet")
    assert pa.parquet.read_table(tmp_path / "v.parquet").equals(table)
    for made in (pl.DataFrame(embedding), embedding.to_polars(), pl.from_arrow(pa.table(embedding))):
        assert made["vector"].to_list() == VECTORS.tolist()
        assert made["node"].to_list() == list(embedding)
    edges = pa.table({"src": ["3", "exim4"], "dst": ["0", "1"]})
    assert unseen.read_graph(edges, features=embedding).features.tolist() == VECTORS.tolist()


def test_missing_libraries_are_named(embedding: unseen.Embedding, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(UnsupportedError, match=r"to_polars needs polars, .*run: pip install polars"):
        embedding.to_polars()


def test_it_is_an_x_of_scikit_learn() -> None:
    """Also where folds are cut: rows are rows there, in whatever order integer ids come."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    matrix = rng.normal(size=(40, 2)) + 9 * y[:, None]
    for form in (np.asarray, sp.csr_array):
        embedding = unseen.Embedding(form(matrix), rng.permutation(40))
        assert len(set(KMeans(2, n_init=1, random_state=0).fit(np.asarray(embedding)).labels_[:20])) == 1
        assert cross_val_score(LogisticRegression(), embedding, y).mean() == 1
        kept, left, _, _ = train_test_split(embedding, y, random_state=0)
        assert kept.shape[0] + left.shape[0] == 40
    fitted = KMeans(2, n_init=1, random_state=0).fit(unseen.Embedding(matrix))
    assert len(set(fitted.labels_[:20])) == 1


def test_labels_are_saved_and_shown_as_a_series(tmp_path: Path) -> None:
    labels = unseen.Labels.from_values(["red", None, "blue"], ["a", "b", "c"])
    for name in ("l.csv", "l.parquet", "l.tsv.gz"):
        labels.save(tmp_path / name)
        graph = unseen.Graph.from_edges(["a", "b"], ["b", "c"])
        back = unseen.read_labels(tmp_path / name, graph)
        assert (back.indicator != labels.indicator).nnz == 0
    assert labels.to_pandas().to_dict() == {"a": "red", "b": None, "c": "blue"}
    several = unseen.Labels.from_values([["x", "y"], "x", None]).to_pandas()
    assert several.tolist() == [["x", "y"], ["x"], None]


def test_every_public_value_has_a_small_html() -> None:
    data = unseen.planted_partition(200, 4, random_state=0)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.5, unseen=["c0"], random_state=0)
    embedding = unseen.SmoothFeats(n_components=4, random_state=0).fit_transform(data.graph)
    directed = unseen.read_graph([("<a>", "b")], directed=True)
    score = unseen.evaluate(embedding, data.labels, split, C=1.0, random_state=0)
    result = unseen.discover(data.graph, split.seen_labels, random_state=0)
    values: list[Any] = [
        data,
        data.graph,
        data.labels,
        split,
        embedding,
        score,
        unseen.ScoreSummary((score, score)),
    ]
    values += [result, result.classes[0], directed, directed.relations[0], unseen.read([("<a>", "b")])]
    values += unseen.suggest(data.graph, split.seen_labels, budget=1, random_state=0)
    values += [
        unseen.clustering_scores(embedding, data.labels, split, random_state=0),
        unseen.Embedding([[1.0]]),
    ]
    for value in values:
        html = value._repr_html_()
        ElementTree.fromstring(html)
        assert len(html) < 25_000
    for value in (data.graph, data.labels, embedding, score):
        assert "<svg" in value._repr_html_()
    assert "&lt;a&gt;" in directed._repr_html_()
    assert len(repr(result.classes)) < 500
