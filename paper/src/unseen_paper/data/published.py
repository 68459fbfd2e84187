"""Published graphs: what each counts and which files it is made of (``published.json``), found here or downloaded.

=========== ====== ========= ======= =========== ==========================================================
name        nodes  edges     classes features    what
=========== ====== ========= ======= =========== ==========================================================
citeseer    3312   4732      6       3703 words  papers that cite each other
cora        2708   5429      7       1433 words  papers that cite each other
wiki        2405   17981     17      4973 tf-idf linked pages
ppi         3890   38739     50      none        proteins, several labels per node
blogcatalog 10312  333983    39      none        friends, several labels per node
photo       7650   119082    8       745         goods bought together
coauthor-cs 18333  81894     15      6805        authors who wrote together
hgb-dblp    26128  119783    4       4615        authors, papers, terms, venues; classes of authors
hgb-acm     10942  273936    3       5706        papers, authors, subjects, terms; classes of papers
fin-ynet    451    about 1e5 10      none        correlations of stocks, of both signs, one graph for each year
=========== ====== ========= ======= =========== ==========================================================

A file is looked for in ``UNSEEN_DATA/<name>/`` under its publisher's name, in ``UNSEEN_DATA/sources/``, in the cache
(``UNSEEN_CACHE``), and is else downloaded by pooch, which compares its sha256. Archives are packed in several ways, so
that the sha256 of each member counts. Turning the files into a graph (:mod:`unseen_paper.data.publishers`) takes at
most 0.1 s for the first five, which are the paper's.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from unseen.data.datasets import Dataset, user_folder
from unseen.data.sources import GRAPH_FILE, GROUP_FILE
from unseen.errors import DatasetError, InputError, logger
from unseen_paper.data.folders import Counts, read_folder

PUBLIC_BASE = "https://raw.githubusercontent.com"
TIMEOUT, RETRIES = 20.0, 2
"""Seconds to wait for an answer, and how often to try again."""
LARGEST = 200_000_000
"""Bytes that no member of an archive has, unpacked; so a wrong one fills no memory."""


@dataclass(frozen=True)
class PublishedFile:
    """One published file: where it is, and how to know that it is the right one.

    Of an archive, `member` is the file that counts, and `sha256` is that file's: archives are packed in several ways.
    A `size` of 0 is not known, and without a `sha256` any content will do. Beside other sources it is called `alias`.
    """

    repository: str
    commit: str
    path: str
    size: int = 0
    sha256: str = ""
    member: str = ""
    alias: str = ""

    @property
    def file(self) -> str:
        """Name of the file in the cache."""
        return self.path.rpartition("/")[2]

    @property
    def content(self) -> str:
        """Name of the file that counts."""
        return self.member or self.file

    def url(self, base: str = PUBLIC_BASE) -> str:
        """Return the address below `base`, the public one or a mirror of the same layout."""
        return f"{base.rstrip('/')}/{self.repository}/{self.commit}/{self.path}"


@dataclass(frozen=True)
class Entry:
    """One graph: what it must count, and what it is made of."""

    name: str
    counts: Counts
    sources: tuple[PublishedFile, ...]
    class_names: tuple[str, ...] | None = None


ENTRIES = {
    name: Entry(
        name,
        Counts(**each["counts"]),
        tuple(PublishedFile(**file) for file in each["files"]),
        tuple(each["classes"]) if "classes" in each else None,
    )
    for name, each in json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")).items()
}
"""Every published graph by its name, those of ``fin-ynet`` with the year behind a colon."""


def load_dataset(name: str, data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Return a data set from its folder below `data_dir` or ``UNSEEN_DATA``, or else from its publisher's files."""
    entry, parent = _find_entry(name), user_folder(data_dir)
    if parent is not None and any((parent / name / file).is_file() for file in (GRAPH_FILE, GROUP_FILE)):
        return read_folder(parent / name, entry.counts)
    from unseen_paper.data.publishers import convert_published

    folders = () if parent is None else (parent / name.partition(":")[0], parent / "sources")
    return convert_published(entry, find_contents(entry, folders))


def dataset_counts(name: str) -> dict[str, int | None]:
    """Return the published counts of a data set; of one with a graph for each year, those of the first."""
    return next(asdict(each.counts) for key, each in ENTRIES.items() if name in (key, key.partition(":")[0]))


def _find_entry(name: str) -> Entry:
    """Return the entry of a name; a year that is missing or unknown is an error."""
    if name in ENTRIES:
        return ENTRIES[name]
    base = name.partition(":")[0]
    years = [each for each in ENTRIES if each.startswith(f"{base}:")]
    if not years:
        msg = f"the data set {base!r} has one graph, got {name!r}"
        raise InputError(msg)
    msg = f"the data set {base!r} has a graph for each year, got {name!r}; known are {', '.join(years)}"
    raise InputError(msg)


def find_contents(entry: Entry, folders: Sequence[Path] = ()) -> dict[str, bytes]:
    """Return the files of `entry`: from the first of the user's `folders` that has one, the cache, or the network."""
    files: dict[str, bytes] = {}
    for source in entry.sources:
        places = [folder / name for folder in folders for name in (source.content, source.alias, source.file)]
        path = next((place for place in places if place.is_file()), None)
        is_own = path is not None
        path = path or _download(entry, source)
        content = _read_member(source, path)
        if source.sha256 not in ("", hashlib.sha256(content).hexdigest()):
            if not is_own:
                path.unlink(missing_ok=True)
            advice = "put that there" if is_own else "it was removed from the cache; try again"
            msg = f"{source.content} of {path} is not the published file (its sha256 differs); {advice}"
            raise DatasetError(msg)
        files[source.content] = content
    return files


def _read_member(source: PublishedFile, path: Path) -> bytes:
    """Return the file that counts, of an archive whatever folder it is in there."""
    content = path.read_bytes()
    if not source.member or path.suffix != ".zip":
        return content
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = [info for info in archive.infolist() if info.filename.rpartition("/")[2] == source.member]
            if infos and infos[0].file_size <= LARGEST:
                return archive.read(infos[0])
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        msg = f"{path} is not a readable zip archive ({error}); remove it, or put the right one in its place"
        raise DatasetError(msg) from None
    msg = f"{path} holds no {source.member} of at most {LARGEST:,} bytes; remove it, or put the right one in its place"
    raise DatasetError(msg)


def _download(entry: Entry, source: PublishedFile) -> Path:
    """Return the file in the cache, downloaded where it is not there or not the published one."""
    import pooch  # the web costs time to import
    import requests

    base = os.environ.get("UNSEEN_MIRROR") or PUBLIC_BASE
    url = source.url(base)
    cache = Path(os.environ.get("UNSEEN_CACHE") or pooch.os_cache("unseen")).expanduser() / "sources"
    is_archive = bool(source.member) and url.endswith(".zip")
    known = {source.file: f"sha256:{source.sha256}" if source.sha256 and not is_archive else None}
    if not (cache / source.file).is_file():
        logger.info("downloading %s%s", url, f" ({source.size / 1e6:.1f} MB)" if source.size else "")
    pooch.get_logger().setLevel("WARNING")
    store = pooch.create(cache, base, registry=known, urls={source.file: url}, retry_if_failed=RETRIES)

    def download(address: str, target: str, own: Any) -> None:
        with Path(target).open("wb") as file:
            pooch.HTTPDownloader(timeout=TIMEOUT)(
                address, _BoundedFile(file, source.size or LARGEST, url), own
            )

    try:
        return Path(store.fetch(source.file, downloader=download))
    except (requests.RequestException, ValueError, OSError) as error:
        fetch = " and ".join(dict.fromkeys(f"{s.url(base)} as {cache / s.file}" for s in entry.sources))
        own = ", ".join(f"{entry.name.partition(':')[0]}/{each.content}" for each in entry.sources)
        msg = (
            f"the data set {entry.name!r} is not here, and {url} could not be downloaded to {cache}: {error}. Without "
            f"network, fetch {fetch}; or set UNSEEN_DATA to a folder that has {own}"
        )
        raise DatasetError(msg) from error


class _BoundedFile:
    """A file that takes no more bytes than the published one has."""

    def __init__(self, file: IO[bytes], limit: int, url: str) -> None:
        self._file, self._free, self._url, self._limit = file, limit, url, limit

    def write(self, block: bytes) -> None:
        self._free -= len(block)
        if self._free < 0:
            msg = f"{self._url} has more than the {self._limit:,} bytes that are expected; it is another file"
            raise DatasetError(msg)
        self._file.write(block)

    def flush(self) -> None:
        self._file.flush()
