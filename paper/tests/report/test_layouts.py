"""Maps: numbers from the vectors, a second start that makes nothing twice, a figure with all panels."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import unseen
from unseen.evaluation import Score
from unseen_paper.experiments.catalog import Choice
from unseen_paper.experiments.plan import Run
from unseen_paper.report import layouts
from unseen_paper.report.layouts import neighbour_shares, write_layouts

CHOICE = Choice(["debian"], ["mfdw", "smoothfeats"], [0.1])


@pytest.fixture
def flat(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Random vectors and two columns of them in place of t-SNE; returns a list that grows with every map."""
    made: list[int] = []

    def lay_out(vectors: object, random_state: int) -> np.ndarray:
        made.append(random_state)
        return np.random.default_rng(0).normal(size=(vectors.shape[0], 2))

    def embed_and_score(run: Run, vectors: Path) -> tuple[unseen.Embedding, Score, float]:
        ids = unseen.load_dataset(run.dataset).graph.node_ids
        made = np.random.default_rng(0).normal(size=(len(ids), 4)).astype(np.float32)
        return (
            unseen.Embedding(made, ids, run.method, {}),
            Score(0.5, 0.4, {}, 0.5, 0.3, 1.0, "linear", 1, 1),
            2.0,
        )

    monkeypatch.setattr(layouts, "lay_out", lay_out)
    monkeypatch.setattr(layouts, "embed_and_score", embed_and_score)
    return made


def test_shares_count_own_class_and_other_hidden_classes() -> None:
    labels = unseen.Labels.from_values(["a", "a", "b", "b", "c", "c", None])
    apart = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1], [5.05]])
    assert neighbour_shares(apart, labels, ["b", "c"], k=1) == {
        "seen_purity": 1.0, "unseen_purity": 1.0, "unseen_mixed": 0.0,
    }  # fmt: skip
    mixed = np.array([[0.0], [0.1], [5.0], [9.0], [5.1], [0.2], [5.05]])
    shares = neighbour_shares(mixed, labels, ["b", "c"], k=1)
    assert shares["unseen_mixed"] == 0.75  # three of four: the last one sits with class a
    told = neighbour_shares(
        np.array([[0.0], [9.0], [5.0], [5.1], [9.1], [9.2], [0]]), labels, ["b"], train=[1], k=1
    )
    assert told["seen_purity"] == pytest.approx(1 / 3, abs=1e-4), "node 1 is not asked"


@pytest.mark.slow
def test_a_second_start_makes_no_map_again(tmp_path: Path, flat: list[int]) -> None:
    pytest.importorskip("matplotlib", reason="figures need the viz extra")
    rows, text = write_layouts(CHOICE, tmp_path)
    assert [row["method"] for row in rows] == ["mfdw", "smoothfeats"]
    assert len(flat) == 2
    again, same = write_layouts(CHOICE, tmp_path)
    assert len(flat) == 2
    assert same == text
    assert again == rows
    write_layouts(Choice(["debian"], ["rect"], [0.1]), tmp_path)
    assert len(flat) == 3
    assert write_layouts(CHOICE, tmp_path) == (rows, text), "a map of another method has not replaced these"
    assert len(flat) == 3
    write_layouts(Choice(["debian"], ["mfdw"], [0.3]), tmp_path)
    assert len(flat) == 4, "another label rate is another map"
    assert write_layouts(CHOICE, tmp_path) == (rows, text), "nor has a map at another label rate"
    assert len(flat) == 4


@pytest.mark.slow
def test_points_numbers_and_figure_are_written(tmp_path: Path, flat: list[int]) -> None:
    pytest.importorskip("matplotlib", reason="figures need the viz extra")
    (row,), text = write_layouts(Choice(["debian"], ["smoothfeats"], [0.1]), tmp_path, style="markdown")
    assert flat == [0]
    assert 0 < row["unseen_purity"] <= 1
    assert text.splitlines()[-1].startswith("| debian | 10% | smoothfeats | 0.")
    with (tmp_path / "layouts-debian-10.csv").open() as file:
        points = list(csv.DictReader(file))
    assert len(points) == 4852
    hidden = set(row["unseen"].split("|"))
    assert all((point["class"] in hidden) == (point["hidden"] == "1") for point in points)
    for suffix in (".svg", ".png"):
        assert (tmp_path / f"layouts-debian-10{suffix}").stat().st_size > 20_000


@pytest.mark.slow
def test_a_method_that_fails_leaves_the_others(
    tmp_path: Path, flat: list[int], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib", reason="figures need the viz extra")
    original = layouts.embed_and_score

    def broken(run: Run, vectors: Path) -> object:
        if run.method == "mfdw":
            msg = "no such luck"
            raise ValueError(msg)
        return original(run, vectors)

    monkeypatch.setattr(layouts, "embed_and_score", broken)
    rows, text = write_layouts(CHOICE, tmp_path)
    assert {row["method"]: row["error"] for row in rows} == {
        "smoothfeats": "",
        "mfdw": "ValueError: no such luck",
    }
    assert "mfdw" not in text
    assert "no such luck" in caplog.text
    assert "no such luck" in (tmp_path / "layouts-debian-10_numbers.csv").read_text()
    monkeypatch.setattr(layouts, "embed_and_score", original)
    rows, _ = write_layouts(CHOICE, tmp_path)
    assert [row["error"] for row in rows] == ["", ""], "a second start tries again"


@pytest.mark.slow
def test_every_rate_has_its_figure(tmp_path: Path, flat: list[int]) -> None:
    pytest.importorskip("matplotlib", reason="figures need the viz extra")
    rows, text = write_layouts(Choice(["debian"], ["smoothfeats"], [0.1, 0.5]), tmp_path)
    assert [row["label_rate"] for row in rows] == [0.1, 0.5]
    assert [line.split()[:2] for line in text.splitlines()[1:]] == [["debian", "10%"], ["debian", "50%"]]
    assert {path.name for path in tmp_path.glob("*.svg")} == {"layouts-debian-10.svg", "layouts-debian.svg"}


@pytest.mark.slow
def test_a_damaged_table_of_numbers_is_refused(tmp_path: Path, flat: list[int]) -> None:
    pytest.importorskip("matplotlib", reason="figures need the viz extra")
    write_layouts(CHOICE, tmp_path)
    path = tmp_path / "layouts-debian-10_numbers.csv"
    path.write_text(path.read_text()[:-20])
    with pytest.raises(
        unseen.InputError, match=r"_numbers\.csv, row 2: expected the columns dataset, label_rate,"
    ):
        write_layouts(CHOICE, tmp_path)
