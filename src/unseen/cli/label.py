"""`unseen label`: the labelling app, a page of this machine's own server on which answers are given and saved."""

from __future__ import annotations

import contextlib
import signal
import tempfile
import threading
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from unseen.cli import options
from unseen.cli.explore import BUDGET, PageOptions, find_subject, page_arguments
from unseen.cli.inputs import NewClasses, Search
from unseen.cli.output import progress, say
from unseen.cli.suggest import RandomQuestions
from unseen.errors import UsageError, logger, need_library
from unseen.params import Limits

if TYPE_CHECKING:
    from unseen.explorer.content import Content
    from unseen.explorer.label.store import Store
    from unseen.explorer.subject import UpdateJob


@options.command
def label(
    source: options.Source,
    *,
    save: Annotated[
        Path | None, "File of labels to write (.csv or .tsv); the one of --labels if not given."
    ] = None,
    port: Annotated[int, Limits(0, 65535), "Port to listen on; 0 takes a free one."] = 0,
    host: Annotated[str, "Address to listen on; others than this machine's can be reached."] = "127.0.0.1",
    no_browser: Annotated[bool, "Do not open a browser."] = False,
    budget: Annotated[int, Limits(1), "Number of nodes to suggest at once."] = BUDGET,
    random: RandomQuestions = 5,
    shown: PageOptions,
    new: NewClasses,
    search: Search,
) -> None:
    """Label nodes in your browser; the list of missing classes is updated as you go."""
    for library in ("starlette", "uvicorn"):
        need_library(library, "the labelling app", "label")
    from unseen.explorer.label.server import LOOPBACK, App, listen, serve
    from unseen.explorer.label.session import Updater
    from unseen.explorer.label.store import check_file, lock_file

    path = _choose_file(source, save, search)
    check_file(path)
    with contextlib.closing(listen(host, port)) as sock, lock_file(path):
        if host not in LOOPBACK:
            logger.warning(
                "%s can be reached from other machines: anyone with the address can change the labels", host
            )
        store, page, job = _prepare(source, path, search, new, (budget, random), shown)
        app = App(page, store, Updater(job), (host, sock.getsockname()[1]))
        signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
        with tempfile.TemporaryDirectory(prefix="unseen-") as folder:
            serve(app, sock, lambda: _open_page(app.url, None if no_browser else Path(folder)))
    logger.info(
        "the labels are in %s" if path.exists() else "no answer was given, so %s was not written", path
    )


def _choose_file(source: str, save: Path | None, search: Search) -> Path:
    """Return the file that answers are written to."""
    given = search.labels or []
    if save is not None:
        return save
    if given and (search.hides or len(given) > 1):
        hidden = "labels are hidden, which must not be lost from their file"
        why = hidden if search.hides else "labels come from several files"
        msg = f"{why}: name the file for all labels with --save FILE"
        raise UsageError(msg)
    if given:
        return given[0]
    path = Path(f"{Path(source).name.split('.')[0]}-labels.csv")
    logger.info("answers will be written to %s", path)
    return path


def _prepare(
    source: str, path: Path, search: Search, new: NewClasses, sizes: tuple[int, int], shown: PageOptions
) -> tuple[Store, Content, UpdateJob]:
    """Return the labels so far, the page that shows them, and what an update needs."""
    from unseen.discovery.audit import doubts_of
    from unseen.explorer import build_page
    from unseen.explorer.label.store import Store
    from unseen.explorer.subject import UpdateJob
    from unseen.ids import as_ids

    method = search.choose_method(search.seed)
    data = search.load(source)
    start, arguments = page_arguments(search, data, sizes[0], new)
    extras = shown.read(search)
    is_source = path.resolve() in [file.resolve() for file in search.labels or []]
    if path.exists() and not is_source:
        logger.info("%s exists already: its labels are used", path)
    store = Store(path, data.graph.node_ids.tolist(), None if is_source else start, search.reading())
    labels, arguments = store.labels().align_to(data.graph), {**arguments, "random": sizes[1]}
    subject = find_subject(data, labels, method, arguments)
    doubts = doubts_of(data.graph, labels, subject.embedding, search.seed)
    subject = replace(subject, doubts=doubts, **extras)
    title, seed = f"{data.name}: what do the labels miss?", search.seed
    with progress("drawing the map") as move:
        page = build_page(
            subject, title=title, max_nodes=shown.max_nodes, random_state=seed, on_progress=move
        )
    # the default method uses no labels, and chooses its smoothing by them
    vectors = None if method is None else subject.embedding
    return store, page, UpdateJob(data.graph, vectors, as_ids(page["ids"]), arguments)


def _open_page(url: str, folder: Path | None) -> None:
    """Print the address, alone on a line, and open it in a browser by way of a file in a folder of the user alone.

    All users of a machine see the command lines of its processes, and the address has the secret in it.
    """
    say(url)
    logger.info("press Ctrl-C to stop; an answer is saved as soon as the page says so")
    if folder is not None:
        page = folder / "open.html"
        page.touch(mode=0o600)
        page.write_text(f'<meta http-equiv="refresh" content="0; url={url}">', encoding="ascii")
        threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
