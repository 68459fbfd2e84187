"""Build the site of docs/ and check the links inside it: `tools/build_docs.py FOLDER`. Warnings are errors."""

from __future__ import annotations

import resource
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from make_environment import make_environment

DOCS = Path(__file__).parents[1] / "docs"


class Page(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the links and the places of a tag."""
        values = {name: value for name, value in attrs if value}
        self.anchors.update(values[name] for name in ("id", "name") if name in values and tag != "meta")
        self.links += [values[name] for name in ("href", "src") if name in values]


def broken_links(site: Path) -> list[str]:
    """Return every link of a page below `site` that leads to no file of it, or to no place in a page."""
    pages = {
        path.resolve(): Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts
    }
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            missing = not goal.is_file() or (anchor and goal in pages and anchor not in pages[goal].anchors)
            if missing:
                broken.append(f"{path.relative_to(site.resolve())}: {link}")
    return broken


def main(folder: str) -> None:
    site = Path(folder)
    python = str(make_environment("scanpy"))  # a tutorial uses scanpy
    command = [python, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", str(DOCS), str(site)]
    if subprocess.run(command, check=False).returncode:
        sys.exit("the site has warnings, which are errors")
    broken = broken_links(site)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{site / 'index.html'}: {used.ru_utime + used.ru_stime:.0f} processor seconds")
    if broken:
        sys.exit("links that lead nowhere:\n" + "\n".join(broken))


if __name__ == "__main__":
    main(*sys.argv[1:])
