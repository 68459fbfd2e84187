"""What is known about every data set: published files with checksums, counts, and names of classes.

=========== ====== =============== ======= =========== =============
name        nodes  edges as listed classes features    labels a node
=========== ====== =============== ======= =========== =============
debian      4852   6928            12      1659 words  one
citeseer    3312   4732            6       3703 words  one
cora        2708   5429            7       1433 words  one
wiki        2405   17981           17      4973 tf-idf one
ppi         3890   38739           50      none        several
blogcatalog 10312  333983          39      none        several
=========== ====== =============== ======= =========== =============

The table of published files follows; debian is part of the package (`bundled.py`, DEBIAN.md).
"""

from __future__ import annotations

from dataclasses import dataclass

from unseen.datasets.dataset import Counts

PUBLIC_BASE = "https://raw.githubusercontent.com"


@dataclass(frozen=True)
class Source:
    """One published file: where it is, and how to know that it is the right one."""

    file: str
    repository: str
    commit: str
    path: str
    size: int
    sha256: str

    def url(self, base: str = PUBLIC_BASE) -> str:
        """Return the address below `base`, the public one or a mirror of the same layout."""
        return f"{base.rstrip('/')}/{self.repository}/{self.commit}/{self.path}"


@dataclass(frozen=True)
class Entry:
    """One graph of the paper: what it must count, what it is made of, and the digest of its content."""

    name: str
    counts: Counts
    sources: tuple[Source, ...]
    content_sha256: str
    class_names: tuple[str, ...] | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """Files of the data set's folder in the authors' format."""
        return ("graph.txt", "group.txt", *(["features.npz"] if self.counts.features else []))


_BANE = ("ICDM2018-BANE/BANE", "2abf6b7b90bb9427f89526d0b7c5cecc213c69c4")
_PRONE = ("THUDM/ProNE", "873630a5943f3eba8f4bbc9751fdf16af98d2171")

RSDNE_ZIP = Source(
    "dataset_RSDNE.zip",
    "zhengwang100/RSDNE",
    "bef1defa1e026795badc2e3b7d7aaa266eb60321",
    "dataset_RSDNE.zip",
    110951,
    "6174fb416fe4c1fe8837e0c43e02dca918c39eba9742631264be13307fc65065",
)
CITESEER_MAT = Source(
    "citeseer.mat",
    *_BANE,
    "citeseer.mat",
    232024,
    "651cee8949c7d7f6bbd62b231ed626074f1a573d571451f2548d41d415c1d890",
)
CORA_MAT = Source(
    "cora.mat",
    *_BANE,
    "cora.mat",
    122107,
    "3096633e2b8e901abd0a3420f2b033b855cc2f35b266cb80fcdc6dec9bcdc681",
)
WIKI_MAT = Source(
    "wiki.mat",
    "tempcode06/GAGE",
    "ec27faae1e6131dcc17ddd667beb3af3ee7f5559",
    "data/wiki.mat",
    3917504,
    "816ce9c745022a4f7e8dfc2b9e019979169250567b7d87fba5472c83fa9b7988",
)
PPI_EDGES = Source(
    "PPI.ungraph",
    *_PRONE,
    "data/PPI.ungraph",
    365887,
    "853faf8f8f9705d0ccf2f12db80277cc779ccef04ba6a8703671138dca76796a",
)
PPI_GROUPS = Source(
    "PPI.cmty",
    *_PRONE,
    "data/PPI.cmty",
    31336,
    "d57a61e7cc5c46acafdd370c5126a2a5c57cb23f1a84ed1d0877f20149c90637",
)
BLOGCATALOG_MAT = Source(
    "blogcatalog.mat",
    "phanein/deepwalk",
    "6e6dff245e4692e9bea47e9017c1034e51afbf29",
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
            "7e9d642fd3ca49ac3185cddbf75eb80577684df8fb879d08f5a8622cdc67cc43",
            ("Agents", "IR", "DB", "AI", "HCI", "ML"),
        ),
        Entry(
            "cora",
            Counts(nodes=2708, edges=5429, classes=7, features=1433),
            (RSDNE_ZIP, CORA_MAT),
            "057f28bf95c3f999673b59eac56c71d60ef6c7dbf96dcfe4ae20f4c4245c4459",
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
            "3a1737daa4058689d880bcbbdf7ee764826b99c952dd827604533a674a880428",
        ),
        Entry(
            "ppi",
            Counts(nodes=3890, edges=38739, classes=50, features=0),
            (PPI_EDGES, PPI_GROUPS),
            "fe5cffe96ca0f8d62fac8b839afbd13b8adcf009d8839e2126c192f401b74664",
        ),
        Entry(
            "blogcatalog",
            Counts(nodes=10312, edges=333983, classes=39, features=0),
            (BLOGCATALOG_MAT,),
            "c886ec4eb467c890c44331e1f228ee21cd3cccbb68528405fd9c96df3c4571cf",
        ),
    )
}
