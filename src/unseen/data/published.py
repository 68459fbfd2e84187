"""The graphs of the paper: published files with checksums, counts, names of classes; cache and conversion.

=========== ====== =============== ======= =========== ===============
name        nodes  edges as listed classes features    labels per node
=========== ====== =============== ======= =========== ===============
debian      4852   6928            12      1659 words  one
citeseer    3312   4732            6       3703 words  one
cora        2708   5429            7       1433 words  one
wiki        2405   17981           17      4973 tf-idf one
ppi         3890   38739           50      none        several
blogcatalog 10312  333983          39      none        several
=========== ====== =============== ======= =========== ===============

debian is part of the package (see DEBIAN.md). The cache holds the published files as they are; turning
them into a graph takes at most 0.1 s.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.data.datasets import Counts, Dataset, unweighted_adjacency
from unseen.data.files import atomic_path
from unseen.data.sources import GRAPH_FILE, GROUP_FILE
from unseen.errors import DatasetError, OutputError, logger
from unseen.graph import Graph
from unseen.labels import Labels

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
    size: int
    sha256: str
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


_RSDNE = ("zhengwang100/RSDNE", "bef1defa1e026795badc2e3b7d7aaa266eb60321")
_BANE = ("ICDM2018-BANE/BANE", "2abf6b7b90bb9427f89526d0b7c5cecc213c69c4")
_GAGE = ("tempcode06/GAGE", "ec27faae1e6131dcc17ddd667beb3af3ee7f5559")
_PRONE = ("THUDM/ProNE", "873630a5943f3eba8f4bbc9751fdf16af98d2171")
_DEEPWALK = ("phanein/deepwalk", "6e6dff245e4692e9bea47e9017c1034e51afbf29")

RSDNE_ZIP = Source(
    *_RSDNE, "dataset_RSDNE.zip", 110951, "6174fb416fe4c1fe8837e0c43e02dca918c39eba9742631264be13307fc65065"
)
CITESEER_MAT = Source(
    *_BANE, "citeseer.mat", 232024, "651cee8949c7d7f6bbd62b231ed626074f1a573d571451f2548d41d415c1d890"
)
CORA_MAT = Source(
    *_BANE, "cora.mat", 122107, "3096633e2b8e901abd0a3420f2b033b855cc2f35b266cb80fcdc6dec9bcdc681"
)
WIKI_MAT = Source(
    *_GAGE, "data/wiki.mat", 3917504, "816ce9c745022a4f7e8dfc2b9e019979169250567b7d87fba5472c83fa9b7988"
)
PPI_EDGES = Source(
    *_PRONE, "data/PPI.ungraph", 365887, "853faf8f8f9705d0ccf2f12db80277cc779ccef04ba6a8703671138dca76796a"
)
PPI_GROUPS = Source(
    *_PRONE, "data/PPI.cmty", 31336, "d57a61e7cc5c46acafdd370c5126a2a5c57cb23f1a84ed1d0877f20149c90637"
)
BLOGCATALOG_MAT = Source(
    *_DEEPWALK,
    "example_graphs/blogcatalog.mat",
    1255783,
    "d4f4fb89ce1ccd4b7e2a183386c000773cc9362cc61f1be5b246a6d9c259da8f",
)

PAPER_GRAPHS = {
    entry.name: entry
    for entry in (
        Entry(
            "citeseer",
            Counts(nodes=3312, edges=4732, classes=6, features=3703),
            (RSDNE_ZIP, CITESEER_MAT),
            ("Agents", "IR", "DB", "AI", "HCI", "ML"),
        ),
        Entry(
            "cora",
            Counts(nodes=2708, edges=5429, classes=7, features=1433),
            (RSDNE_ZIP, CORA_MAT),
            (
                "Neural_Networks",
                "Rule_Learning",
                "Reinforcement_Learning",
                "Probabilistic_Methods",
                "Theory",
                "Genetic_Algorithms",
                "Case_Based",
            ),
        ),
        Entry(
            "wiki",
            Counts(nodes=2405, edges=17981, classes=17, features=4973),
            (RSDNE_ZIP, WIKI_MAT),
        ),
        Entry(
            "ppi",
            Counts(nodes=3890, edges=38739, classes=50, features=0),
            (PPI_EDGES, PPI_GROUPS),
        ),
        Entry(
            "blogcatalog",
            Counts(nodes=10312, edges=333983, classes=39, features=0),
            (BLOGCATALOG_MAT,),
        ),
    )
}


def fetch_graph(entry: Entry) -> Dataset:
    """Return the data set of `entry` from its published files, which are kept in the cache."""
    edges, labels, features = _CONVERTERS[entry.name](contents(entry))
    n, c = entry.counts.nodes, entry.counts.classes
    graph = Graph(unweighted_adjacency(edges[:, 0], edges[:, 1], n), features)
    indicator = sp.coo_array((np.ones(len(labels), dtype=bool), labels.T), shape=(n, c))
    classes = entry.class_names or tuple(str(k) for k in range(c))
    return Dataset(entry.name, graph, Labels(indicator.tocsr(), classes, graph.node_ids))


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


Contents = Mapping[str, bytes]
"""Content of each published file by its name; checksums have been compared before."""
Pairs = npt.NDArray[np.int64]
Listed = tuple[Pairs, Pairs, sp.csr_array | None]
"""Pairs of nodes, pairs of a node and one of its classes, and features, as published."""


def contents(entry: Entry, folders: Sequence[Path] = ()) -> dict[str, bytes]:
    """Return the files of `entry`: from the first of the user's `folders` that has one, the cache, or the network."""
    base = os.environ.get("UNSEEN_MIRROR") or PUBLIC_BASE
    cache = cache_folder() / "sources"
    files: dict[str, bytes] = {}
    for (
        source
    ) in entry.sources:  # one after the other: an archive that was fetched is here for its next member
        local = _local(source, folders, cache)
        try:
            files[source.content] = _download(source, base, cache) if local is None else local
        except DatasetError as error:
            others = [
                each
                for each in entry.sources
                if each.content not in files and _local(each, folders, cache) is None
            ]
            fetch = " and ".join(dict.fromkeys(f"{each.url(base)} as {cache / each.file}" for each in others))
            own = [each.content for each in entry.sources] if folders else entry.counts.files
            msg = (
                f"the data set {entry.name!r} is not here, and {error}. Without network, fetch {fetch}; or set "
                f"UNSEEN_DATA to a folder that has {', '.join(f'{entry.name}/{file}' for file in own)}"
            )
            raise DatasetError(msg) from error
    return files


def _local(source: Source, folders: Sequence[Path], cache: Path) -> bytes | None:
    """Return the content of a file that is here, compared with its sha256; None where there is none."""
    for folder in (*folders, cache):
        path = next(
            (
                p
                for p in (folder / source.content, folder / source.alias, folder / source.file)
                if p.is_file()
            ),
            None,
        )
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


def _linked_pages(name: str, key: str, contents: Contents) -> Listed:
    # The checksum of the archive was compared: it is the published one, whose members are known.
    with zipfile.ZipFile(io.BytesIO(contents[RSDNE_ZIP.file])) as members:
        edges, groups = (members.read(f"{name}/{file}") for file in (GRAPH_FILE, GROUP_FILE))
    features = _matrices(contents[f"{name}.mat"], key)[0].astype(np.float32)
    return _pairs(edges), _members(groups), features


def _ppi(contents: Contents) -> Listed:
    """Line c of the second file lists the nodes of class c."""
    lines = contents[PPI_GROUPS.file].splitlines()
    groups = _members(b"".join(b"%d %s\n" % (c, line) for c, line in enumerate(lines)))
    return _pairs(contents[PPI_EDGES.file]), groups[:, ::-1], None


def _pairs(content: bytes) -> Pairs:
    return np.loadtxt(io.BytesIO(content), dtype=np.int64, ndmin=2)


def _members(content: bytes) -> Pairs:
    """Return a pair for each further number of each line: its first number, and that one."""
    lines = filter(None, (line.split() for line in content.splitlines()))
    pairs = [(int(first), int(other)) for first, *others in lines for other in others]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _blogcatalog(contents: Contents) -> Listed:
    network, group = _matrices(contents[BLOGCATALOG_MAT.file], "network", "group")
    return _positions(sp.triu(network, format="csr")), _positions(group), None


def _matrices(content: bytes, *keys: str) -> list[sp.csr_array]:
    from scipy.io import loadmat

    variables = loadmat(io.BytesIO(content), variable_names=keys)
    return [sp.csr_array(variables[key]) for key in keys]


def _positions(matrix: Any) -> Pairs:
    csr = sp.csr_array(matrix)
    csr.sum_duplicates()
    entries = csr.tocoo()
    return np.column_stack([entries.row, entries.col]).astype(np.int64)


_CONVERTERS: dict[str, Callable[[Contents], Listed]] = {
    "citeseer": partial(_linked_pages, "citeseer", "attributes"),
    "cora": partial(_linked_pages, "cora", "attributes"),
    "wiki": partial(_linked_pages, "wiki", "feature"),
    "ppi": _ppi,
    "blogcatalog": _blogcatalog,
}
