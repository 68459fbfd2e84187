"""Published files: downloads bounded in size and time and tried again; archives read within limits.

Nothing is unpacked to disk, and of an archive only named members are read.
"""

from __future__ import annotations

import http.client
import io
import stat
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO

import unseen
from unseen.errors import DatasetError, logger

SCHEMES = ("http", "https")
PASSING_TROUBLE = (408, 429, 500, 502, 503, 504)
MAX_MEMBERS = 1000
MAX_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Patience:
    """How long to wait for an answer, how long for a whole file, and how often to try (seconds)."""

    timeout: float = 20.0
    deadline: float = 300.0
    attempts: int = 4
    pause: float = 1.0


PATIENCE = Patience()


class _PassingError(Exception):
    """Trouble that another try may not meet."""


def fetch(url: str, *, size: int, patience: Patience | None = None) -> bytes:
    """Return the content of `url`, which must be `size` bytes long.

    Connections that fail, hang or are cut are tried again after a growing pause; anything else is an
    error at once. Redirects are followed to http and https addresses only.
    """
    patience = PATIENCE if patience is None else patience
    _require_web(url)
    reason = ""
    for attempt in range(patience.attempts):
        if attempt:
            logger.info("%s; trying again", reason)
            time.sleep(patience.pause * 2 ** (attempt - 1))
        try:
            return _fetch_once(url, size, patience)
        except _PassingError as trouble:
            reason = f"{url} could not be downloaded: {trouble}"
    msg = f"{reason} ({patience.attempts} tries)"
    raise DatasetError(msg)


def read_members(
    content: bytes, names: Iterable[str], what: str, *, max_bytes: int = MAX_BYTES
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
            return {name: _read_member(archive, name, what, max_bytes) for name in names}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        msg = f"the archive {what} cannot be read ({error}); it is damaged, or not a plain zip file"
        raise DatasetError(msg) from error


def _fetch_once(url: str, size: int, patience: Patience) -> bytes:
    request = urllib.request.Request(url, headers={"User-Agent": f"unseen/{unseen.__version__}"})
    until = time.monotonic() + patience.deadline
    try:
        with _opener().open(request, timeout=patience.timeout) as response:
            return _read(response, url, size, until)
    except urllib.error.HTTPError as error:
        with error:
            reason = f"the server answered {error.code} {error.reason}"
        if error.code in PASSING_TROUBLE:
            raise _PassingError(reason) from None
        msg = f"{url} could not be downloaded: {reason}"
        raise DatasetError(msg) from None
    except urllib.error.URLError as error:
        raise _PassingError(str(error.reason)) from None
    except (OSError, http.client.HTTPException) as error:
        raise _PassingError(str(error) or type(error).__name__) from None


def _read(response: http.client.HTTPResponse, url: str, size: int, until: float) -> bytes:
    length = response.headers.get("Content-Length")
    if length is not None and length.isdigit() and int(length) != size:
        msg = f"{url} has {length} bytes, the published file has {size}; it is another file"
        raise DatasetError(msg)
    content = bytearray()
    while block := response.read1(min(2**16, size + 1 - len(content))):
        content += block
        if len(content) > size:
            msg = f"{url} has more than the {size} bytes of the published file; it is another file"
            raise DatasetError(msg)
        if time.monotonic() > until:
            msg = f"only {len(content)} of {size} bytes came in the time allowed"
            raise _PassingError(msg)
    if len(content) < size:
        msg = f"the connection was cut after {len(content)} of {size} bytes"
        raise _PassingError(msg)
    return bytes(content)


def _opener() -> urllib.request.OpenerDirector:
    # Built by hand: the default one also opens file:, ftp: and data: addresses.
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _WebRedirects(),
    ):
        opener.add_handler(handler)
    return opener


class _WebRedirects(urllib.request.HTTPRedirectHandler):
    """Redirects stay on the web; the base class follows them to ftp too."""

    def http_error_302(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
    ) -> object:
        target = headers.get("Location") or headers.get("URI") or ""
        address = urllib.parse.urljoin(req.full_url, target)
        try:
            _require_web(address)
        except DatasetError as error:
            fp.close()
            text = f"{req.full_url} redirects to {address}, which is refused: {error}"
            raise DatasetError(text) from None
        return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def _require_web(url: str) -> None:
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError:
        parts = urllib.parse.SplitResult("", "", "", "", "")
    if parts.scheme not in SCHEMES or not parts.netloc:
        msg = f"only http and https addresses are allowed, got {url!r}"
        raise DatasetError(msg)


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


def _read_member(archive: zipfile.ZipFile, name: str, what: str, max_bytes: int) -> bytes:
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
