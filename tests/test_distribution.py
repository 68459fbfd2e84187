"""What users install: the wheel (built from the sdist) in an environment of its own runs the demo."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

import unseen

ROOT = Path(unseen.__file__).parents[2]

pytestmark = pytest.mark.skipif(
    not (ROOT / "pyproject.toml").exists(), reason="needs the source tree, this is an installed copy"
)


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=540
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("build", reason="install the dev extra to build distributions")
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT)
    return out


def test_wheel_and_sdist_hold_what_they_must(dist: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    (sdist,) = dist.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        metadata = next(name for name in inside if name.endswith("METADATA"))
        text = archive.read(metadata).decode()
    assert {"unseen/py.typed", "unseen/data/debian.npz", "unseen/data/DEBIAN.md"} <= inside
    assert {"unseen/explorer/page/page.html", "unseen/explorer/page/style.css"} <= inside
    assert not any(name.startswith(("tests/", "tools/", "docs/")) for name in inside)
    assert f"Version: {unseen.__version__}" in text
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", "constraints.txt", "tests/conftest.py"} <= names


def test_the_wheel_runs_the_demo_in_an_empty_environment(dist: Path, tmp_path: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    home = tmp_path / "empty"
    run(sys.executable, "-m", "venv", home)
    python = home / "bin" / "python"
    if os.environ.get("CI") == "true":  # everything from the index, as a user gets it
        run(python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel)
    else:  # the dependencies of this environment, without its editable copy of the package
        run(python, "-m", "pip", "install", "-q", "--no-deps", wheel)
        site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = run(python, "-c", "import unseen; print(unseen.__file__)", cwd=tmp_path).strip()
    assert Path(where).is_relative_to(home)
    assert run(home / "bin" / "unseen", "--version").strip() == f"unseen {unseen.__version__}"
    shown = json.loads(run(home / "bin" / "unseen", "demo", "--json", "-q", cwd=tmp_path))
    assert shown["dataset"] == "debian"
    assert len(shown["hidden"]) == 3
    assert set(shown["methods"]["smoothfeats"]) == {"micro_f1", "macro_f1", "seen_f1", "unseen_f1", "seconds"}
    vectors = [path for path in (tmp_path / "unseen-demo").iterdir() if path.suffix != ".html"]
    assert len(vectors) == len(shown["methods"])
