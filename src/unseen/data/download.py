"""Downloading one file over http or https: bounded in size and time, tried again, never a half result."""

from __future__ import annotations

import http.client
import re
import time
import urllib.error
import urllib.request
from dataclasses import dataclass

from unseen.errors import DatasetError, logger

PASSING_TROUBLE = (408, 429, 500, 502, 503, 504)


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


LARGEST = 100_000_000
"""Bytes of a file whose size is not known, at most."""


def fetch(url: str, *, size: int | None, patience: Patience | None = None) -> bytes:
    """Return the content of `url`, which must be `size` bytes long (None: at most `LARGEST`).

    Connections that fail, hang or are cut are tried again after a growing pause; anything else is an
    error at once. Redirects are followed to http and https addresses only.
    """
    patience = PATIENCE if patience is None else patience
    if not re.match(r"https?://[^/[]", url):
        msg = f"only http and https addresses are allowed, got {url!r}"
        raise DatasetError(msg)
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


def _fetch_once(url: str, size: int | None, patience: Patience) -> bytes:
    from unseen import __version__

    request = urllib.request.Request(url, headers={"User-Agent": f"unseen/{__version__}"})
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


def _opener() -> urllib.request.OpenerDirector:
    # Built by hand: the default one also opens file:, ftp: and data: addresses.
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.UnknownHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPErrorProcessor,
        urllib.request.HTTPRedirectHandler,
    ):
        opener.add_handler(handler())
    return opener


def _read(response: http.client.HTTPResponse, url: str, size: int | None, until: float) -> bytes:
    length = response.headers.get("Content-Length")
    if size is None:
        if length is None or not length.isdigit() or int(length) > LARGEST:
            msg = f"{url} has {length or 'an unknown number of'} bytes; at most {LARGEST:,} are read"
            raise DatasetError(msg)
        size = int(length)
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
