"""Finding a graph of the paper: the user's folder, then the cache, then the public sources."""

from __future__ import annotations

import hashlib
import os
from os import PathLike
from pathlib import Path

from unseen.datasets.convert import convert
from unseen.datasets.dataset import Dataset
from unseen.datasets.download import fetch
from unseen.datasets.raw import RawGraph, read_folder, read_npz, write_npz
from unseen.datasets.registry import PUBLIC_BASE, Entry, Source
from unseen.errors import DatasetError, OutputError, logger
from unseen.io.files import atomic_path


def load_paper_graph(
    entry: Entry, data_dir: str | PathLike[str] | None = None, *, mirror: str | None = None
) -> Dataset:
    """Return the data set of `entry` from the first place that has it."""
    found = _from_user_folder(entry, data_dir)
    if found is not None:
        return found
    cached = cache_folder() / "graphs" / f"{entry.name}.npz"
    raw = read_npz(cached)
    if raw is not None and raw.digest == entry.content_sha256:
        return raw.dataset(entry, str(cached))
    if cached.is_file():
        logger.warning("%s is damaged; the data set is made anew", cached)
    raw = convert(entry.name, _sources(entry, mirror))
    if raw.digest != entry.content_sha256:
        msg = f"the published files of {entry.name!r} did not give the known graph; please report this"
        raise DatasetError(msg)
    _keep(raw, cached)
    return raw.dataset(entry, str(cached))


def cache_folder() -> Path:
    """Return the folder for downloads: ``UNSEEN_CACHE``, or ``unseen`` in the user's cache folder.

    Examples
    --------
    >>> import os
    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, UNSEEN_CACHE="/data/cache"):
    ...     cache_folder().as_posix()
    '/data/cache'
    """
    own, shared = os.environ.get("UNSEEN_CACHE"), os.environ.get("XDG_CACHE_HOME", "")
    try:
        if own:
            return Path(own).expanduser()
        # The XDG rules say to ignore a relative path.
        base = Path(shared) if Path(shared).is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        msg = "there is no home folder to keep data sets in; set UNSEEN_CACHE to a folder"
        raise DatasetError(msg) from None
    return base / "unseen"


def _from_user_folder(entry: Entry, data_dir: str | PathLike[str] | None) -> Dataset | None:
    given = os.environ.get("UNSEEN_DATA") if data_dir is None else os.fspath(data_dir)
    if not given:
        return None
    folder = Path(given)
    if not folder.is_dir():
        if data_dir is not None:
            msg = f"`data_dir` is {given!r}, which is not a folder"
            raise DatasetError(msg)
        logger.warning("UNSEEN_DATA is %r, which is not a folder; looking in the cache instead", given)
        return None
    place = folder / entry.name
    if not place.is_dir():
        return None
    raw, names = read_folder(place, entry)
    data = raw.dataset(entry, str(place), names)
    if raw.digest != entry.content_sha256:
        logger.warning(
            "the data set %r in %s counts right but differs from the published one", entry.name, place
        )
    return data


def _sources(entry: Entry, mirror: str | None) -> dict[str, bytes]:
    base = mirror or os.environ.get("UNSEEN_MIRROR") or PUBLIC_BASE
    folder = cache_folder() / "sources"
    contents = {source.file: _cached(source, folder) for source in entry.sources}
    missing = [source for source in entry.sources if contents[source.file] is None]
    try:
        for source in missing:
            contents[source.file] = _download(source, base, folder)
    except DatasetError as error:
        wanted = " and ".join(f"{source.url(base)} as {folder / source.file}" for source in missing)
        msg = (
            f"the data set {entry.name!r} is not here, and {error}. Without network, fetch {wanted}; or set "
            f"UNSEEN_DATA to a folder that has {', '.join(f'{entry.name}/{file}' for file in entry.files)}"
        )
        raise DatasetError(msg) from error
    return {file: content for file, content in contents.items() if content is not None}


def _cached(source: Source, folder: Path) -> bytes | None:
    path = folder / source.file
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if hashlib.sha256(content).hexdigest() == source.sha256:
        return content
    logger.warning("%s is not the published file (its sha256 differs); it is downloaded again", path)
    return None


def _download(source: Source, base: str, folder: Path) -> bytes:
    url = source.url(base)
    logger.info("downloading %s (%.1f MB)", url, source.size / 1e6)
    content = fetch(url, size=source.size)
    found = hashlib.sha256(content).hexdigest()
    if found != source.sha256:
        msg = f"{url} has the sha256 {found} in place of {source.sha256}: it is another file and was not kept"
        raise DatasetError(msg)
    _keep(content, folder / source.file)
    return content


def _keep(value: bytes | RawGraph, path: Path) -> None:
    """Write to the cache, whole or not at all; a cache that cannot be written costs time, nothing else."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as temporary:
            if isinstance(value, bytes):
                temporary.write_bytes(value)
            else:
                write_npz(value, temporary)
    except (OSError, OutputError) as error:
        logger.warning(
            "%s could not be kept and is fetched again next time (%s); set UNSEEN_CACHE to a folder of yours",
            path.name,
            error,
        )
