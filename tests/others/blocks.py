"""The Python of a how-to page, which is run where its libraries are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

HOWTO = Path(__file__).parents[2] / "docs" / "howto"


def run_page(page: str, **names: Any) -> dict[str, Any]:
    """Run every block of Python of a page in the present folder; return the names it leaves."""
    text = (HOWTO / page).read_text(encoding="utf-8")
    for block in re.findall(r"(?ms)^```python\n(.*?)^```$", text):
        exec(compile(block, page, "exec"), names)
    return names
