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

import io
import tempfile
from pathlib import Path
from typing import cast

import numpy as np
import scipy.sparse as sp

from unseen.data.datasets import Counts, Dataset, unweighted_adjacency
from unseen.data.hgb import INFO, LABELS, LINKS, NODES, read_hgb
from unseen.data.published import Entry, Source, contents
from unseen.errors import InputError
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.relations import Relation

YNET, YEARS = "fin-ynet", range(2000, 2011)
YNET_COUNTS = Counts(nodes=451, edges=101505, classes=10, features=0)
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


def _hgb(name: str, folder: str, counts: Counts, *sha256: str) -> Entry:
    files = zip((NODES, LINKS, LABELS, INFO), (*sha256, ""), strict=True)
    path, alias = f"data/{folder}.zip", f"{name}.zip"
    return Entry(name, counts, tuple(Source(*_HGB, path, 0, digest, file, alias) for file, digest in files))


def _npz(name: str, alias: str, file: str, size: int, sha256: str, counts: Counts, classes: str) -> Entry:
    source = Source(*_GNN, f"data/npz/{file}", size, sha256, file, alias)
    return Entry(name, counts, (source,), tuple(classes.split("|")))


def _ynet(year: int, sha256: str) -> Entry:
    files = {
        f"adj_MR_yearly_{year}.npz": ("adj.npz", sha256),
        f"labels_MR_yearly_{year}.npy": ("labels.npy", _YNET_LABELS),
    }
    sources = (
        Source(*_SSSNET, f"data/corr_networks/{file}", 0, digest, alias=f"fin_ynet{year}_{alias}")
        for file, (alias, digest) in files.items()
    )
    return Entry(f"{YNET}:{year}", YNET_COUNTS, tuple(sources))


_ENTRIES = {
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
        *map(_ynet, YEARS, _YNET),
    )
}
BENCHMARKS = {name: entry.counts for name, entry in _ENTRIES.items() if ":" not in name} | {YNET: YNET_COUNTS}
"""What each data set counts, by name."""


def load_benchmark(name: str, parent: Path | None) -> Dataset:
    """Return a data set by its name, ``fin-ynet:2008`` for a year; `parent` is the user's folder of data sets."""
    base = name.partition(":")[0]
    if name not in _ENTRIES:
        listed = ", ".join(each for each in _ENTRIES if each.startswith(YNET))
        msg = f"the data set {YNET!r} has a graph for each year, got {name!r}; known are {listed}"
        raise InputError(msg)
    entry = _ENTRIES[name]
    files = contents(entry, () if parent is None else (parent / base, parent / "sources"))
    if base == YNET:
        return _signed(name, *files.values())
    if entry.class_names is not None:
        return _plain(entry, *files.values())
    with tempfile.TemporaryDirectory() as folder:
        for file, content in files.items():
            (Path(folder) / file).write_bytes(content)
        data = read_hgb(Path(folder))
    return Dataset(name, data.graph, cast(Labels, data.labels))


def _signed(name: str, adjacency: bytes, labels: bytes) -> Dataset:
    matrix = sp.load_npz(io.BytesIO(adjacency))
    graph = Graph.from_relations([Relation("correlation", None, None, matrix)])
    sectors = np.load(io.BytesIO(labels), allow_pickle=False).astype(np.int64)
    classes = [str(k) for k in range(int(sectors.max()) + 1)]
    own = Labels.from_values(sectors.astype(str).tolist(), graph.node_ids, classes=classes)
    return Dataset(name, graph, own)


def _plain(entry: Entry, content: bytes) -> Dataset:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        edges, features = (
            sp.csr_array(
                tuple(arrays[f"{key}_{part}"] for part in ("data", "indices", "indptr")),
                arrays[f"{key}_shape"],
            )
            for key in ("adj", "attr")
        )
        names = tuple(arrays["attr_names"].tolist()) if "attr_names" in arrays else None
        numbers, own = arrays["labels"].tolist(), entry.class_names or ()
    adjacency = unweighted_adjacency(edges.nonzero()[0], edges.nonzero()[1], entry.counts.nodes)
    graph = Graph(adjacency, features.astype(np.float32), feature_names=names)
    return Dataset(
        entry.name, graph, Labels.from_values([own[k] for k in numbers], graph.node_ids, classes=own)
    )
