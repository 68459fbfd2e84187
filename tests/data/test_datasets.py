"""The paper's graphs: found in a folder, in the cache, or downloaded; and everything that can go wrong."""

from __future__ import annotations

import dataclasses
import io
import logging
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import unseen
from unseen.data import download
from unseen.data.datasets import Counts, dataset_counts, find_dataset
from unseen.data.published import ENTRIES, PUBLISHED, Entry, cache_folder
from unseen.data.write import write_graph

PAPER_GRAPHS = {name: ENTRIES[name] for name in ("citeseer", "cora", "wiki", "ppi", "blogcatalog")}
from_paper = pytest.mark.parametrize("name", PAPER_GRAPHS)


def load_paper_graph(entry: Entry, data_dir: Path | None = None) -> unseen.Dataset:
    return find_dataset(entry.name, entry, data_dir)


def kept(cache: Path) -> list[str]:
    return sorted(path.relative_to(cache).as_posix() for path in cache.rglob("*") if path.is_file())


def require_same(one: unseen.Dataset, two: unseen.Dataset) -> None:
    assert (one.graph.adjacency != two.graph.adjacency).nnz == 0
    assert (one.labels.indicator != two.labels.indicator).nnz == 0
    assert one.labels.classes == two.labels.classes
    assert one.graph.node_ids.tolist() == two.graph.node_ids.tolist()
    assert (one.graph.features is None) == (two.graph.features is None)
    if one.graph.features is not None:
        assert one.graph.features.dtype == two.graph.features.dtype
        assert (one.graph.features != two.graph.features).nnz == 0


@from_paper
def test_download_gives_exactly_the_known_graph(name, data_folder, mirror, cache, caplog):
    for path in (data_folder / "sources").iterdir():
        mirror.files[path.name] = path.read_bytes()
    entry = PAPER_GRAPHS[name]
    downloaded = unseen.load_dataset(name)
    assert len(mirror.asked) == len(entry.sources)
    assert [f"/{s.repository}/{s.commit}/{s.path}" for s in entry.sources] == mirror.asked
    require_same(downloaded, unseen.load_dataset(name, data_dir=data_folder))
    require_same(downloaded, unseen.load_dataset(name))  # from the cache
    assert len(mirror.asked) == len(entry.sources)
    assert kept(cache) == sorted(f"sources/{s.file}" for s in entry.sources)
    assert not [r for r in caplog.records if r.levelno >= logging.WARNING]


@from_paper
def test_counts_and_classes_of_the_paper(name, data_folder):
    entry = PAPER_GRAPHS[name]
    data = unseen.load_dataset(name, data_dir=data_folder)
    assert data.graph.node_ids.dtype == np.int64
    assert data.graph.node_ids.tolist() == list(range(entry.counts.nodes))
    assert data.labels.classes == (entry.class_names or tuple(str(k) for k in range(entry.counts.classes)))
    graph = unseen.read_graph(data_folder / name)
    assert (graph.adjacency != data.graph.adjacency).nnz == 0
    labels = unseen.read_labels(data_folder / name, graph)
    by_number = np.argsort([int(number) for number in labels.classes])  # files give them as sorted strings
    assert (labels.indicator[:, by_number] != data.labels.indicator).nnz == 0


def test_self_loops_repeats_and_isolated_nodes_are_those_of_the_paper(data_folder):
    graphs = {name: unseen.load_dataset(name, data_dir=data_folder).graph for name in PAPER_GRAPHS}
    assert {name: int(graph.isolated.sum()) for name, graph in graphs.items()} == {
        "citeseer": 48, "cora": 0, "wiki": 42, "ppi": 30, "blogcatalog": 0
    }  # fmt: skip
    assert graphs["citeseer"].n_self_loops == 124
    assert graphs["ppi"].n_self_loops == 894
    assert graphs["wiki"].n_edges - graphs["wiki"].n_self_loops == 11596


def test_class_names_of_citeseer_are_the_published_ones(data_folder):
    content = (data_folder / "sources" / "dataset_RSDNE.zip").read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        text = archive.read("citeseer/group_name.txt").decode()
    assert tuple(line.split()[1] for line in text.splitlines()) == PAPER_GRAPHS["citeseer"].class_names


def test_processes_that_download_at_once_do_not_disturb_each_other(data_folder, mirror, cache):
    for name in ("PPI.ungraph", "PPI.cmty"):
        mirror.files[name] = (data_folder / "sources" / name).read_bytes()
    code = "import unseen; print(unseen.load_dataset('ppi').graph)"
    environment = {k: v for k, v in os.environ.items() if k != "UNSEEN_DATA"} | {"OMP_NUM_THREADS": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-c", code]
    running = [subprocess.Popen(command, env=environment, text=True, **pipes) for _ in range(3)]
    answers = [process.communicate(timeout=120) for process in running]
    assert answers == [("Graph(3890 nodes, 38739 edges, no features)\n", "")] * 3
    assert kept(cache) == ["sources/PPI.cmty", "sources/PPI.ungraph"]


def test_small_graph_downloaded_then_cached(published, mirror, cache):
    data = load_paper_graph(published)
    assert data.graph.adjacency.toarray().tolist() == [[0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0]]
    assert data.labels.indicator.toarray().astype(int).tolist() == [[1, 1], [0, 1], [1, 0], [0, 0]]
    assert data.labels.classes == ("0", "1")
    assert len(mirror.asked) == 2
    load_paper_graph(published)
    assert len(mirror.asked) == 2


def test_damaged_source_in_the_cache_is_downloaded_again(published, mirror, cache, caplog):
    load_paper_graph(published)
    (cache / "sources" / "PPI.cmty").write_bytes(b"0\t3\n1\t0\n")
    load_paper_graph(published)
    assert [path.rsplit("/")[-1] for path in mirror.asked] == ["PPI.ungraph", "PPI.cmty", "PPI.cmty"]
    assert "PPI.cmty is not the published file" in caplog.text


def test_file_put_into_the_cache_by_hand_is_used(published, mirror, cache):
    (cache / "sources").mkdir(parents=True)
    for name, content in mirror.files.items():
        (cache / "sources" / name).write_bytes(content)
    assert load_paper_graph(published).graph.n_nodes == 4
    assert mirror.asked == []


def test_offline_error_says_which_file_to_put_where(published, mirror, cache):
    mirror.close()
    with pytest.raises(unseen.DatasetError) as caught:
        load_paper_graph(published)
    message = str(caught.value)
    for name in ("PPI.ungraph", "PPI.cmty"):
        assert f"{mirror.url}/somebody/graphs/{'0' * 40}/data/{name} as {cache / 'sources' / name}" in message
    assert "set UNSEEN_DATA to a folder that has ppi/PPI.ungraph, ppi/PPI.cmty" in message
    assert "\n" not in message


def test_bad_checksum_is_refused_and_not_kept(published, mirror, cache):
    mirror.files["PPI.cmty"] = b"0\t2\n1\t3\n"  # the right length, another content
    with pytest.raises(unseen.DatasetError, match=r"PPI\.cmty has the sha256 \w+ in place of"):
        load_paper_graph(published)
    assert kept(cache) == ["sources/PPI.ungraph"]


def test_cut_connection_leaves_no_file_that_is_taken_for_good(published, mirror, cache):
    mirror.answers["PPI.cmty"] = mirror.cut
    with pytest.raises(unseen.DatasetError, match=r"cut after 4 of 8 bytes \(3 tries\)"):
        load_paper_graph(published)
    assert kept(cache) == ["sources/PPI.ungraph"]
    del mirror.answers["PPI.cmty"]
    assert load_paper_graph(published).graph.n_edges == 3


def test_interrupt_leaves_no_half_file(published, mirror, cache, monkeypatch):
    def stopped(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(download, "_read", stopped)
        with pytest.raises(KeyboardInterrupt):
            load_paper_graph(published)
    assert kept(cache) == []
    assert load_paper_graph(published).graph.n_edges == 3


def test_cache_that_cannot_be_written_costs_a_warning_only(published, mirror, tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.delenv("UNSEEN_DATA", raising=False)
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path / "file" / "cache"))
    assert load_paper_graph(published).graph.n_edges == 3
    assert "could not be kept" in caplog.text
    assert "UNSEEN_CACHE" in caplog.text


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_cache_folder(published, cache, caplog):
    cache.mkdir()
    cache.chmod(0o555)
    assert load_paper_graph(published).graph.n_edges == 3
    assert "could not be kept" in caplog.text


def linked_pages(mirror, make_source, archive: bytes) -> Entry:
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, {"attributes": sp.csc_array(np.eye(3))})
    mirror.files |= {"dataset_RSDNE.zip": archive, "cora.mat": buffer.getvalue()}
    sources = tuple(make_source(name, mirror.files[name]) for name in ("dataset_RSDNE.zip", "cora.mat"))
    return Entry("cora", Counts(3, 2, 2, 3), sources, ("one", "two"))


def test_zip_and_mat_make_a_graph(mirror, cache, make_source):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("cora/graph.txt", "0\t1\r\n1\t2\r\n")
        archive.writestr("cora/group.txt", "0\t0\r\n1\t1\r\n2\t0\r\n")
    entry = linked_pages(mirror, make_source, buffer.getvalue())
    data = load_paper_graph(entry)
    assert kept(cache) == ["sources/cora.mat", "sources/dataset_RSDNE.zip"]
    assert data.graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert data.graph.features.toarray().tolist() == np.eye(3).tolist()
    assert data.labels.codes.tolist() == [0, 1, 0]
    assert data.labels.classes == ("one", "two")


@pytest.fixture
def folder(published, tmp_path, monkeypatch) -> Path:
    """The small graph in the authors' format, in the folder that UNSEEN_DATA names."""
    place = tmp_path / "data" / "ppi"
    place.mkdir(parents=True)
    (place / "graph.txt").write_text("0 1\n2 2\n1 3\n")
    (place / "group.txt").write_text("0 0 1\n1 1\n2 0\n")
    monkeypatch.setenv("UNSEEN_DATA", str(place.parent))
    return place


def test_folder_comes_before_cache_and_network(published, mirror, folder, caplog):
    assert load_paper_graph(published).graph.n_edges == 3
    assert mirror.asked == []
    assert caplog.text == ""


def test_class_names_of_the_folder_are_used(published, folder):
    (folder / "meta.json").write_text('{"class_names": ["kinase", "ligase"]}')
    assert load_paper_graph(published).labels.classes == ("kinase", "ligase")


def test_wrong_counts_are_named(published, folder):
    (folder / "graph.txt").write_text("0 1\n2 2\n")
    (folder / "group.txt").write_text("0 0 1\n1 1\n2 2\n")
    expected = r"has 3 nodes in place of 4, 2 edges in place of 3, 3 classes in place of 2: it is damaged"
    with pytest.raises(unseen.DatasetError, match=expected):
        load_paper_graph(published)


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
def test_malformed_folder_gets_a_sentence(file, content, message, published, folder):
    (folder / file).write_text(content)
    with pytest.raises(unseen.UnseenError, match=message):
        load_paper_graph(published)


def test_file_missing_in_the_folder(published, folder):
    (folder / "group.txt").unlink()
    with pytest.raises(unseen.DatasetError, match=r"lacks group\.txt; put the file there"):
        load_paper_graph(published)


def test_features_that_are_none(folder, published):
    entry = dataclasses.replace(published, counts=dataclasses.replace(published.counts, features=2))
    (folder / "features.npz").write_bytes(b"PK\x03\x04 nonsense")
    with pytest.raises(unseen.DatasetError, match="cannot be read"):
        load_paper_graph(entry)
    np.savez(folder / "features.npz", format=np.array([{}], dtype=object))
    with pytest.raises(unseen.DatasetError, match="cannot be read"):
        load_paper_graph(entry)


def test_folders_that_do_not_exist(published, mirror, cache, tmp_path, monkeypatch, caplog):
    with pytest.raises(unseen.DatasetError, match=r"`data_dir` is .* not a folder"):
        load_paper_graph(published, tmp_path / "nowhere")
    monkeypatch.setenv("UNSEEN_DATA", str(tmp_path / "nowhere"))
    assert load_paper_graph(published).graph.n_edges == 3
    assert "UNSEEN_DATA is" in caplog.text


BEYOND_THE_PAPER = {
    "photo": (7650, 119082, 8, 745),
    "coauthor-cs": (18333, 81894, 15, 6805),
    "facebook": (22470, 171002, 4, 4714),
    "actor": (7600, 26659, 5, 932),
    "chameleon": (890, 8854, 5, 2325),
}


@pytest.mark.parametrize("name", BEYOND_THE_PAPER)
def test_any_folder_in_the_authors_format_is_a_data_set(name, data_folder):
    if not (data_folder / name).is_dir():
        pytest.skip(f"{name} is not in the folder that UNSEEN_DATA names")
    assert name in unseen.dataset_names(data_folder)
    data = unseen.load_dataset(name, data_dir=data_folder)
    assert (
        data.graph.n_nodes,
        data.graph.n_edges,
        len(data.labels.classes),
        data.graph.features.shape[1],
    ) == BEYOND_THE_PAPER[name]
    assert len(data.labels.labelled) == data.graph.n_nodes
    if name == "coauthor-cs":
        assert data.graph.feature_names[:2] == ("1 dimensional", "16 qam")
        assert data.labels.classes[:2] == ("bioinformatics", "machine_learning")


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
    assert unseen.dataset_names() == ("debian", *PUBLISHED, "mine")
    assert dataset_counts("mine") == {"nodes": 4, "edges": 2, "classes": 3, "features": 2}
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
    assert dataset_counts("mine") == {"nodes": None, "edges": None, "classes": None, "features": 0}


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
    with pytest.raises(
        unseen.InputError, match=r"did you mean 'mine'\? Known: debian, .*, blogcatalog, .*, mine$"
    ):
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


def test_data_dir_comes_before_the_environment(published, folder, monkeypatch, mirror):
    monkeypatch.setenv("UNSEEN_DATA", "nowhere")
    assert load_paper_graph(published, folder.parent).graph.n_edges == 3
    assert mirror.asked == []


def test_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.delenv("UNSEEN_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "unseen"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "unseen"
    monkeypatch.setenv("UNSEEN_CACHE", "/data/cache")
    assert cache_folder().as_posix() == "/data/cache"


def test_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(unseen.InputError, match="unknown data set 'Core'; did you mean 'cora'"):
        unseen.load_dataset("Core")
