"""Libraries that the project's environment cannot hold, each in an environment of its own: NAME.txt, NAME_checks.py."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import unseen
from environments import require_environment

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (ROOT / "tools").exists(), reason="needs the source tree, this is an installed copy"
    ),
]


@pytest.mark.parametrize(
    "name", sorted(path.name.removesuffix("_checks.py") for path in HERE.glob("*_checks.py"))
)
def test_checks_pass_with_the_real_library(name: str) -> None:
    python = require_environment(name)
    paths = [Path(unseen.__file__).parents[1], ROOT / "paper" / "src"]
    paths += [Path(each) for each in os.environ.get("PYTHONPATH", "").split(":") if each]
    # their warnings are not ours, and doctests are run elsewhere
    options = ["-p", "no:cacheprovider", "-o", "addopts=", "-o", "filterwarnings="]
    command = [python, "-m", "pytest", "-q", *options, HERE / f"{name}_checks.py"]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": ":".join(map(str, paths))},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
