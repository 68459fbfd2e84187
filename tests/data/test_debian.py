"""The bundled graph and the tool that builds it."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import lzma
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import unseen
from unseen.data.datasets import DEBIAN_COUNTS, DEBIAN_FILE, DEBIAN_SHA256, load_debian

TOOL = Path(__file__).resolve().parents[2] / "tools" / "build_debian_dataset.py"

FIELDS = ("Package", "Version", "Section", "Description")
INDEX: list[tuple[str, ...]] = [
    ("chess", "1.0-1", "games", "Board Game with 3D pieces", "Pre-Depends: dpkg",
     "Depends: chess-data (>= 1.0) [amd64], libc6 (>= 2.36), engine:any | strong-engine, chess",
     "Suggests: board,\n fonts-chess <!nocheck>"),
    ("chess-data", "1.0-1", "games", "board game, data files\n A long text: zebra zebra.", "Depends: chess"),
    ("engine", "2:1.0", "science", "The board engine for a game", "Provides: chess-engine"),
    ("strong-engine", "1.0", "math", "engine of C"),
    ("gui", "1.0", "web", "only a virtual package is needed, so there is no edge", "Depends: chess-engine"),
    ("board", "1.0~rc1-1", "games", "no edge in this version"),
    ("board", "1.0-1", "games", "board", "Enhances: fonts-chess"),
    ("board", "0.9-3", "web", "older"),
    ("fonts-chess", "1", "fonts", "piece font"),
    ("chess-doc", "1", "games", "board game documentation", "Depends: chess"),
    ("chess-dev", "1", "games", "board game headers", "Depends: chess"),
    ("chess-free", "1", "contrib/games", "board game", "Depends: chess"),
    ("libc6", "2.36", "libs", "board game"),
]  # fmt: skip
PACKAGES = "\n".join(
    "".join(f"{field}: {value}\n" for field, value in zip(FIELDS, row[:4], strict=True))
    + "".join(f"{line}\n" for line in row[4:])
    for row in INDEX
)


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("build_debian_dataset", TOOL)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def lines(array: np.ndarray) -> list[str]:
    return array.tobytes().decode().split("\n")


def test_graph_of_a_small_index(tool):
    arrays = tool.build([PACKAGES])
    names = lines(arrays["nodes"])
    assert names == ["board", "chess", "chess-data", "engine", "fonts-chess", "strong-engine"]
    edges = [f"{names[a]} {names[b]}" for a, b in zip(arrays["src"], arrays["dst"], strict=True)]
    to_chess = ["chess chess-data", "chess engine", "chess fonts-chess", "chess strong-engine"]
    assert sorted(edges) == ["board chess", "board fonts-chess", *to_chess]
    sections = lines(arrays["sections"])
    assert [sections[k] for k in arrays["section"]] == ["games", "games", "games", "science", "fonts", "math"]
    assert lines(arrays["words"]) == ["board", "game"]  # `engine` is in two packages only
    assert arrays["word_counts"].tolist() == [1, 2, 2, 2, 0, 0]
    assert arrays["word_columns"].tolist() == [0, 0, 1, 0, 1, 0, 1]
    update = "Package: board\nVersion: 1.0-1+deb12u1\nSection: editors\nSuggests: chess\nDescription: moved\n"
    one, two = tool.build([PACKAGES, update]), tool.build([update, PACKAGES])
    assert all(np.array_equal(one[key], two[key]) for key in one)
    assert lines(one["sections"])[one["section"][0]] == "editors"


def test_tool_reads_packed_indexes_and_writes_the_same_bytes(tool, tmp_path, capsys):
    (tmp_path / "Packages").write_text(PACKAGES)
    (tmp_path / "Packages.gz").write_bytes(gzip.compress(PACKAGES.encode()))
    (tmp_path / "Packages.xz").write_bytes(lzma.compress(PACKAGES.encode()))
    made = []
    for name in ("Packages", "Packages.gz", "Packages.xz"):
        assert tool.main([str(tmp_path / name), "-o", str(tmp_path / f"{name}.npz")]) == 0
        made.append((tmp_path / f"{name}.npz").read_bytes())
    assert made[0] == made[1] == made[2]
    shown = capsys.readouterr().out
    assert "6 packages, 6 edges" in shown
    assert hashlib.sha256(made[0]).hexdigest() in shown
    with np.load(tmp_path / "Packages.npz", allow_pickle=False) as arrays:
        assert lines(arrays["words"]) == ["board", "game"]


def test_the_bundled_graph_is_the_one_of_its_card():
    content, card = DEBIAN_FILE.read_bytes(), DEBIAN_FILE.with_name("DEBIAN.md").read_text(encoding="utf-8")
    assert len(content) <= 400_000
    assert hashlib.sha256(content).hexdigest() == DEBIAN_SHA256
    data = unseen.load_dataset("debian")
    graph, labels, ids = data.graph, data.labels, data.graph.node_ids.tolist()
    assert (graph.n_nodes, graph.n_edges) == (DEBIAN_COUNTS["nodes"], DEBIAN_COUNTS["edges"]) == (4852, 6928)
    assert graph.features.shape == (4852, DEBIAN_COUNTS["features"])
    assert labels.classes == tuple(sorted(labels.classes))
    assert len(labels.classes) == DEBIAN_COUNTS["classes"] == 12
    assert labels.node_ids.tolist() == ids == sorted(set(ids))
    assert not [name for name in ids if name.endswith(("-dev", "-dbg", "-doc"))]
    assert not graph.isolated.any()
    assert graph.n_self_loops == 0
    assert set(graph.features.data.tolist()) == {1.0}
    assert (np.asarray(graph.features.sum(axis=0)) >= 3).all()
    assert len(labels.labelled) == 4852
    for text in (
        DEBIAN_SHA256,
        f"({len(content):,} bytes)",
        "4,852 packages",
        "6,928, ",
        "1,659 binary words",
    ):
        assert text in card
    shown = dict(re.findall(r"\b([a-z]+) (\d+)(?=[, ])", card))
    assert {name: shown[name] for name in labels.classes} == dict(
        zip(labels.classes, map(str, labels.counts.tolist()), strict=True)
    )
    wordless = int((np.diff(graph.features.indptr) == 0).sum())
    assert f"{wordless} packages have none of them" in card
    row = {name: k for k, name in enumerate(ids)}
    column = {name: k for k, name in enumerate(graph.feature_names)}
    sections = [labels.classes[labels.codes[row[name]]] for name in ("gimp", "mutt", "0ad")]
    assert sections == ["graphics", "mail", "games"]
    assert graph.adjacency[row["0ad"], row["0ad-data"]] == graph.features[row["0ad"], column["strategy"]] == 1
    edges = graph.adjacency.tocoo()
    assert np.mean(labels.codes[edges.row] == labels.codes[edges.col]) == pytest.approx(0.846, abs=0.001)


def test_damaged_or_missing_bundled_file(tmp_path):
    (tmp_path / "debian.npz").write_bytes(DEBIAN_FILE.read_bytes()[:-1])
    for name, sentence in {
        "debian": "is not the file that was published",
        "nowhere": "cannot be read",
    }.items():
        with pytest.raises(unseen.DatasetError, match=f"{sentence}.* install the package again"):
            load_debian(tmp_path / f"{name}.npz")
