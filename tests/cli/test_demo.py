"""`unseen demo`: the shape of what it prints, and that its words agree with its numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import unseen
from unseen.cli import demo
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
def test_json_and_vectors(cli: Callable, tmp_path: Path) -> None:
    ran = cli("demo", "--json", "-o", tmp_path / "vectors", "--hide", "mail,web,video")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert told["dataset"] == "debian"
    assert sorted(told["hidden"]) == ["mail", "video", "web"]
    assert set(told["methods"]) == {"nodefeats", "smoothfeats"}
    for scores in told["methods"].values():
        assert set(scores) == {"micro_f1", "macro_f1", "seen_f1", "unseen_f1", "seconds"}
        assert 0.4 < scores["micro_f1"] < 1
    assert told["methods"]["smoothfeats"]["unseen_f1"] > told["methods"]["nodefeats"]["unseen_f1"]
    written = sorted((tmp_path / "vectors").iterdir())
    assert [path.name for path in written] == ["explorer.html", "nodefeats.npz", "smoothfeats.parquet"]
    assert {unseen.read_embedding(path).vectors.shape[0] for path in written[1:]} == {4852}
    assert told["page"] == str(written[0])
    assert f"open {written[0]} in a browser" in ran.err
    page = written[0].read_text("utf-8")
    assert "<title>Debian without mail, video, web</title>" in page
    assert '"start":"overview"' in page  # new classes were found, and are what the reader sees first
    assert str(tmp_path / "vectors") in ran.err


def test_an_interrupted_demo_leaves_no_empty_folder(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "_run", interrupted)
    assert cli("demo", "-o", tmp_path / "vectors").code == 130
    assert not (tmp_path / "vectors").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_text_fits_one_screen_and_names_what_is_hidden(cli: Callable, tmp_path: Path) -> None:
    ran = cli("demo", "-o", tmp_path, "--seed", 1, "--no-page")
    lines = ran.out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 110
    told = json.loads(cli("demo", "-o", tmp_path, "--seed", 1, "--no-page", "--json").out)
    for name in told["hidden"]:
        assert name in ran.out
    for scores in told["methods"].values():
        assert f"{scores['unseen_f1']:.2f}" in ran.out


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
    ran = cli("demo", "-o", tmp_path, "--json", "--no-page")
    assert ran.code == 0, ran.err
    assert set(json.loads(ran.out)["methods"]) == {"smoothfeats"}
    assert "Left out, because torch is not installed: a GCN" in ran.err
    assert "pip install 'unseen[neural]'" in ran.err


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_the_page_shows_the_vectors_that_the_demo_recommends(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, "smoothfeats", "rect-plus")
    assert cli("demo", "-o", tmp_path).code == 0
    assert "Vectors by rect-plus, map by t-SNE" in (tmp_path / "explorer.html").read_text("utf-8")
