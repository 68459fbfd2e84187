"""Data sets by name: folders in the authors' format, and everything that can go wrong in them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from unseen.data.datasets import dataset_counts
from unseen.data.write import write_graph
from unseen_paper.data.folders import Counts, read_folder


@pytest.fixture
def folder(tmp_path) -> Path:
    """A graph of four nodes in the authors' format."""
    place = tmp_path / "data" / "small"
    place.mkdir(parents=True)
    (place / "graph.txt").write_text("0 1\n2 2\n1 3\n")
    (place / "group.txt").write_text("0 0 1\n1 1\n2 0\n")
    return place


COUNTS = Counts(nodes=4, edges=3, classes=2, features=0)


def test_class_names_of_the_folder_are_used(folder):
    (folder / "meta.json").write_text('{"class_names": ["kinase", "ligase"]}')
    assert read_folder(folder, COUNTS).labels.classes == ("kinase", "ligase")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("graph.txt", "0 1\n2\n", r"graph\.txt', line 2 has 1 column but the first line has 2"),
        ("graph.txt", "0 1\n\n1 2 3\n", r"graph\.txt', line 3 has 3 columns"),
        ("graph.txt", "0 -1\n1 2\n2 3\n", "has 5 nodes in place of 4"),
        ("graph.txt", "0 1\n2 99999999999999999999\n", "2 edges in place of 3"),
        ("graph.txt", "", r"graph\.txt' is empty"),
        ("graph.txt", "0 1\n2 2\n1 999999999999\n", "has 1000000000000 nodes in place of 4"),
        ("group.txt", "0 red\n", "has 1 classes in place of 2"),
        ("group.txt", "\n", r"group\.txt' is empty"),
        ("group.txt", "\x00", r"group\.txt' is not a text file"),
        ("meta.json", "{", "cannot be read"),
        ("meta.json", '{"class_names": ["one"]}', "1 class names"),
        ("meta.json", '{"class_names": 7}', "cannot be read"),
        ("meta.json", "[]", "cannot be read"),
    ],
)  # fmt: skip
def test_malformed_folder_gets_a_sentence(file, content, message, folder):
    (folder / file).write_text(content)
    with pytest.raises(unseen.UnseenError, match=message):
        read_folder(folder, COUNTS)


def test_file_missing_in_the_folder(folder):
    (folder / "group.txt").unlink()
    with pytest.raises(unseen.DatasetError, match=r"lacks group\.txt; put the file there"):
        read_folder(folder, COUNTS)


def test_features_that_cannot_be_read(folder):
    (folder / "features.npz").write_bytes(b"PK\x03\x04 nonsense")
    with pytest.raises(unseen.DatasetError, match="cannot be read"):
        read_folder(folder)
    np.savez(folder / "features.npz", format=np.array([{}], dtype=object))
    with pytest.raises(unseen.DatasetError, match="cannot be read"):
        read_folder(folder)


@settings(deadline=None, max_examples=60)
@given(graph=st.binary(max_size=30), group=st.binary(max_size=30), features=st.binary(max_size=60))
def test_folder_of_rubbish(graph, group, features):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "graph.txt").write_bytes(graph)
        (folder / "group.txt").write_bytes(group)
        (folder / "features.npz").write_bytes(features)
        with pytest.raises(unseen.DatasetError):
            read_folder(folder, Counts(1, 0, 1, 1))


def test_folders_that_do_not_exist(tmp_path, monkeypatch, caplog):
    with pytest.raises(unseen.DatasetError, match=r"`data_dir` is .* not a folder"):
        unseen.load_dataset("mine", data_dir=tmp_path / "nowhere")
    monkeypatch.setenv("UNSEEN_DATA", str(tmp_path / "nowhere"))
    assert "mine" not in unseen.dataset_names()
    assert "UNSEEN_DATA is" in caplog.text


@pytest.fixture
def own(tmp_path, monkeypatch) -> Path:
    """A folder of the user's with names of its own, below UNSEEN_DATA."""
    place = tmp_path / "data" / "mine"
    place.mkdir(parents=True)
    (place / "graph.txt").write_text("0 1\n1 2\n")
    (place / "group.txt").write_text("0 0\n1 1\n")
    sp.save_npz(place / "features.npz", sp.csr_array(np.eye(4)[:, :2]))
    (place / "feature_names.txt").write_text("long nose\nnode\n")
    (place / "meta.json").write_text('{"nodes": 4, "edges": 2, "classes": 3, "class_names": ["x", "y", "z"]}')
    (place.parent / "no-graph").mkdir()
    monkeypatch.setenv("UNSEEN_DATA", str(place.parent))
    return place


def test_folder_with_names_isolated_nodes_and_an_empty_class(own):
    assert unseen.dataset_names()[:: len(unseen.dataset_names()) - 1] == ("debian", "mine")
    assert dataset_counts("mine") == {"nodes": 4, "edges": 2, "classes": 3, "features": None}
    data = unseen.load_dataset("mine")
    assert data.graph.feature_names == ("long nose", "node")
    assert data.labels.classes == ("x", "y", "z")
    assert data.labels.counts.tolist() == [1, 1, 0]
    assert data.graph.node_ids.tolist() == [0, 1, 2, 3]
    (own / "meta.json").unlink()
    (own / "features.npz").unlink()
    (own / "feature_names.txt").unlink()
    bare = unseen.load_dataset("mine")
    assert (bare.graph.n_nodes, bare.graph.features, bare.labels.classes) == (3, None, ("0", "1"))
    assert dataset_counts("mine") == {"nodes": None, "edges": None, "classes": None, "features": None}


def test_folder_with_ids_and_classes_of_words(own):
    place = own.parent / "words"
    data = unseen.load_dataset("mine")
    text = [f"n{k}" for k in range(4)]
    graph = unseen.Graph(data.graph.adjacency, data.graph.features, text, ["long", "short"])
    write_graph(graph, place, labels=unseen.Labels.from_values(["red", None, "blue", "red"], text))
    words = unseen.load_dataset("words")
    assert words.graph.node_ids.tolist() == text
    assert words.labels.classes == ("blue", "red")
    assert (words.graph.adjacency != graph.adjacency).nnz == 0
    assert words.graph.feature_names == ("long", "short")


def test_unknown_name_lists_the_folders_too(own):
    with pytest.raises(unseen.InputError, match=r"did you mean 'mine'\? Known: debian, .*mine$"):
        unseen.load_dataset("mime")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("meta.json", '{"edges": 3}', "has 2 edges in place of 3"),
        ("meta.json", '{"nodes": 3}', "has 4 nodes in place of 3"),
        ("meta.json", '{"class_names": ["x"]}', r"meta\.json has 1 class names, but there are 2 classes"),
        ("feature_names.txt", "a\nb\nc\n", r"feature_names\.txt has 3 lines, but there are 2 features"),
    ],
)
def test_folder_that_contradicts_itself(own, file, content, message):
    (own / file).write_text(content)
    with pytest.raises(unseen.DatasetError, match=message):
        unseen.load_dataset("mine")
