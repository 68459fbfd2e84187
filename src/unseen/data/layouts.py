"""How single files are read: their headers, the columns that are taken, and what is said about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from unseen.data.build import Report
from unseen.data.columns import given_names, listed, missing_column
from unseen.data.features import FeatureReader
from unseen.data.headers import HEADER_HINT
from unseen.data.ids import id_column
from unseen.data.options import Options
from unseen.data.pieces import Piece, Reader
from unseen.data.roles import EdgeReader, LabelReader, NodeReader, TextReader
from unseen.data.sources import show_path
from unseen.errors import logger
from unseen.ids import IdArray

_READERS: dict[str, Any] = {
    "edges": EdgeReader,
    "nodes": NodeReader,
    "features": FeatureReader,
    "labels": LabelReader,
    "text": TextReader,
}


def load_alone(reader: Reader[Piece], known: Sequence[pa.Array] = (), *, n_bytes: int | None = None) -> Piece:
    """Return all of one source; `known` are the ids of others, by which its header is judged."""
    before = reader.report.comments
    reader.load(n_bytes)
    comments = Report(comments=reader.report.comments - before)
    if comments.losses():
        logger.info("%s: %s", show_path(reader.name), *comments.losses())
    require_columns([reader], reader.options)
    piece = reader.whole(known)
    tell_ignored([reader])
    return piece


@dataclass(frozen=True)
class FileLayout:
    """How one file is read.

    Attributes
    ----------
    delimiter : str or None
        Between the columns of text; a blank stands for any run of blanks and tabs. None: one column, or not text.
    has_header : bool
        Whether the first row names the columns.
    names : tuple of str
        The names of all columns; empty without a header.
    columns : dict
        From what is read (``src``, ``dst``, ``weight``, ``type``; ``node``, ``label``) to the name of its column, or to
        its position where there is no header.
    notices : tuple of str
        What a user should know about these choices.
    """

    delimiter: str | None
    has_header: bool
    names: tuple[str, ...]
    columns: dict[str, str | int]
    notices: tuple[str, ...]


def inspect_file(
    path: Any, role: str, options: Options | None = None, known_ids: Sequence[Any] | IdArray | None = None
) -> FileLayout:
    r"""Return how a file is read: its delimiter, whether it has a header, and which columns are taken for what.

    Every command reads files by these same rules.

    Parameters
    ----------
    path : path or table
        As for :func:`read`.
    role : {"edges", "nodes", "features", "labels", "text"}
        What the file is read as.
    options : Options, optional
        How files are read.
    known_ids : sequence of ids, optional
        Ids of other files. With these, a first row whose id is the only unknown one is a header, and the whole file is
        read; without them, its first lines.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = path.write_text("product_id,category\nP1,garden\nP2,kitchen\n")
    >>> layout = inspect_file(path, "labels")
    >>> layout.has_header, layout.columns
    (True, {'node': 'product_id', 'label': 'category'})
    """
    reader: Reader[Any] = _READERS[role](path, options)
    if known_ids is None:
        reader.inspect()
    else:
        load_alone(reader, [id_column(known_ids, "known_ids")])
    names, layout = reader.names, reader.layout
    columns = {meaning: names[k] if names else k for meaning, k in reader.positions.items()}
    notices = [reader.notice, _ignored_notice(reader.name, reader.ignored or ())]
    if layout is not None and layout.first is not None and role != "nodes":
        cells = ", ".join(layout.first)
        notices.append(f"{reader.first_place} ({cells}) is read as data{HEADER_HINT}")
    return FileLayout(
        None if layout is None else layout.delimiter,
        bool(names),
        names,
        columns,
        tuple(notice for notice in notices if notice),
    )


def require_columns(readers: Sequence[Reader[Any]], options: Options) -> None:
    """Raise the error for a column that the user named and none of the files that may have it has."""
    given = {(usual, name) for reader in readers for usual, name in given_names(reader.role, options).items()}
    for usual, name in sorted(given):
        fitting = [reader for reader in readers if usual in given_names(reader.role, reader.options)]
        if fitting and not any(name in reader.names for reader in fitting):
            file = fitting[0]
            raise missing_column(usual, name, file.name, file.names or file.first or ())


def tell_ignored(readers: Sequence[Reader[Any]]) -> None:
    """Log the columns of each file that no role uses; the edges of a network are a table of their own."""
    files: dict[tuple[str, bool], list[tuple[str, ...] | None]] = {}
    for reader in readers:
        files.setdefault((reader.name, reader.role == "edges"), []).append(reader.ignored)
    for (name, _), ignored in files.items():
        lists = [columns for columns in ignored if columns is not None]
        if len(lists) == len(ignored):
            notice = _ignored_notice(name, [c for c in lists[0] if all(c in other for other in lists)])
            if notice:
                logger.info("%s", notice)


def _ignored_notice(name: str, columns: Sequence[str]) -> str:
    noun = "column" if len(columns) == 1 else "columns"
    return f"{show_path(name)}: ignored {noun}: {listed(columns)}" if columns else ""
