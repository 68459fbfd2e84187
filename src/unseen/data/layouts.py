"""How a single file is read: its delimiter, its header, and the columns that are taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unseen.data.features import FeatureReader
from unseen.data.headers import HEADER_HINT
from unseen.data.ids import Numbering, id_column
from unseen.data.options import Options
from unseen.data.pieces import Reader, describe_ignored, read_whole
from unseen.data.roles import EdgeReader, LabelReader, NodeReader, TextReader
from unseen.ids import IdArray

_READERS: dict[str, Any] = {
    "edges": EdgeReader,
    "nodes": NodeReader,
    "features": FeatureReader,
    "labels": LabelReader,
    "text": TextReader,
}


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
        known = Numbering()
        known.number(id_column(known_ids, "known_ids"))
        read_whole(reader, known)
    names, layout = reader.names, reader.layout
    columns = {meaning: names[k] if names else k for meaning, k in reader.positions.items()}
    notices = [reader.notice, describe_ignored(reader.name, reader.ignored or ())]
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
