"""The package as a whole: imports point one way and stay fast, names resolve, the version has one source."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

import unseen

SOURCE = Path(unseen.__file__).parent
ROOT = SOURCE.parent.parent
VALUES = "errors plugins ids weights randomness params graph relations labels certificate splits embedding notebook"
LAYERS = [
    set(VALUES.split()),
    *({name} for name in ("data", "engine", "linalg", "methods", "evaluation")),
    {"scale", "discovery", "explorer", "transformer", "anndata"},
    {"demo"},
    {"cli"},
]


def _level(module: str) -> int:
    part = module.split(".")[1] if "." in module else ""
    return next((k for k, names in enumerate(LAYERS) if part in names), len(LAYERS))


def _imports(nodes: Iterable[ast.AST]) -> list[str]:
    found = []
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return found


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_one_way(path: Path) -> None:
    """At the top of a module; nowhere is the paper's package imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not [name for name in _imports(ast.walk(tree)) if name.startswith("unseen_paper")]
    module = "unseen." + ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    if module not in ("unseen.__init__", "unseen.__main__"):
        for imported in _imports(tree.body):  # not those inside functions or TYPE_CHECKING blocks
            if imported.startswith("unseen."):
                assert _level(imported) <= _level(module), f"{module} must not import {imported}"


def _run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def test_import_stays_light() -> None:
    heavy = ["torch", "sklearn", "pyarrow", "pandas", "matplotlib", "plotly", "openTSNE", "networkx"]
    heavy += ["dask", "numba", "rich", "typer"]
    code = f"import sys, unseen; print([m for m in {heavy} if m in sys.modules])"
    assert _run(code).strip() == "[]"


@pytest.mark.slow
def test_help_loads_no_numerical_library() -> None:
    code = (
        "import sys\nfrom unseen.cli.app import run\nassert run(['--help']) == 0\n"
        "print([m for m in ['numpy', 'scipy', 'torch', 'sklearn', 'pyarrow'] if m in sys.modules], file=sys.stdout)"
    )
    assert _run(code).strip().splitlines()[-1] == "[]"


def test_every_public_name_resolves_and_is_documented() -> None:
    for name in unseen.__all__:
        value = getattr(unseen, name)
        if name != "__version__":
            assert ">>> " in (value.__doc__ or ""), f"{name} has no example in its docstring"
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        unseen.nonsense  # noqa: B018
    assert set(unseen.__all__) == set(dir(unseen))


def test_the_version_has_one_source() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert unseen.__version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert unseen.__version__ in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert (SOURCE / "py.typed").exists()
