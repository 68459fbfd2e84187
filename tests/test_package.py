"""The package as a whole: imports point one way and stay fast, names resolve, the version has one source."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import unseen

SOURCE = Path(unseen.__file__).parent
ROOT = SOURCE.parent.parent
LAYERS = [
    {
        "errors",
        "plugins",
        "ids",
        "weights",
        "randomness",
        "params",
        "graph",
        "relations",
        "labels",
        "certificate",
        "splits",
        "embedding",
        "notebook",
    },
    {"data"},
    {"engine"},
    {"linalg"},
    {"methods"},
    {"evaluation"},
    {"scale", "discovery", "explorer", "transformer", "anndata"},
    {"demo"},
    {"cli"},
]


def _level(module: str) -> int:
    part = module.split(".")[1] if "." in module else ""
    return next((k for k, names in enumerate(LAYERS) if part in names), len(LAYERS))


def _top_level_imports(path: Path) -> list[str]:
    """Imports that run when the module is loaded: not those inside functions or TYPE_CHECKING blocks."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("unseen."):
            found.append(node.module)
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.startswith("unseen.")]
    return found


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_one_way(path: Path) -> None:
    module = "unseen." + ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    if path.parent == SOURCE and path.name in ("__init__.py", "__main__.py"):
        return
    for imported in _top_level_imports(path):
        assert _level(imported) <= _level(module), f"{module} must not import {imported}"


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_module_of_the_product_imports_the_paper(path: Path) -> None:
    """Neither at its top nor inside a function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("unseen_paper") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not (node.module or "").startswith("unseen_paper")


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
