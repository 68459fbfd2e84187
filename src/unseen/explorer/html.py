"""The page itself: one file, which may run its own script and do nothing else; and its writing."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib import resources
from pathlib import Path

import unseen
from unseen.data.files import AnyPath, atomic_path
from unseen.errors import counted, logger
from unseen.explorer.build import MAX_NODES, build_page
from unseen.explorer.content import Content, as_json
from unseen.explorer.layout import Progress
from unseen.explorer.subject import Subject
from unseen.randomness import RandomState

SCRIPTS = (
    *("data", "elements", "channel", "draw", "map", "moves", "pictures", "selection", "panels"),
    *("panel-classes", "panel-questions", "panel-selection", "panel-labels", "panel-node"),
    *("table", "answers", "progress", "legend", "search", "main"),
)
"""The scripts of a page, in the order in which they run."""


def write_explorer(
    subject: Subject,
    path: AnyPath,
    *,
    title: str,
    max_nodes: int = MAX_NODES,
    random_state: RandomState = 0,
    on_progress: Progress = None,
) -> Path:
    """Write the explorer page, whole or not at all, and return where it is; the same seed gives the same file.

    Parameters
    ----------
    subject : Subject
        What the page is about.
    path : str or path
        The file, by custom ``.html``.
    title : str
        Its heading.
    max_nodes : int
        Of more nodes than this a random sample is drawn, with all that the panels name.
    random_state : None, int or Generator
        Seed of the sample and of the map.
    on_progress : callable or None
        Called with the progress of the map.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, unseen
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder) / "page.html"
    ...     page = write_explorer(Subject(unseen.Embedding(np.eye(4))), target, title="Four nodes")
    ...     page.read_text().startswith("<!doctype html>")
    True
    """
    page = build_page(
        subject, title=title, max_nodes=max_nodes, random_state=random_state, on_progress=on_progress
    )
    content, target = render_page(page).encode("utf-8"), Path(path)
    with atomic_path(target) as temporary:
        temporary.write_bytes(content)
    nodes = counted(len(page["ids"]), "node")
    logger.info("%s: %s, %.1f MB, opens in any browser", target, nodes, len(content) / 1e6)
    return target


def render_page(page: Content, *, connect: bool = False) -> str:
    """Return the HTML of a page; it needs no other file and no network, and its policy forbids both.

    With `connect` it may ask the server that it came from.

    Examples
    --------
    >>> render_page({"title": "No nodes"})[:15]
    '<!doctype html>'
    """
    before, after, _ = frame_content(page["title"], connect=connect)
    return before + as_json(page) + after


def render_widget() -> str:
    """Return the module of the widget for notebooks: the page without its content, and the frame around it."""
    before, after, _ = map(json.dumps, frame_content("unseen"))
    return f"const BEFORE = {before},\n  AFTER = {after};\n{_read('widget.js')}"


def frame_content(title: str, *, connect: bool = False) -> tuple[str, str, str]:
    """Return the HTML before and after the content of a page, and its policy.

    The page may run its own script and use its own style; with `connect` it may ask its own server.
    """
    style, body = _read("style.css"), "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    script = f'"use strict";\n(() => {{\n{body}\n}})();\n'
    own, server = [f"script-src '{_hash(script)}'", f"style-src '{_hash(style)}'"], "connect-src 'self'"
    rules = [
        "default-src 'none'",
        *own,
        *([server] if connect else []),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    policy, safe = "; ".join(rules), html.escape(title.encode("utf-8", "replace").decode("utf-8"))
    texts = {"POLICY": policy, "VERSION": html.escape(unseen.__version__), "TITLE": safe}
    texts |= {"STYLE": style, "SCRIPT": script}
    # Cut at the marks once, so that no filled-in text can be taken for a mark.
    pieces = _read("page.html").split("@@")
    at = pieces.index("DATA")
    pieces = [texts[piece] if k % 2 and k != at else piece for k, piece in enumerate(pieces)]
    return "".join(pieces[:at]), "".join(pieces[at + 1 :]), policy


def _read(name: str) -> str:
    return (resources.files("unseen.explorer") / "page" / name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
