"""The page itself: one file, which may run its own script and do nothing else."""

from __future__ import annotations

import base64
import hashlib
import html
from importlib import resources

from unseen.explorer.content import Page
from unseen.explorer.payload import payload


def render_page(page: Page) -> str:
    """Return the HTML of a page; it needs no other file and no network, and its policy forbids both.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.explorer.content import Category, Colouring
    >>> every = Colouring("node", "Node", (Category("a node"),), np.zeros(1, int))
    >>> render_page(Page("One node", "", ["a"], np.zeros((1, 2)), [every]))[:15]
    '<!doctype html>'
    """
    import unseen

    folder = resources.files("unseen.explorer") / "page"
    style = (folder / "style.css").read_text("utf-8")
    parts = sorted(file.name for file in folder.iterdir() if file.name.endswith(".js"))
    body = "\n".join((folder / name).read_text("utf-8") for name in parts)
    script = f'"use strict";\n(() => {{\n{body}\n}})();\n'
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    filled = {
        "POLICY": policy,
        "VERSION": html.escape(unseen.__version__),
        "TITLE": html.escape(page.title.encode("utf-8", "replace").decode("utf-8")),
        "STYLE": style,
        "DATA": payload(page),
        "SCRIPT": script,
    }
    # Cut at the marks once, so that no filled-in text can be taken for a mark.
    pieces = (folder / "page.html").read_text("utf-8").split("@@")
    return "".join(filled[piece] if k % 2 else piece for k, piece in enumerate(pieces))


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
