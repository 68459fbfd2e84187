"""The core in an environment of its own, as ``pip install .`` makes it: no torch, and everything else works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import unseen

ROOT = Path(unseen.__file__).parents[2]
pytestmark = pytest.mark.slow


def run(*words: object, cwd: Path | None = None) -> str:
    """Run a command without this interpreter's paths, and return what it prints."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, env=environment, cwd=cwd, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of a new environment with the core, and pytest."""
    if not (ROOT / "constraints.txt").exists():
        pytest.skip("needs the source tree, this is an installed copy")
    folder = tmp_path_factory.mktemp("core")
    run(sys.executable, "-m", "venv", folder)
    interpreter = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = (interpreter, "-m", "pip", "install", "-q", "--disable-pip-version-check")
    run(*pip, "-c", ROOT / "constraints.txt", ROOT, "pytest")
    return interpreter


def test_there_is_no_torch(python: Path) -> None:
    installed = run(python, "-m", "pip", "list", "--format", "freeze").lower()
    assert "unseen==" in installed
    for extra in ("torch", "opentsne", "matplotlib", "duckdb", "networkx", "dask"):
        assert f"\n{extra}==" not in installed


@pytest.mark.parametrize(
    "words",
    [
        "embed debian --unseen mail --label-rate 0.1 -o v.parquet",
        "discover debian --unseen mail --label-rate 0.1",
        "suggest debian --unseen mail --label-rate 0.1 --budget 2",
        "explore debian --unseen mail --label-rate 0.1 --max-nodes 200 -o page.html",
        "methods rect",
    ],
)
def test_the_commands_run(python: Path, words: str, tmp_path: Path) -> None:
    run(python, "-m", "unseen", *words.split(), cwd=tmp_path)
    if words.startswith("embed"):
        run(python, "-m", "unseen", "evaluate", "v.parquet", "--labels", "debian", cwd=tmp_path)


def test_the_contract_holds_for_the_methods_of_the_core(python: Path, tmp_path: Path) -> None:
    (tmp_path / "test_contract.py").write_bytes(
        (ROOT / "tests" / "methods" / "test_contract.py").read_bytes()
    )
    core = " or ".join(
        f"[{name}" for name in unseen.method_names() if not unseen.make_method(name)._traits.extra
    )
    told = run(
        python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", core, "test_contract.py", cwd=tmp_path
    )
    assert " passed" in told.splitlines()[-1]
    assert "failed" not in told.splitlines()[-1]
