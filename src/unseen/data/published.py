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

A file is looked for in ``UNSEEN_DATA/<name>/`` under its publisher's name, in ``UNSEEN_DATA/sources/``, in the cache,
and is else downloaded. Archives are packed in several ways, so that the sha256 of each member counts. The cache holds
the published files as they are; turning them into a graph (:mod:`unseen.data.publishers`) takes at most 0.1 s for the
first five, which are the paper's.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unseen.data.datasets import Counts
from unseen.data.files import atomic_path
from unseen.errors import DatasetError, InputError, OutputError, logger

PUBLIC_BASE = "https://raw.githubusercontent.com"
LARGEST = 200_000_000
"""Bytes that no member of an archive has, unpacked; so a wrong one fills no memory."""


@dataclass(frozen=True)
class Source:
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
    sources: tuple[Source, ...]
    class_names: tuple[str, ...] | None = None


def _entries() -> dict[str, Entry]:
    listed = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    entries = {}
    for name, each in listed.items():
        sources = tuple(Source(**file) for file in each["files"])
        classes = tuple(each["classes"]) if "classes" in each else None
        entries[name] = Entry(name, Counts(**each["counts"]), sources, classes)
    return entries


ENTRIES = _entries()
"""Every published graph by its name, those of ``fin-ynet`` with the year behind a colon."""
PUBLISHED = tuple(dict.fromkeys(name.partition(":")[0] for name in ENTRIES))
"""Their names, without years."""


def published_entry(name: str) -> Entry | None:
    """Return the entry of a name, None where nothing of it was published; a year that is missing is an error."""
    years = [each for each in ENTRIES if each.startswith(f"{name.partition(':')[0]}:")]
    if years and name not in years:
        base = name.partition(":")[0]
        msg = f"the data set {base!r} has a graph for each year, got {name!r}; known are {', '.join(years)}"
        raise InputError(msg)
    return ENTRIES.get(name)


def cache_folder() -> Path:
    """Return the folder for downloads: ``UNSEEN_CACHE``, or ``unseen`` in the user's cache folder."""
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


def contents(entry: Entry, folders: Sequence[Path] = ()) -> dict[str, bytes]:
    """Return the files of `entry`: from the first of the user's `folders` that has one, the cache, or the network."""
    base = os.environ.get("UNSEEN_MIRROR") or PUBLIC_BASE
    cache = cache_folder() / "sources"
    files: dict[str, bytes] = {}
    # One after the other: an archive that was fetched is here for its next member.
    for source in entry.sources:
        local = _local(source, folders, cache)
        try:
            files[source.content] = _download(source, base, cache) if local is None else local
        except DatasetError as error:
            open_ones = (each for each in entry.sources if each.content not in files)
            others = [each for each in open_ones if _local(each, folders, cache) is None]
            fetch = " and ".join(dict.fromkeys(f"{each.url(base)} as {cache / each.file}" for each in others))
            own = [f"{entry.name.partition(':')[0]}/{each.content}" for each in entry.sources]
            msg = (
                f"the data set {entry.name!r} is not here, and {error}. Without network, fetch {fetch}; or set "
                f"UNSEEN_DATA to a folder that has {', '.join(own)}"
            )
            raise DatasetError(msg) from error
    return files


def _local(source: Source, folders: Sequence[Path], cache: Path) -> bytes | None:
    """Return the content of a file that is here, compared with its sha256; None where there is none."""
    for folder in (*folders, cache):
        places = (folder / name for name in (source.content, source.alias, source.file))
        path = next((place for place in places if place.is_file()), None)
        if path is None:
            continue
        try:
            content = _member(source, path.read_bytes(), str(path), packed=path.suffix == ".zip")
        except OSError:
            continue
        if source.sha256 in ("", hashlib.sha256(content).hexdigest()):
            return content
        if folder != cache:
            msg = f"{source.content} of {path} is not the published file (its sha256 differs); put that there"
            raise DatasetError(msg)
        logger.warning("%s is not the published file (its sha256 differs); it is downloaded again", path)
    return None


def _member(source: Source, content: bytes, where: str, *, packed: bool) -> bytes:
    """Return the file that counts, of an archive whatever folder it is in there."""
    if not source.member or not packed:
        return content
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = [info for info in archive.infolist() if info.filename.rpartition("/")[2] == source.member]
            if infos and infos[0].file_size <= LARGEST:
                return archive.read(infos[0])
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        msg = f"{where} is no readable zip archive ({error}); remove it, or put the right one in its place"
        raise DatasetError(msg) from None
    msg = f"{where} holds no {source.member} of at most {LARGEST:,} bytes; remove it, or put the right one in its place"
    raise DatasetError(msg)


def _download(source: Source, base: str, folder: Path) -> bytes:
    from unseen.data.download import fetch  # the web costs time to import, and the cache is there mostly

    url = source.url(base)
    logger.info("downloading %s%s", url, f" ({source.size / 1e6:.1f} MB)" if source.size else "")
    content = fetch(url, size=source.size or None)
    own = _member(source, content, url, packed=url.endswith(".zip"))
    digest = hashlib.sha256(own).hexdigest()
    if source.sha256 not in ("", digest):
        msg = (
            f"{url} has the sha256 {digest} in place of {source.sha256}: it is another file and was not kept"
        )
        raise DatasetError(msg)
    _keep(content, folder / source.file)
    return own


def _keep(content: bytes, path: Path) -> None:
    """Write to the cache, whole or not at all; a cache that cannot be written costs time, nothing else."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as temporary:
            temporary.write_bytes(content)
    except (OSError, OutputError) as error:
        logger.warning(
            "%s could not be kept and is fetched again next time (%s); set UNSEEN_CACHE to a folder of yours",
            path.name,
            error,
        )
