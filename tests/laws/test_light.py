"""What a small job costs: how many of our files it enters, what it imports, how often it opens a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import unseen
from unseen.errors import install_hint

PROBE = """
import json, sys
from inspect import CO_OPTIMIZED

words, watched, missing = json.loads(sys.argv[1])
entered, opened = set(), []

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

def listen(event, arguments):
    if event == "open" and str(arguments[0]) in watched:
        opened.append(str(arguments[0]))

def profile(frame, event, argument):
    if event == "call" and frame.f_code.co_flags & CO_OPTIMIZED:  # a function, not the body of a class or module
        entered.add(frame.f_code.co_filename)

sys.meta_path.insert(0, Missing())
sys.addaudithook(listen)
if words[0] == "python":
    exec(words[1])
    code = 0
else:
    from unseen.cli import main
    sys.setprofile(profile)
    try:
        main(words)
    except SystemExit as stop:
        code = stop.code
    sys.setprofile(None)
ours = [name for name in sys.modules if name.partition(".")[0] == "unseen"]
report = {"code": code, "entered": sorted(entered), "opened": opened, "ours": ours, "all": sorted(sys.modules)}
print(json.dumps(report))
"""
pytestmark = pytest.mark.slow  # each command is a process of its own
SOURCE = str(Path(unseen.__file__).parent)
NEVER = {"torch", "sklearn", "pandas", "matplotlib", "openTSNE", "networkx", "duckdb"}


def probe(
    *words: object, watched: list[Path] | None = None, missing: tuple[str, ...] = (), code: int = 0
) -> dict[str, Any]:
    """Run a command (or, after the word python, a script) in a process of its own and say what it did."""
    given = json.dumps([[str(word) for word in words], [str(path) for path in watched or []], missing])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(SOURCE).parent)}
    run = subprocess.run(
        [sys.executable, "-c", PROBE, given], capture_output=True, text=True, env=environment, check=False
    )
    assert run.returncode == 0, run.stderr
    report: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    assert report["code"] == code, run.stderr
    report["stderr"] = run.stderr
    return report


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "edges.csv").write_text("src,dst\n" + "".join(f"n{k},n{(k + 1) % 12}\n" for k in range(12)))
    (tmp_path / "features.csv").write_text(
        "node,x,y\n" + "".join(f"n{k},{k % 3},{k % 5}\n" for k in range(12))
    )
    (tmp_path / "labels.csv").write_text("node,label\n" + "".join(f"n{k},{'ab'[k % 2]}\n" for k in range(8)))
    return tmp_path


def words_of_embed(files: Path, method: str) -> list[object]:
    return [
        "embed", files / "edges.csv", "--features", files / "features.csv", "--labels", files / "labels.csv",
        "-m", method, "--dim", 2, "-o", files / "v.parquet",
    ]  # fmt: skip


def test_a_small_graph_goes_through_few_files(files: Path) -> None:
    report = probe(*words_of_embed(files, "mfdw"))
    entered = [path for path in report["entered"] if path.startswith(SOURCE)]
    assert len(entered) <= 47, "\n".join(entered)


def test_each_input_is_opened_once(files: Path) -> None:
    inputs = [files / name for name in ("edges.csv", "features.csv", "labels.csv")]
    report = probe(*words_of_embed(files, "rect-plus"), watched=inputs)
    assert sorted(report["opened"]) == sorted(str(path) for path in inputs)


def test_a_small_factorisation_imports_nothing_heavy(files: Path) -> None:
    report = probe(*words_of_embed(files, "mfdw"))
    assert not NEVER & set(report["all"])


def test_the_recommended_method_needs_few_modules_and_no_torch() -> None:
    script = """
import numpy as np, unseen
graph = unseen.Graph.from_edges(range(10), [(k + 1) % 10 for k in range(10)], features=np.eye(10))
labels = unseen.Labels.from_values(["a", "b"] * 5, graph.node_ids)
unseen.make_method("rect-plus", n_components=2, random_state=0).fit_transform(graph, labels)
"""
    report = probe("python", script)
    assert "torch" not in report["all"]
    assert len(report["ours"]) <= 34, "\n".join(report["ours"])


@pytest.mark.parametrize(
    "words",
    [
        ["embed", "debian", "-o", "v.docx"],
        ["discover", "debian", "-o", "nodes.docx"],
        ["suggest", "debian", "-o", "next.docx"],
        ["explore", "debian", "-o", "page.pdf"],
    ],
)
def test_a_wrong_suffix_is_refused_before_anything_heavy_is_imported(words: list[str]) -> None:
    report = probe(*words, code=1)
    assert not (NEVER | {"scipy", "pyarrow", "unseen.methods.base"}) & set(report["all"])


@pytest.mark.parametrize(
    "words",
    [
        ["embed", "debian", "-m", "smoothfeats", "-o", "v.parquet"],
        ["embed", "debian", "--unseen", "mail", "--label-rate", "0.1", "-o", "v.parquet"],
        ["discover", "debian", "--unseen", "mail", "--label-rate", "0.1"],
        ["suggest", "debian", "--unseen", "mail", "--label-rate", "0.1", "--budget", "2"],
        [
            "explore",
            "debian",
            "--unseen",
            "mail",
            "--label-rate",
            "0.1",
            "--max-nodes",
            "200",
            "-o",
            "p.html",
        ],
        ["demo", "--no-page", "-o", "demo"],
    ],
)
def test_the_core_runs_without_its_extras(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    extras = ("torch", "torch_geometric", "openTSNE", "matplotlib", "duckdb", "networkx", "pandas", "anndata")
    probe(*words, missing=extras)
    if words[0] == "embed":
        probe("evaluate", "v.parquet", "--labels", "debian", missing=extras)


def test_a_method_that_needs_torch_says_so_with_the_line_that_installs_it(files: Path) -> None:
    report = probe(*words_of_embed(files, "gcn"), missing=("torch",), code=1)
    assert install_hint("neural") in report["stderr"]
