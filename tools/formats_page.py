"""Bring the table of formats in docs/formats.md up to date with `FORMATS`: `tools/formats_page.py`."""

from __future__ import annotations

import re
from pathlib import Path

from unseen.data.sources import FORMATS

PAGE = Path(__file__).parents[1] / "docs" / "formats.md"
MARKED = re.compile(r"(?s)(<!-- formats -->\n)(.*?)(<!-- end of formats -->)")


def filled(page: str) -> str:
    """Return the page with the table of all formats."""
    rows: dict[str, tuple[list[str], list[str], list[str]]] = {}
    for each in FORMATS:
        suffixes, roles, written = rows.setdefault(each.name, ([], [], []))
        for listed, new in ((suffixes, each.suffixes), (roles, each.roles), (written, each.writers)):
            listed += [one for one in new if one and one not in listed]
    lines = ["| format | names of files | read as | written |", "|---|---|---|---|"]
    lines += [f"| {name} | {' | '.join(', '.join(part) for part in parts)} |" for name, parts in rows.items()]
    return MARKED.sub(lambda found: found[1] + "\n".join(lines) + "\n" + found[3], page)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
