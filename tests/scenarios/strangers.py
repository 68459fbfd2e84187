"""Files as strangers have them, generated with a known truth: a shop, a company and a bank.

Every function writes the files of one data set to a folder and returns the true class of every node. Headers are the
strangers' own words, labels miss two whole classes, and label files hold a column of the strangers' own.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator

WORDS = {
    "garden": "plant seed soil pot hose shovel lawn rose bulb compost",
    "kitchen": "pan knife bowl steel oven spoon whisk pepper kettle board",
    "toys": "puzzle brick doll train plush kite blocks marble robot yoyo",
    "books": "novel poems atlas crime cover author pages story edition essay",
    "pets": "dog cat collar leash aquarium litter kibble parrot hamster bone",
    "music": "guitar strings drum violin pick amplifier flute tuner piano reed",
}
COMMON = "small large red blue set new light classic strong soft pack home value gift pro mini"
"""Words that descriptions of every class have."""


@dataclass(frozen=True)
class Stranger:
    """Files of one data set and its truth."""

    edges: Path
    labels: Path
    extra: tuple[str, ...]  # further arguments of the commands: file names alone
    truth: dict[str, str]  # the class of every node
    missing: tuple[str, ...]  # the classes without a label

    @property
    def labelled(self) -> set[str]:
        """Nodes that have a label in the file."""
        with self.labels.open(encoding="utf-8", newline="") as file:
            return {row[0] for row in csv.reader(file) if row[1:2] and row[1]} & set(self.truth)


def make_shop(folder: Path, seed: int = 0, n: int = 1200) -> Stranger:
    """Write a shop's co-purchases with counts, descriptions of the products, and categories of some of them."""
    rng = np.random.default_rng(seed)
    kinds = draw_classes(rng, n, {"garden": 5, "kitchen": 6, "toys": 4, "books": 5, "pets": 4, "music": 3})
    ids = [f"P{number}" for number in rng.choice(np.arange(10_000, 99_999), n, replace=False)]
    pairs = draw_pairs(rng, kinds, 3.5 * n, inside=0.75)
    counts = rng.poisson(2, len(pairs)) + 1
    bought = [(ids[a], ids[b], count) for (a, b), count in zip(pairs, counts, strict=True)]
    write(folder / "bought together.csv", ["product_a", "product_b", "times_bought_together"], bought)
    texts = []
    for kind in kinds:
        own = rng.choice(WORDS[kind].split(), 2, replace=False)
        common = rng.choice(COMMON.split(), 4, replace=False)
        words = " ".join(rng.permutation([*own, *common])).capitalize()
        texts.append(words + rng.choice(["", ".", ", 2-pack"]))
    write(folder / "descriptions.csv", ["product_id", "description"], zip(ids, texts, strict=True))
    missing = ("pets", "music")
    rows = draw_labels(rng, ids, kinds, missing, 0.3)
    edges, labels = folder / "bought together.csv", folder / "categories.csv"
    write(labels, ["product_id", "category", "labelled by"], [(*row, "Éva") for row in rows])
    extra = ("--text", str(folder / "descriptions.csv"))
    return Stranger(edges, labels, extra, dict(zip(ids, kinds, strict=True)), missing)


def make_company(folder: Path, seed: int = 0, n: int = 700) -> Stranger:
    """Write a company's contacts as blank-separated lines without header, attributes of its people, and teams."""
    rng = np.random.default_rng(seed)
    kinds = draw_classes(rng, n, {"sales": 6, "research": 5, "support": 5, "legal": 3, "finance": 4})
    ids = [f"{name}.{k}@example.org" for k, name in enumerate(rng.choice(["ana", "bo", "chen", "dee"], n))]
    contacts = [(ids[a], ids[b]) for a, b in draw_pairs(rng, kinds, 4 * n, inside=0.8)]
    write(folder / "contacts.txt", None, contacts, delimiter=" ")
    order = {kind: k for k, kind in enumerate(sorted(set(kinds)))}
    floors = [
        (order[kind] + rng.integers(0, 2)) % 5 if rng.random() < 0.8 else rng.integers(0, 5) for kind in kinds
    ]
    ages = rng.integers(20, 65, n)
    office = rng.choice(["Lyon", "Oslo", "Turin"], n)
    rows = zip(ids, ages, floors, office, strict=True)
    write(folder / "people.tsv", ["person", "age", "floor", "office"], rows, delimiter="\t")
    missing = ("legal", "finance")
    edges, labels = folder / "contacts.txt", folder / "teams.csv"
    write(labels, ["person", "team"], draw_labels(rng, ids, kinds, missing, 0.3))
    extra = ("--features", str(folder / "people.tsv"))
    return Stranger(edges, labels, extra, dict(zip(ids, kinds, strict=True)), missing)


def make_bank(folder: Path, seed: int = 1, n: int = 1000) -> Stranger:
    """Write a bank's transfers with amounts and dates, numbers and categories of accounts with gaps, and types."""
    rng = np.random.default_rng(seed)
    kinds = draw_classes(rng, n, {"household": 8, "shop": 4, "employer": 3, "mule": 3, "exchange": 2})
    ids = [f"{number:08d}" for number in rng.choice(10**8, n, replace=False)]
    members = {kind: np.flatnonzero(np.array(kinds) == kind) for kind in sorted(set(kinds))}
    flows = {  # from, to, share of all transfers: who pays whom
        ("household", "shop"): 0.4,
        ("employer", "household"): 0.2,
        ("shop", "employer"): 0.1,
        ("household", "mule"): 0.12,
        ("mule", "exchange"): 0.15,
        ("exchange", "exchange"): 0.03,
    }
    transfers = []
    for (source, target), share in flows.items():
        for _ in range(int(5 * n * share)):
            a, b = rng.choice(members[source]), rng.choice(members[target])
            day = f"2026-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}"
            transfers.append((ids[a], ids[b], f"{rng.lognormal(5, 1):.2f}", day))
    write(folder / "transfers.csv", ["from_account", "to_account", "amount", "date"], transfers)
    night = {"household": 0.12, "shop": 0.08, "employer": 0.03, "mule": 0.47, "exchange": 0.3}
    balance = {"household": 3_000, "shop": 20_000, "employer": 300_000, "mule": 900, "exchange": 60_000}
    home = {"household": "FR", "shop": "FR", "employer": "DE", "mule": "FR", "exchange": "MT"}
    rows = []
    for account, kind in zip(ids, kinds, strict=True):
        share = np.clip(rng.normal(night[kind], 0.06), 0, 1)
        country = home[kind] if rng.random() < 0.7 else rng.choice(["FR", "DE", "MT", "ES"])
        cells = [f"{share:.3f}", f"{balance[kind] * rng.lognormal(0, 0.5):.0f}", country]
        rows.append([account, *("" if rng.random() < 0.05 else cell for cell in cells)])
    write(folder / "accounts.csv", ["account", "night_share", "balance", "country"], rows)
    missing = ("mule", "exchange")
    edges, labels = folder / "transfers.csv", folder / "types.csv"
    write(labels, ["account", "type of account"], draw_labels(rng, ids, kinds, missing, 0.3))
    extra = ("--features", str(folder / "accounts.csv"))
    return Stranger(edges, labels, extra, dict(zip(ids, kinds, strict=True)), missing)


def draw_classes(rng: Generator, n: int, shares: dict[str, int]) -> list[str]:
    """Return a class for every node, in random order, each with its share."""
    sizes = np.floor(np.array(list(shares.values())) / sum(shares.values()) * n).astype(int)
    kinds = [kind for kind, size in zip(shares, sizes, strict=True) for _ in range(size)]
    kinds += [next(iter(shares))] * (n - len(kinds))
    return [str(kind) for kind in rng.permutation(kinds)]


def draw_pairs(
    rng: Generator, kinds: Sequence[str], n_pairs: float, *, inside: float
) -> list[tuple[int, int]]:
    """Return distinct pairs of nodes, the share `inside` of them within one class."""
    classes = np.array(kinds)
    members = {kind: np.flatnonzero(classes == kind) for kind in set(kinds)}
    pairs: dict[tuple[int, int], None] = {}
    while len(pairs) < n_pairs:
        a = int(rng.integers(len(kinds)))
        b = int(rng.choice(members[kinds[a]]) if rng.random() < inside else rng.integers(len(kinds)))
        if a != b:
            pairs[min(a, b), max(a, b)] = None
    return list(pairs)


def draw_labels(
    rng: Generator, ids: Sequence[str], kinds: Sequence[str], missing: Iterable[str], rate: float
) -> list[tuple[str, str]]:
    """Return rows of a node and its class for a share of the nodes of the classes that are not missing."""
    rows = zip(ids, kinds, strict=True)
    return [(node, kind) for node, kind in rows if kind not in missing and rng.random() < rate]


def write(
    path: Path, header: list[str] | None, rows: Iterable[Sequence[object]], delimiter: str = ","
) -> None:
    """Write a text file as Excel does: a quoted cell where it is needed."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerows([*([header] if header else []), *rows])
