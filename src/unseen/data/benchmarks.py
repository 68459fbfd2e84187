"""Graphs beyond the paper's: of several types, signed, and two large plain ones; published files, checked one by one.

=========== ====== ========= ======= ======== ==========================================================
name        nodes  edges     classes features what
=========== ====== ========= ======= ======== ==========================================================
photo       7650   119082    8       745      goods bought together
coauthor-cs 18333  81894     15      6805     authors who wrote together
hgb-dblp    26128  119783    4       4615     authors, papers, terms, venues; classes of authors
hgb-acm     10942  273936    3       5706     papers, authors, subjects, terms; classes of papers
fin-ynet    451    about 1e5 10      none     correlations of stocks, of both signs, one graph for each year
=========== ====== ========= ======= ======== ==========================================================

A file is looked for in ``UNSEEN_DATA/<name>/`` under its publisher's name, in ``UNSEEN_DATA/sources/``, in the cache,
and is else downloaded. Archives are packed in several ways, so that the sha256 of each member counts.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from unseen.data.datasets import Counts, Dataset, unweighted_adjacency
from unseen.data.hgb import HGB_FILES, INFO, parse_hgb
from unseen.data.published import PUBLIC_BASE, Source, cache_folder, keep
from unseen.errors import DatasetError, InputError, logger
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.relations import Relation

LARGEST = 200_000_000
"""Bytes that no member has, unpacked; so a wrong archive fills no memory."""
YEARS = tuple(range(2000, 2011))


@dataclass(frozen=True)
class Member:
    """One file: its publisher's name, the name it may have among other sources, and where it is published.

    The source is the file itself, or an archive that holds it; `sha256` is None where any content will do.
    """

    file: str
    alias: str
    sha256: str | None
    source: Source


@dataclass(frozen=True)
class Benchmark:
    """One data set: what it counts, and its files."""

    name: str
    counts: Counts
    members: tuple[Member, ...]
    class_names: tuple[str, ...] | None = None


_HGB = ("Starlien95/HGPrompt", "bafce7622d86da6ff0f6a9a00e8e879013b2e0ec")
_SSSNET = ("SherylHYX/SSSNET_Signed_Clustering", "69d7fc7ba686fde63f34a32665bef694812ec4b3")
_GNN = ("shchur/gnn-benchmark", "master")
_YNET_LABELS = "dbe74373f698e3a86f186c449c2bbff0081db21fe1e836915564894d83748b34"
_YNET = [
    "2fb1f57f6c68f9853ff1ae8cea4f9a45be0af76028dc800f1d82764294c0990e",
    "4e23847da5cab5fe3c3fcfff54469a605285f32c3d90392a5c0af896fb935e8d",
    "c4fe26a9912dfe06ef2d35bcb0637997c03e26ddc378e8eafc14be0fc86d353a",
    "64bbff5e5132d4d9eb45b05ed2989d119316a5f4ee631b576a975d14ac1f8625",
    "0a86d564973805d7a8505f64907abd4d1e9dc377f169738c9727f16849e599ca",
    "9a1ee17a5d1fbac05564ab515e212c7d08952bca9e2cb85cafc20ab9af34f51e",
    "a0d9a474b1bfb1b633dedba5e5d4ed454fe424ca8003e70346632da9aad195e9",
    "31b561ed0c399ea5075dd91dbd10a6ee1531ccac672489580917e5f75c54add0",
    "287baebe1d75a7f455cd3b8c26952c8c17da8f3ce0fad35475865291d4297207",
    "e7d1bfae303902bc81560ee690b511c04c80bac6341d417429f1491f7deb5079",
    "cf8d2f72533c4df88f2a281bdf2b39a7063886b91abdbd94fbf986a0457c2e14",
]


def _hgb(name: str, folder: str, counts: Counts, *sha256: str) -> Benchmark:
    source = Source(*_HGB, f"data/{folder}.zip", 0, "")
    files = [*zip(HGB_FILES, sha256, strict=True), (INFO, None)]
    return Benchmark(
        name, counts, tuple(Member(file, f"{name}.zip", digest, source) for file, digest in files)
    )


def _npz(name: str, alias: str, file: str, size: int, sha256: str, counts: Counts, classes: str) -> Benchmark:
    source = Source(*_GNN, f"data/npz/{file}", size, sha256)
    return Benchmark(name, counts, (Member(file, alias, sha256, source),), tuple(classes.split("|")))


def _ynet(year: int) -> tuple[Member, Member]:
    files = f"adj_MR_yearly_{year}.npz", f"labels_MR_yearly_{year}.npy"
    aliases = f"fin_ynet{year}_adj.npz", f"fin_ynet{year}_labels.npy"
    digests = _YNET[year - YEARS[0]], _YNET_LABELS
    first, second = (
        Member(file, alias, digest, Source(*_SSSNET, f"data/corr_networks/{file}", 0, digest))
        for file, alias, digest in zip(files, aliases, digests, strict=True)
    )
    return first, second


BENCHMARKS = {
    each.name: each
    for each in (
        _npz(
            "photo",
            "amazon-photo.zip",
            "amazon_electronics_photo.npz",
            17113960,
            "bdb1feb8e6ff42ee44024b04479145029c563fd42fc31bff80af20887ba0439a",
            Counts(nodes=7650, edges=119082, classes=8, features=745),
            "Film Photography|Digital Cameras|Binoculars & Scopes|Lenses|Tripods & Monopods|Video Surveillance|"
            "Lighting & Studio|Flashes",
        ),
        _npz(
            "coauthor-cs",
            "coauthor-cs.zip",
            "ms_academic_cs.npz",
            12835626,
            "933c745734e78908c7eb77172a673fee0503f30e26e5a99b36814d88534c42e3",
            Counts(nodes=18333, edges=81894, classes=15, features=6805),
            "bioinformatics|machine_learning|computer_vision|NLP|graphics|networks|security|databases|data_mining|"
            "game_theory|HCI|information_theory|medical_informatics|robotics|theoretical_cs",
        ),
        _hgb(
            "hgb-dblp",
            "DBLP",
            Counts(nodes=26128, edges=119783, classes=4, features=4615),
            "bf3d9462437f7d4994b09995525665b783454d1cc91b39876ae51f9dfdd0cb47",
            "e6f163bf6d1f8c10fab7ad5ce9cc79629570449be815c28405c255220c95c902",
            "5f5fd3841ef1ad99de706ac3399e1439b0cb81818bd3d951653c11ac0e94d589",
        ),
        _hgb(
            "hgb-acm",
            "ACM",
            Counts(nodes=10942, edges=273936, classes=3, features=5706),
            "a68556ff5862e60294074814626dfbb05360cedc3ba849f47fabef1c31d2baad",
            "4744248dc42a722defc8e50db9247117f2f44d7290b6c29f59a6ffe250cf944f",
            "5b833a59cf52bde5e9312eee25f26f9b8ea95a44066bfbfa097a8eed7af3dee0",
        ),
        Benchmark("fin-ynet", Counts(nodes=451, edges=101505, classes=10, features=0), ()),
    )
}


def load_benchmark(name: str, parent: Path | None) -> Dataset:
    """Return a data set by its name, ``fin-ynet:2008`` for a year; `parent` is the user's folder of data sets."""
    base, _, part = name.partition(":")
    entry = BENCHMARKS[base]
    if base == "fin-ynet":
        if part not in map(str, YEARS):
            listed = ", ".join(f"fin-ynet:{year}" for year in YEARS)
            msg = f"the data set 'fin-ynet' has a graph for each year, got {name!r}; known are {listed}"
            raise InputError(msg)
        adjacency, labels = (_content(member, base, parent) for member in _ynet(int(part)))
        return _signed(name, adjacency, labels)
    contents = {member.file: _content(member, base, parent) for member in entry.members}
    if base.startswith("hgb-"):
        graph, own = parse_hgb(contents, base)
        if own is None:  # label.dat is among the members
            raise AssertionError
        return Dataset(name, graph, own)
    return _plain(entry, contents[entry.members[0].file])


def _signed(name: str, adjacency: bytes, labels: bytes) -> Dataset:
    matrix = sp.load_npz(io.BytesIO(adjacency))
    graph = Graph.from_relations([Relation("correlation", None, None, sp.csr_array(matrix))])
    sectors = np.load(io.BytesIO(labels), allow_pickle=False).astype(np.int64)
    classes = [str(k) for k in range(int(sectors.max()) + 1)]
    return Dataset(
        name, graph, Labels.from_values(sectors.astype(str).tolist(), graph.node_ids, classes=classes)
    )


def _plain(entry: Benchmark, content: bytes) -> Dataset:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        parts = {
            key: sp.csr_array(
                (arrays[f"{key}_data"], arrays[f"{key}_indices"], arrays[f"{key}_indptr"]),
                shape=arrays[f"{key}_shape"],
            )
            for key in ("adj", "attr")
        }
        classes, names = (
            arrays["labels"],
            tuple(arrays["attr_names"].tolist()) if "attr_names" in arrays else None,
        )
    edges = parts["adj"].tocoo()
    adjacency = unweighted_adjacency(edges.row, edges.col, entry.counts.nodes)
    graph = Graph(adjacency, parts["attr"].astype(np.float32), feature_names=names)
    own = entry.class_names or ()
    labels = Labels.from_values([own[k] for k in classes.tolist()], graph.node_ids, classes=list(own))
    counted = Counts(graph.n_nodes, graph.n_edges, len(own), parts["attr"].shape[1])
    entry.counts.require(counted, entry.name, entry.members[0].file)
    return Dataset(entry.name, graph, labels)


def _content(member: Member, name: str, parent: Path | None) -> bytes:
    """Return the content of one file from the first place that has it."""
    cache = cache_folder() / "sources"
    for place in [] if parent is None else [parent / name, parent / "sources"]:
        content = _local(member, place)
        if content is not None:
            if not _is_right(member, content):
                msg = (
                    f"{member.file} in {place} is not the published file (its sha256 differs); put that there"
                )
                raise DatasetError(msg)
            return content
    content = _local(member, cache)
    if content is not None:
        if _is_right(member, content):
            return content
        logger.warning("%s in %s is not the published file; it is downloaded again", member.file, cache)
    return _downloaded(member, name, cache)


def _is_right(member: Member, content: bytes) -> bool:
    return member.sha256 is None or hashlib.sha256(content).hexdigest() == member.sha256


def _local(member: Member, folder: Path) -> bytes | None:
    """Return the file of a folder by either name, or from an archive there; None where there is none."""
    for file in (member.file, member.alias):
        path = folder / file
        if path.is_file():
            content = path.read_bytes()
            return _unpacked(member, content, str(path)) if file.endswith(".zip") else content
    return None


def _unpacked(member: Member, content: bytes, where: str) -> bytes:
    """Return a member of an archive, whatever folder it is in there."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = [info for info in archive.infolist() if info.filename.rpartition("/")[2] == member.file]
            if infos and infos[0].file_size <= LARGEST:
                return archive.read(infos[0])
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        msg = f"{where} is no readable zip archive ({error}); remove it, or put the right one in its place"
        raise DatasetError(msg) from None
    msg = f"{where} holds no {member.file} of at most {LARGEST:,} bytes; remove it, or put the right one in its place"
    raise DatasetError(msg)


def _downloaded(member: Member, name: str, cache: Path) -> bytes:
    from unseen.data.download import fetch  # the web costs time to import

    url = member.source.url(os.environ.get("UNSEEN_MIRROR") or PUBLIC_BASE)
    logger.info("downloading %s", url)
    packed = url.endswith(".zip")
    try:
        content = fetch(url, size=member.source.size or None)
        own = _unpacked(member, content, url) if packed else content
    except DatasetError as error:
        msg = (
            f"the data set {name!r} is not here, and {error}. Without network, set UNSEEN_DATA to a folder that has "
            f"{name}/{member.file}"
        )
        raise DatasetError(msg) from error
    if not _is_right(member, own):
        msg = f"{member.file} of {url} has another sha256 than {member.sha256}: it is another file and was not kept"
        raise DatasetError(msg)
    keep(content, cache / (member.alias if packed else member.file))
    return own
