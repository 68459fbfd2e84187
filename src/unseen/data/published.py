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
from collections.abc import Callable, Mapping
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


@dataclass(frozen=True)
class Source:
    """One published file: where it is, and how to know that it is the right one."""

    repository: str
    commit: str
    path: str
    size: int
    sha256: str

    @property
    def file(self) -> str:
        """Name of the file in the cache."""
        return self.path.rpartition("/")[2]

    def url(self, base: str = PUBLIC_BASE) -> str:
        """Return the address below `base`, the public one or a mirror of the same layout."""
        return f"{base.rstrip('/')}/{self.repository}/{self.commit}/{self.path}"


@dataclass(frozen=True)
class Entry:
    """One graph of the paper: what it must count, and what it is made of."""

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
    edges, labels, features = _CONVERTERS[entry.name](_contents(entry))
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


def _contents(entry: Entry) -> dict[str, bytes]:
    base = os.environ.get("UNSEEN_MIRROR") or PUBLIC_BASE
    folder = cache_folder() / "sources"
    cached = {source.file: _cached(source, folder) for source in entry.sources}
    contents = {file: content for file, content in cached.items() if content is not None}
    missing = [source for source in entry.sources if source.file not in contents]
    try:
        return contents | {source.file: _download(source, base, folder) for source in missing}
    except DatasetError as error:
        files = " and ".join(f"{source.url(base)} as {folder / source.file}" for source in missing)
        msg = (
            f"the data set {entry.name!r} is not here, and {error}. Without network, fetch {files}; or set "
            f"UNSEEN_DATA to a folder that has {', '.join(f'{entry.name}/{file}' for file in entry.counts.files)}"
        )
        raise DatasetError(msg) from error


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
    from unseen.data.download import fetch  # the web costs time to import, and the cache is there mostly

    url = source.url(base)
    logger.info("downloading %s (%.1f MB)", url, source.size / 1e6)
    content = fetch(url, size=source.size)
    digest = hashlib.sha256(content).hexdigest()
    if digest != source.sha256:
        msg = (
            f"{url} has the sha256 {digest} in place of {source.sha256}: it is another file and was not kept"
        )
        raise DatasetError(msg)
    keep(content, folder / source.file)
    return content


def keep(content: bytes, path: Path) -> None:
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
