"""Writing the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from unseen.data.files import AnyPath, atomic_path
from unseen.errors import logger
from unseen.explorer.build import MAX_NODES, Subject, build_page
from unseen.explorer.html import render_page
from unseen.randomness import RandomState


def write_explorer(
    subject: Subject,
    path: AnyPath,
    *,
    title: str,
    max_nodes: int = MAX_NODES,
    random_state: RandomState = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write the explorer page, whole or not at all, and return where it is.

    Parameters
    ----------
    subject : Subject
        What the page is about.
    path : str or path
        The file, by custom ``.html``.
    title : str
        Heading of the page.
    max_nodes : int
        Of more nodes than this a random sample is drawn.
    random_state : None, int or Generator
        Seed of the sample and of the map; the same seed gives the same file.
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
    content = render_page(page).encode("utf-8")
    target = Path(path)
    with atomic_path(target) as temporary:
        temporary.write_bytes(content)
    logger.info("%s: %d nodes, %.1f MB, opens in any browser", target, len(page.node_ids), len(content) / 1e6)
    return target
