"""`unseen demo`: the order of what it prints, and that text, JSON and page have the same numbers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import unseen
from unseen.cli import demo
from unseen.discovery.truth import Truth
from unseen.errors import install_hint
from unseen.explorer import layout
from unseen.methods import registry

METHODS = demo.METHODS


def only(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    monkeypatch.setattr(demo, "METHODS", {name: METHODS[name] for name in names})


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "nodefeats", "smoothfeats")
    monkeypatch.setattr(layout, "EARLY", 5)
    monkeypatch.setattr(layout, "LATE", 5)


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_json_page_and_embeddings(cli: Callable, tmp_path: Path) -> None:
    ran = cli("demo", "--json", "-o", tmp_path / "demo", "--hide", "mail,web,video")
    assert (ran.code, ran.err) == (0, "")
    report = json.loads(ran.out)
    assert report["dataset"] == "debian"
    assert sorted(report["hidden"]) == ["mail", "video", "web"]
    assert set(report["methods"]) == {"nodefeats", "smoothfeats"}
    for scores in report["methods"].values():
        assert set(scores) == {"micro_f1", "macro_f1", "seen_f1", "unseen_f1", "seconds"}
        assert 0.4 < scores["micro_f1"] < 1
    assert report["methods"]["smoothfeats"]["unseen_f1"] > report["methods"]["nodefeats"]["unseen_f1"]
    written = sorted((tmp_path / "demo").iterdir())
    assert [path.name for path in written] == ["explorer.html", "nodefeats.npz", "smoothfeats.parquet"]
    assert {unseen.read_embedding(path).vectors.shape[0] for path in written[1:]} == {4852}
    assert report["page"] == str(written[0])
    page = written[0].read_text("utf-8")
    assert "<title>Debian without mail, video, web</title>" in page
    assert '"start":"overview"' in page  # candidate classes were found, and are what the reader sees first
    truth = report["discovery"]["truth"]
    truth["matches"] = ()
    assert json.dumps(Truth(**truth).summary()) in page


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_the_text_tells_the_story_in_order_and_shows_the_truth(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # without the command `unseen`
    ran = cli("demo", "-o", tmp_path / "demo")
    assert (ran.code, ran.err) == (0, "")
    report = json.loads(cli("demo", "-o", tmp_path / "other", "--no-page", "--json").out)
    lines = ran.out.splitlines()
    assert len(lines) <= 45
    assert max(len(line) for line in lines if "/" not in line) <= 100  # paths may be longer
    found, truth = report["discovery"], report["discovery"]["truth"]
    n_hidden = count_packages(report["hidden"])
    assert truth["n_hidden"] == n_hidden
    expected = [
        "This graph has 4,852 Debian packages",
        ", ".join(report["hidden"]),
        f"about {found['expected']:,.0f}",
        f"{n_hidden:,}",
        f"new-{len(truth['matches'])}",
        f"Of the {truth['n_flagged']:,} nodes in candidate classes, {truth['n_flagged_hidden']:,} do",
        *(f"{scores['unseen_f1']:.2f}" for scores in report["methods"].values()),
        "bin/activate" if (Path(sys.prefix) / "bin" / "activate").exists() else "Your own files",
        demo.OWN_FILES,
        str(tmp_path / "demo" / "explorer.html"),
    ]
    at = 0
    for part in expected:
        assert part in ran.out[at:], part
        at = ran.out.index(part, at) + len(part)


def count_packages(hidden: list[str]) -> int:
    """Return how many packages are in the hidden sections, none of which is labelled."""
    labels = unseen.load_dataset("debian").labels
    return sum(int(labels.counts[labels.classes.index(name)]) for name in hidden)


def test_an_interrupted_demo_leaves_no_empty_folder(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "_describe_task", interrupted)
    assert cli("demo", "-o", tmp_path / "vectors").code == 130
    assert not (tmp_path / "vectors").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_methods_that_are_not_installed_are_left_out_with_the_line_that_adds_them(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_method = registry.make_method

    def without_torch(name: str, **params: object) -> unseen.SmoothFeats:
        if name == "gcn":
            msg = "gcn needs torch"
            raise unseen.UnsupportedError(msg)
        return make_method(name, **params)

    only(monkeypatch, "gcn", "smoothfeats")
    monkeypatch.setattr(registry, "make_method", without_torch)
    ran = cli("demo", "-o", tmp_path, "--no-page", code=0)
    assert [path.name for path in tmp_path.iterdir()] == ["smoothfeats.parquet"]
    assert f"GCN needs torch; {install_hint('neural')}" in ran.out
