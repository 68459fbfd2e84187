"""The page itself: one file, which may run its own script and do nothing else; and its writing."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import unseen
from unseen.data.files import AnyPath, atomic_path
from unseen.errors import counted, logger
from unseen.explorer.build import MAX_NODES, Subject, build_page
from unseen.explorer.content import Content, as_json
from unseen.explorer.layout import Progress
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
    """Write the explorer page, whole or not at all, and return where it is.

    Parameters
    ----------
    path : str or path
        The file, by custom ``.html``.
    subject, title, max_nodes, random_state, on_progress
        As for :func:`build_page`; the same seed gives the same file.

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
    content = render_page(page).encode("utf-8")
    target = Path(path)
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
    title = html.escape(page["title"].encode("utf-8", "replace").decode("utf-8"))
    before, after = _frame_of_content(title, make_policy(connect=connect))
    return before + as_json(page) + after


def render_widget() -> str:
    """Return the module of the widget for notebooks: the page without its content, and the frame around it."""
    before, after = (json.dumps(part) for part in _frame_of_content("unseen", make_policy()))
    return f"const BEFORE = {before},\n  AFTER = {after};\n{(_folder() / 'widget.js').read_text('utf-8')}"


def _frame_of_content(title: str, policy: str) -> tuple[str, str]:
    """Return the HTML before and after the content of a page."""
    style, script = _style_and_script()
    version = html.escape(unseen.__version__)
    filled = {"POLICY": policy, "VERSION": version, "TITLE": title, "STYLE": style, "SCRIPT": script}
    # Cut at the marks once, so that no filled-in text can be taken for a mark.
    pieces = (_folder() / "page.html").read_text("utf-8").split("@@")
    at = pieces.index("DATA")
    texts = [filled[piece] if k % 2 and k != at else piece for k, piece in enumerate(pieces)]
    return "".join(texts[:at]), "".join(texts[at + 1 :])


def make_policy(*, connect: bool = False) -> str:
    """Return what a page may do: run its own script and use its own style; with `connect` ask its own server."""
    style, script = _style_and_script()
    parts = ["default-src 'none'", f"script-src '{_hash(script)}'", f"style-src '{_hash(style)}'"]
    own = ["connect-src 'self'"] if connect else []
    return "; ".join([*parts, *own, "base-uri 'none'", "form-action 'none'"])


def _folder() -> Traversable:
    return resources.files("unseen.explorer") / "page"


def _style_and_script() -> tuple[str, str]:
    body = "\n".join((_folder() / f"{name}.js").read_text("utf-8") for name in SCRIPTS)
    return (_folder() / "style.css").read_text("utf-8"), f'"use strict";\n(() => {{\n{body}\n}})();\n'


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
