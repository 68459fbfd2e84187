"""Print the lower bounds of pyproject.toml as exact versions, without torch: ``tools/oldest.py > oldest.txt``."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

LEFT_OUT = (
    "torch",
    "torch-geometric",
    "dask",
    "distributed",
    "selenium",
    "ruff",
    "mypy",
    "build",
    "hatchling",
)
"""Gigabytes, or tools that no quick test needs."""


def pins(project: dict[str, object]) -> list[str]:
    """Return ``name==version`` for each dependency of the product and of its quick tests."""
    extras = project["optional-dependencies"]
    listed = [
        *project["dependencies"],
        *(each for name in ("viz", "scale", "formats", "label", "dev") for each in extras[name]),
    ]  # type: ignore[index, misc]
    bounds = dict(each.split(">=") for each in listed if ">=" in each)
    return [f"{name}=={version}" for name, version in sorted(bounds.items()) if name not in LEFT_OUT]


if __name__ == "__main__":
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    sys.stdout.write("\n".join(pins(tomllib.loads(text)["project"])) + "\n")
