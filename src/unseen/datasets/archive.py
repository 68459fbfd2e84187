"""Reading published archives: only named members, into memory, within limits; nothing is unpacked to disk."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import PurePosixPath

from unseen.errors import DatasetError

MAX_MEMBERS = 1000
MAX_BYTES = 64 * 2**20


def read_members(
    content: bytes, wanted: Iterable[str], what: str, *, max_bytes: int = MAX_BYTES
) -> dict[str, bytes]:
    """Return the bytes of the wanted members of a zip file.

    An archive with a member that would leave its folder, with a link, or with more than `max_bytes`
    of unpacked content is refused as a whole: none of ours has such a thing.

    Examples
    --------
    >>> import io, zipfile
    >>> buffer = io.BytesIO()
    >>> with zipfile.ZipFile(buffer, "w") as archive:
    ...     archive.writestr("cora/graph.txt", "0 1")
    >>> read_members(buffer.getvalue(), ["cora/graph.txt"], "cora.zip")
    {'cora/graph.txt': b'0 1'}
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _require_harmless(archive.infolist(), what, max_bytes)
            return {name: _read(archive, name, what, max_bytes) for name in wanted}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        msg = f"the archive {what} cannot be read ({error}); it is damaged, or not a plain zip file"
        raise DatasetError(msg) from error


def _require_harmless(members: list[zipfile.ZipInfo], what: str, max_bytes: int) -> None:
    if len(members) > MAX_MEMBERS:
        msg = f"the archive {what} is refused: it has {len(members)} members, more than {MAX_MEMBERS}"
        raise DatasetError(msg)
    for member in members:
        # ZipInfo turns the system's separator into `/`; a backslash is a separator elsewhere.
        path = PurePosixPath(member.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in member.filename:
            msg = f"the archive {what} is refused: its member {member.filename!r} points outside of it"
            raise DatasetError(msg)
        if stat.S_ISLNK(member.external_attr >> 16):
            msg = f"the archive {what} is refused: its member {member.filename!r} is a link"
            raise DatasetError(msg)
    total = sum(member.file_size for member in members)
    if total > max_bytes:
        msg = f"the archive {what} is refused: it would unpack to {total} bytes, more than {max_bytes}"
        raise DatasetError(msg)


def _read(archive: zipfile.ZipFile, name: str, what: str, max_bytes: int) -> bytes:
    try:
        with archive.open(name) as member:
            content = member.read(max_bytes + 1)  # the size in the directory is only a claim
    except KeyError:
        msg = f"the archive {what} has no member {name!r}; it is not the archive that was published"
        raise DatasetError(msg) from None
    if len(content) > max_bytes:
        msg = f"the archive {what} is refused: its member {name!r} unpacks to more than {max_bytes} bytes"
        raise DatasetError(msg)
    return content
