"""Folders of graph benchmarks, and archives of them: looked up in order, each file compared with its sha256."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import unseen
from unseen.errors import install_hint
from unseen_paper.data.published import ENTRIES

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
    assert "'1' is the reverse of '0'" in caplog.text
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
        ("node", NODE + "0\tAnn\t1\t3\n", r"node\.dat', line 6: the node 0 is listed a second time"),
        (
            "node",
            NODE + "8\tr\t1\n",
            r"node\.dat', line 6 has 0 values where others have 1; all nodes of a type",
        ),
        ("node", NODE + "8\tr\t1\tnan\n", r"line 6: the values are not a list of finite numbers"),
        ("link", LINK + "0\t99\t0\t1\n", r"link\.dat', line 7: the node 99 is not in node\.dat"),
        ("link", LINK + "0\t5\t0\tx\n", r"link\.dat', line 7: the weight is 'x', which is not a number"),
        (
            "link",
            LINK + "0\t7\t0\t1\n",
            r"line 7: the relation '0' leads from 'author' to 'paper', but here from 'author'",
        ),
        ("label", "99\tx\t0\t1\n", r"label\.dat', line 1: the node 99 is not in node\.dat"),
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


def test_the_layout_of_ogb(tmp_path: Path) -> None:
    raw = tmp_path / "ogbn_tiny" / "raw"
    raw.mkdir(parents=True)
    files = {
        "edge": "0,1\n1,2\n",
        "num-node-list": "4\n",
        "num-edge-list": "2\n",
        "node-feat": "0.5,1\n0,1\n1,0\n0,0\n",
        "node-label": "0\nnan\n2\n0\n",
    }
    for name, text in files.items():
        (raw / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
    for folder, others in ((raw, {}), (raw.parent, {"features": raw.parent, "labels": raw.parent})):
        data = unseen.read(folder, **others)
        assert data.graph.node_ids.tolist() == ["0", "1", "2", "3"]
        assert data.graph.n_edges == 2
        assert data.graph.features[0].tolist() == [0.5, 1]
        assert data.labels is not None
        assert data.labels.to_pandas().tolist() == ["0", None, "2", "0"]
    assert unseen.read(raw, directed=True).graph.is_directed
    for text, match in (
        ("0.5,1\n", r"has 1 row and .* says 4 nodes; they must agree"),
        ("x\n" * 4, "not numbers"),
    ):
        (raw / "node-feat.csv.gz").write_bytes(gzip.compress(text.encode()))
        with pytest.raises(unseen.InputError, match=match):
            unseen.read(raw)
    with pytest.raises(unseen.InputError, match=r"has the layout 'ogb', which is read as a whole graph"):
        unseen.read(raw / "edge.csv.gz", features=raw)
    (raw / "edge.csv.gz").unlink()
    with pytest.raises(unseen.InputError, match=r"has a num-node-list\.csv\.gz but no edge\.csv"):
        unseen.read(raw)


def test_without_the_paper_every_error_names_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Callable[..., Any]
) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: ())
    monkeypatch.delenv("UNSEEN_DATA", raising=False)
    hint = re.escape(f"comes with the paper's package; {install_hint('paper')}")
    with pytest.raises(unseen.UnseenError, match=f"the folder layout 'hgb' {hint}"):
        unseen.read(folder(tmp_path / "mine"))
    for name in ("cora", "fin-ynet:2008"):
        with pytest.raises(unseen.UnseenError, match=f"the data set '{name.partition(':')[0]}' {hint}"):
            unseen.load_dataset(name)
    assert unseen.dataset_names() == ("debian",)
    assert re.search(hint, cli("embed", "cora", "-o", tmp_path / "v.csv").err)
    listed = cli("datasets")
    assert listed.out.count("\n") == 2
    assert install_hint("paper") in listed.err


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


def test_the_order_of_places(small: Path, mirror: Any) -> None:
    mirror.files["ACM.zip"] = packed(node=NODE, link=LINK, label=LABEL, info=INFO)
    assert unseen.load_dataset("hgb-acm").graph.n_nodes == 5
    assert mirror.asked == ["/Starlien95/HGPrompt/bafce7622d86da6ff0f6a9a00e8e879013b2e0ec/data/ACM.zip"]
    assert unseen.load_dataset("hgb-acm").labels.classes == ("x", "y")
    assert len(mirror.asked) == 1  # the cache has it
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
    with pytest.raises(unseen.DatasetError, match=r"hgb-acm\.zip is not a readable zip archive"):
        unseen.load_dataset("hgb-acm")
    (small / "sources" / "hgb-acm.zip").write_bytes(packed(other=""))
    with pytest.raises(unseen.DatasetError, match=r"holds no node\.dat of at most"):
        unseen.load_dataset("hgb-acm")


def test_a_wrong_download_is_not_kept(small: Path, mirror: Any) -> None:
    mirror.files["ACM.zip"] = packed(node="", link="", label="")
    with pytest.raises(
        unseen.DatasetError, match=r"ACM\.zip is not the published file .* removed from the cache"
    ):
        unseen.load_dataset("hgb-acm")
    assert not list((small / "cache" / "sources").iterdir())
