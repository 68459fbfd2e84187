"""The graphs beyond the paper's: looked up in order, each file compared with its sha256; folders of the benchmark."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import unseen
from unseen.data.datasets import Counts, dataset_counts, read_folder
from unseen.data.published import ENTRIES

NODE = "0\tAnn\t0\t1,0\n1\tBob\t0\t0,1\n5\tp\t1\t0.5\n6\tq\t1\t2\n7\tv\t2\n"
LINK = "0\t5\t0\t1.0\n1\t6\t0\t1.0\n5\t0\t1\t1.0\n6\t1\t1\t1.0\n5\t6\t2\t1.0\n5\t7\t3\t2\n"
LABEL = "0\tAnn\t0\t1\n1\tBob\t0\t0,1\n"
INFO = (
    '{"node.dat": {"node type": {"0": "author", "1": "paper"}}, '
    '"label.dat": {"node type": {"0": {"0": "x", "1": "y"}}}}'
)


def folder(path: Path, **changes: str) -> Path:
    path.mkdir(exist_ok=True)
    for name, text in {"node": NODE, "link": LINK, "label": LABEL, "info": INFO, **changes}.items():
        (path / f"{name}.dat").write_text(text)
    return path


def test_a_folder_of_the_benchmark(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "unseen")
    data = unseen.read(folder(tmp_path / "mine"))
    graph, labels = data.graph, data.labels
    assert graph.node_ids.tolist() == [0, 1, 5, 6, 7]
    assert [(r.name, r.source_type, r.target_type, r.directed, r.n_edges) for r in graph.relations] == [
        ("0", "author", "paper", False, 2),
        ("2", "paper", "paper", True, 1),
        ("3", "paper", "2", False, 1),
    ]
    assert "'1' is '0' the other way round" in caplog.text
    assert graph.features_of("paper").tolist() == [[0.5], [2]]  # type: ignore[union-attr]
    assert graph.features_of("author").toarray().tolist() == [[1, 0], [0, 1]]  # type: ignore[union-attr]
    assert graph.features_of("2") is None
    assert labels is not None
    assert labels.classes == ("x", "y")
    assert labels.indicator.toarray()[:3].tolist() == [[False, True], [True, True], [False, False]]
    (tmp_path / "mine" / "label.dat").unlink()
    assert unseen.read(tmp_path / "mine").labels is None


@pytest.mark.parametrize(
    ("file", "text", "match"),
    [
        (
            "node",
            "x\ty\n",
            r"node\.dat', line 1 has 2 columns and begins with 'x'; these are needed.*node, name, type",
        ),
        (
            "node",
            NODE + "0\tAnn\t1\t3\n",
            r"node\.dat', line 6: the node 0 is of type 'paper' here and of type 'author' elsewhere",
        ),
        (
            "node",
            NODE + "8\tr\t1\n",
            r"node\.dat', line 6 has 0 values where others have 1; all nodes of a type",
        ),
        ("node", NODE + "8\tr\t1\tnan\n", r"line 6: the values are no list of finite numbers"),
        (
            "link",
            LINK + "0\t99\t0\t1\n",
            r"link\.dat', line 7: the node 99 has no type; name it",
        ),
        ("link", LINK + "0\t5\t0\tx\n", r"link\.dat', line 7: the weight is 'x', which is not a number"),
        (
            "link",
            LINK + "0\t7\t0\t1\n",
            r"line 7: the relation '0' leads from 'author' to 'paper', but here from 'author' to '2'",
        ),
        ("label", "99\tx\t0\t1\n", r"the node 99 has no type; name it in `nodes`"),
    ],
)
def test_folders_that_are_refused(tmp_path: Path, file: str, text: str, match: str) -> None:
    with pytest.raises(unseen.InputError, match=match):
        unseen.read(folder(tmp_path / "mine", **{file: text}))


def test_a_folder_brings_its_own_labels(tmp_path: Path) -> None:
    with pytest.raises(unseen.InputError, match=r"has its own nodes, features and labels; leave out"):
        unseen.read(folder(tmp_path / "mine"), labels="labels.csv")
    (tmp_path / "mine" / "node.dat").unlink()
    with pytest.raises(unseen.InputError, match=r"has a link\.dat but no node\.dat"):
        unseen.read(tmp_path / "mine")


def packed(**files: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"Some/{name}.dat", text)
    return target.getvalue()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """hgb-acm with the small files of this test; nothing is in the cache, and there is no network."""
    texts = {"node": NODE, "link": LINK, "label": LABEL}
    entry = ENTRIES["hgb-acm"]
    sources = tuple(
        replace(s, sha256=hashlib.sha256(texts[s.member[:-4]].encode()).hexdigest() if s.sha256 else "")
        for s in entry.sources
    )
    monkeypatch.setitem(ENTRIES, "hgb-acm", replace(entry, sources=sources))
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("UNSEEN_DATA", str(tmp_path))
    return tmp_path


def test_the_order_of_places(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[str] = []

    def fetch(url: str, *, size: int | None) -> bytes:
        fetched.append(url)
        return packed(node=NODE, link=LINK, label=LABEL, info=INFO)

    monkeypatch.setattr("unseen.data.download.fetch", fetch)
    assert unseen.load_dataset("hgb-acm").graph.n_nodes == 5
    assert fetched == [
        "https://raw.githubusercontent.com/Starlien95/HGPrompt/bafce7622d86da6ff0f6a9a00e8e879013b2e0ec/data/ACM.zip"
    ]
    assert unseen.load_dataset("hgb-acm").labels.classes == ("x", "y")
    assert len(fetched) == 1  # the cache has it
    (small / "sources").mkdir()
    (small / "sources" / "hgb-acm.zip").write_bytes(
        packed(node=NODE + "9\tw\t2\n", link=LINK, label=LABEL, info=INFO)
    )
    with pytest.raises(
        unseen.DatasetError, match=r"node\.dat of .*hgb-acm\.zip is not the published file \(its sha256"
    ):
        unseen.load_dataset("hgb-acm")
    folder(small / "hgb-acm")
    assert unseen.load_dataset("hgb-acm").graph.n_nodes == 5
    (small / "hgb-acm" / "node.dat").unlink()
    (small / "sources" / "hgb-acm.zip").write_bytes(b"no archive")
    with pytest.raises(unseen.DatasetError, match=r"hgb-acm\.zip is no readable zip archive"):
        unseen.load_dataset("hgb-acm")
    (small / "sources" / "hgb-acm.zip").write_bytes(packed(other=""))
    with pytest.raises(unseen.DatasetError, match=r"holds no node\.dat of at most"):
        unseen.load_dataset("hgb-acm")


def test_a_wrong_download_is_not_kept(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.data.download.fetch", lambda url, size: packed(node="", link="", label=""))
    with pytest.raises(unseen.DatasetError, match=r"ACM\.zip has the sha256 .* in place of .* was not kept"):
        unseen.load_dataset("hgb-acm")
    assert not (small / "cache").exists()


def test_a_year_is_needed() -> None:
    with pytest.raises(
        unseen.InputError, match=r"a graph for each year, got 'fin-ynet'; known are fin-ynet:2000, .*:2010"
    ):
        unseen.load_dataset("fin-ynet")
    with pytest.raises(unseen.InputError, match=r"got 'fin-ynet:1999'"):
        unseen.load_dataset("fin-ynet:1999")
    with pytest.raises(unseen.InputError, match=r"unknown data set 'cora:2000'"):
        unseen.load_dataset("cora:2000")


SOURCES = Path(os.environ.get("UNSEEN_DATA", "nowhere")) / "sources"
needs_data = pytest.mark.skipif(
    not (SOURCES / "hgb-acm.zip").is_file(), reason="set UNSEEN_DATA to a folder with the published files"
)


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("name", ["hgb-dblp", "hgb-acm", "fin-ynet:2008", "photo", "coauthor-cs"])
def test_the_published_files(name: str, tmp_path: Path) -> None:
    (tmp_path / "sources").symlink_to(SOURCES)
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
    own = read_folder(SOURCES.parent / name, counts)
    assert np.array_equal(own.graph.adjacency.toarray(), data.graph.adjacency.toarray())
    assert (own.graph.features != data.graph.features).nnz == 0  # type: ignore[union-attr]
    assert own.graph.feature_names == data.graph.feature_names
    assert own.labels.classes == data.labels.classes
    assert (own.labels.indicator != data.labels.indicator).nnz == 0


def _same(came: list[object], wanted: list[object]) -> None:
    assert came == wanted
