"""What users install: the wheels (built from the sdists), and a clone, in environments of their own.

``make release`` runs these tests on the files of the release: UNSEEN_DIST names their folder.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

import unseen
from scenarios.strangers import make_shop
from scenarios.test_newcomer import label_to_the_end
from unseen.explorer.html import SCRIPTS

ROOT = Path(unseen.__file__).parents[2]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (ROOT / "pyproject.toml").exists(), reason="needs the source tree, this is an installed copy"
    ),
]


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=540
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if "UNSEEN_DIST" in os.environ:
        return Path(os.environ["UNSEEN_DIST"]).resolve()
    pytest.importorskip("build", reason="install the dev extra to build distributions")
    out = tmp_path_factory.mktemp("dist")
    for source in (ROOT, ROOT / "paper"):
        run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source)
    return out


def test_wheel_and_sdist_hold_what_they_must(dist: Path) -> None:
    (wheel,) = dist.glob("unseen-*.whl")
    (sdist,) = dist.glob("unseen-*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        metadata = next(name for name in inside if name.endswith("METADATA"))
        text = archive.read(metadata).decode()
    files = "py.typed data/debian.npz data/DEBIAN.md explorer/page/page.html explorer/page/style.css"
    assert {f"unseen/{file}" for file in files.split()} <= inside
    scripts = {f"unseen/explorer/page/{name}.js" for name in (*SCRIPTS, "widget")}
    assert scripts == {name for name in inside if name.endswith((".js", ".ts"))}
    assert not any(name.startswith("unseen/explorer/page/") and name.endswith(".json") for name in inside)
    others = ("tests/", "tools/", "docs/", "paper/", "unseen_paper/")
    assert not any(name.startswith(others) for name in inside)
    assert {name.partition("/")[0] for name in inside} == {"unseen", f"unseen-{unseen.__version__}.dist-info"}
    assert f"Version: {unseen.__version__}" in text
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    own = "LICENSE README.md pyproject.toml constraints.txt conftest.py tests/oracles/rsdne.py"
    assert set(own.split()) <= names


def test_the_index_would_take_them_and_the_readme_renders(dist: Path) -> None:
    pytest.importorskip("twine", reason="install the dev extra to check distributions")
    files = [*dist.glob("*.whl"), *dist.glob("*.tar.gz")]
    assert "FAILED" not in run(sys.executable, "-m", "twine", "check", "--strict", *files)


def test_the_paper_is_a_distribution_of_its_own(dist: Path) -> None:
    (wheel,) = dist.glob("unseen_paper-*.whl")
    (sdist,) = dist.glob("unseen_paper-*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        entries = archive.read(next(name for name in inside if name.endswith("entry_points.txt"))).decode()
    files = "py.typed experiments/data/paper_f1.csv data/published.json"
    assert {f"unseen_paper/{file}" for file in files.split()} <= inside
    assert all(name.startswith("unseen_paper") for name in inside)
    assert {"[unseen.commands]", "bench = unseen_paper.cli.bench:bench"} <= set(entries.splitlines())
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "tests/test_results_page.py", "docs/results/runs.csv"} <= names


def install(home: Path, line: str, folder: Path) -> Path:
    """Make an environment, install by the words of `line` after "pip install" in `folder`, and return its programs."""
    run(sys.executable, "-m", "venv", home)
    python, words = home / "bin" / "python", shlex.split(line)
    if os.environ.get("CI") == "true":  # everything from the index, as a user gets it
        run(python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", *words, cwd=folder)
    else:  # the dependencies of this environment, without its editable copy of the package
        run(python, "-m", "pip", "install", "-q", "--no-deps", *words, cwd=folder)
        site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = run(python, "-c", "import unseen; print(unseen.__file__)", cwd=home).strip()
    assert Path(where).is_relative_to(home)
    return home / "bin"


def run_the_commands_of_the_readme(programs: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    monkeypatch.chdir(folder)
    label_to_the_end(make_shop(folder), lambda *words: run(programs / "unseen", *words, cwd=folder))


def test_the_wheel_runs_the_commands_of_the_readme_in_an_empty_environment(
    dist: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (wheel,) = dist.glob("unseen-*.whl")
    programs = install(tmp_path / "empty", f"'{wheel}[viz,label]'", tmp_path)
    assert run(programs / "unseen", "--version").strip() == f"unseen {unseen.__version__}"
    shown = json.loads(run(programs / "unseen", "demo", "--json", "-q", cwd=tmp_path))
    assert shown["dataset"] == "debian"
    assert len(shown["hidden"]) == 3
    assert set(shown["methods"]["smoothfeats"]) == {"micro_f1", "macro_f1", "seen_f1", "unseen_f1", "seconds"}
    vectors = [path for path in (tmp_path / "unseen-demo").iterdir() if path.suffix != ".html"]
    assert len(vectors) == len(shown["methods"])
    run_the_commands_of_the_readme(programs, tmp_path / "shop", monkeypatch)
    (paper,) = dist.glob("unseen_paper-*.whl")
    run(programs / "python", "-m", "pip", "install", "-q", "--no-deps", paper)
    assert "guarantees" in run(programs / "unseen", "bench", "--help")


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the repository, this is an installed copy")
def test_a_fresh_clone_installs_by_the_line_of_the_readme_and_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = '".[viz,label]"'
    assert f"pip install {line}" in (ROOT / "README.md").read_text(encoding="utf-8")
    run("git", "clone", "-q", ROOT, tmp_path / "clone")
    programs = install(tmp_path / "environment", line, tmp_path / "clone")
    run_the_commands_of_the_readme(programs, tmp_path / "shop", monkeypatch)
