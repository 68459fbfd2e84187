"""The commands and the Python of a how-to page, which are run where its libraries are."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

from unseen.cli.app import run

HOWTO = Path(__file__).parents[2] / "docs" / "howto"


def run_page(page: str, **names: Any) -> dict[str, Any]:
    """Run every block of a page in the present folder, in their order; return the names that its Python leaves."""
    text = (HOWTO / page).read_text(encoding="utf-8")
    for kind, block in re.findall(r"(?ms)^```(python|console)\n(.*?)^```$", text):
        if kind == "python":
            exec(compile(block, page, "exec"), names)
        for line in re.findall(r"(?m)^\$ unseen (.*)$", block):
            assert run(shlex.split(line)) == 0, line
    return names
