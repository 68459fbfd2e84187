"""Published graphs: found in a folder, in the cache, or downloaded; and everything that can go wrong."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pooch
import pytest

import unseen
from unseen.data.datasets import dataset_counts
from unseen_paper.data.folders import Counts, read_folder
from unseen_paper.data.published import ENTRIES

PAPER_GRAPHS = {name: ENTRIES[name] for name in ("citeseer", "cora", "wiki", "ppi", "blogcatalog")}
from_paper = pytest.mark.parametrize("name", PAPER_GRAPHS)


def cached_files(cache: Path) -> list[str]:
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
    assert cached_files(cache) == sorted(f"sources/{s.file}" for s in entry.sources)
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
    assert cached_files(cache) == ["sources/PPI.cmty", "sources/PPI.ungraph"]


def test_small_graph_downloaded_then_cached(ppi, mirror, cache):
    data = unseen.load_dataset("ppi")
    assert data.graph.adjacency.toarray().tolist() == [[0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0]]
    assert data.labels.indicator.toarray().astype(int).tolist() == [[1, 1], [0, 1], [1, 0], [0, 0]]
    assert data.labels.classes == ("0", "1")
    assert len(mirror.asked) == 2
    unseen.load_dataset("ppi")
    assert len(mirror.asked) == 2
    (cache / "sources" / "PPI.cmty").write_bytes(b"0\t3\n1\t0\n")  # a damaged file is downloaded again
    unseen.load_dataset("ppi")
    assert [path.rsplit("/")[-1] for path in mirror.asked] == ["PPI.ungraph", "PPI.cmty", "PPI.cmty"]


def test_offline_error_says_which_file_to_put_where(ppi, mirror, cache):
    mirror.close()
    with pytest.raises(unseen.DatasetError) as caught:
        unseen.load_dataset("ppi")
    message = str(caught.value)
    for name in ("PPI.ungraph", "PPI.cmty"):
        assert f"{mirror.url}/somebody/graphs/{'0' * 40}/data/{name} as {cache / 'sources' / name}" in message
    assert "set UNSEEN_DATA to a folder that has ppi/PPI.ungraph, ppi/PPI.cmty" in message
    (cache / "sources").mkdir(parents=True, exist_ok=True)
    for name, content in mirror.files.items():
        (cache / "sources" / name).write_bytes(content)
    assert unseen.load_dataset("ppi").graph.n_nodes == 4


@pytest.mark.parametrize(
    "trouble",
    [
        "another content",
        "cut",
        "hang",
        "stream_endlessly",
        "404",
        "file://",
        "FILE://",
        "ftp://127.0.0.1",
        "circle",
    ],
)
def test_bad_checksum_is_refused_and_not_kept(ppi, mirror, cache, tmp_path, trouble):
    """So are files that are cut, too long or elsewhere."""
    (tmp_path / "secret").write_bytes(mirror.files["PPI.cmty"])
    if trouble == "another content":
        mirror.files["PPI.cmty"] = b"0\t2\n1\t3\n"
    elif trouble == "404":
        mirror.answers["PPI.cmty"] = mirror.fail(404)
    elif trouble == "circle":
        mirror.answers["PPI.cmty"] = mirror.redirect("/PPI.cmty")
    elif "//" in trouble:
        mirror.answers["PPI.cmty"] = mirror.redirect(f"{trouble}{tmp_path / 'secret'}")
    else:
        mirror.answers["PPI.cmty"] = getattr(mirror, trouble)
    with pytest.raises(
        unseen.DatasetError, match=r"PPI\.cmty (could not be downloaded|has more than the 8 bytes)"
    ):
        unseen.load_dataset("ppi")
    assert cached_files(cache) == ["sources/PPI.ungraph"]
    mirror.answers.clear()
    mirror.files["PPI.cmty"] = b"0\t2\n1\t0\n"
    assert unseen.load_dataset("ppi").graph.n_edges == 3


def test_passing_trouble_is_tried_again(ppi, mirror, cache):
    mirror.answers["PPI.cmty"] = lambda handler: (
        handler.send_error(503) if len(mirror.asked) < 4 else mirror.send(handler)
    )
    assert unseen.load_dataset("ppi").graph.n_edges == 3
    assert len(mirror.asked) == 4


def test_interrupt_leaves_no_half_file(ppi, mirror, cache, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(pooch.HTTPDownloader, "__call__", interrupt)
        with pytest.raises(KeyboardInterrupt):
            unseen.load_dataset("ppi")
    assert cached_files(cache) == []


def test_cache_that_cannot_be_written(ppi, mirror, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.delenv("UNSEEN_DATA", raising=False)
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(unseen.DatasetError, match=r"could not be downloaded to .*file/cache/sources"):
        unseen.load_dataset("ppi")


def test_folder_comes_before_cache_and_network(ppi, mirror, tmp_path, monkeypatch, caplog):
    folder = tmp_path / "data" / "ppi"
    folder.mkdir(parents=True)
    (folder / "graph.txt").write_text("0 1\n2 2\n1 3\n")
    (folder / "group.txt").write_text("0 0 1\n1 1\n2 0\n")
    monkeypatch.setenv("UNSEEN_DATA", "nowhere")
    assert unseen.load_dataset("ppi", data_dir=tmp_path / "data").graph.n_edges == 3
    monkeypatch.setenv("UNSEEN_DATA", str(tmp_path / "data"))
    assert unseen.load_dataset("ppi").graph.n_edges == 3
    assert (mirror.asked, caplog.text) == ([], "")
    (folder / "graph.txt").write_text("0 1\n2 2\n")
    with pytest.raises(
        unseen.DatasetError, match="has 3 nodes in place of 4, 2 edges in place of 3: it is damaged"
    ):
        unseen.load_dataset("ppi")


def test_a_year_is_needed() -> None:
    for name in ("fin-ynet", "fin-ynet:1999"):
        with pytest.raises(
            unseen.InputError, match=rf"a graph for each year, got '{name}'; known are .*:2000, .*:2010"
        ):
            unseen.load_dataset(name)
    with pytest.raises(unseen.InputError, match=r"'cora' has one graph, got 'cora:2000'"):
        unseen.load_dataset("cora:2000")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hgb-dblp", "hgb-acm", "fin-ynet:2008", "photo", "coauthor-cs"])
def test_the_published_files(name: str, data_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "sources").symlink_to(data_folder / "sources")
    data = unseen.load_dataset(name, data_dir=tmp_path)
    counts = Counts(**dataset_counts(name))  # type: ignore[arg-type]
    width = 0 if data.graph.features is None else data.graph.features.shape[1]
    assert (data.graph.n_nodes, len(data.labels.classes), width) == (
        counts.nodes,
        counts.classes,
        counts.features,
    )
    facts: dict[str, Callable[[], None]] = {
        "hgb-dblp": lambda: _same([r.n_edges for r in data.graph.relations], [19645, 85810, 14328]),
        "hgb-acm": lambda: _same([r.n_edges for r in data.graph.relations], [5343, 9949, 3025, 255619]),
        "fin-ynet:2008": lambda: _same(
            [data.graph.is_signed, data.graph.relations[0].matrix.shape], [True, (451, 451)]
        ),
    }
    if name in facts:
        facts[name]()
        return
    own = read_folder(data_folder / name, counts)
    assert (own.graph.adjacency != data.graph.adjacency).nnz == 0
    assert (own.graph.features != data.graph.features).nnz == 0  # type: ignore[union-attr]
    assert own.graph.feature_names == data.graph.feature_names
    assert own.labels.classes == data.labels.classes
    assert (own.labels.indicator != data.labels.indicator).nnz == 0


def _same(came: list[object], wanted: list[object]) -> None:
    assert came == wanted


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
