"""Bring the tables of docs/scale.md up to date with the model that estimates are made by: `tools/scale_page.py`.

It rewrites what stands between ``<!-- model: name -->`` and ``<!-- end of model -->``. Measured figures are listed
here, with the commands that printed them; estimates beside them, and all of the large example, are computed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import unseen
from unseen.engine import estimate as model
from unseen.engine.estimate import Sizes
from unseen.methods.registry import method_class

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
MARKED = re.compile(r"(?s)(<!-- model: ([\w-]+) -->\n)(.*?)(<!-- end of model -->)")

NODES, ENTRIES, MACHINES, CORES, COLUMNS, EPOCHS = 10**9, 2 * 10**11, 100, 32, 64, 100
LABELLED = 10**8
BYTES_PER_SECOND = 100e9 / 8
"""Of the network: 100 Gbit/s."""


@dataclass(frozen=True)
class Measured:
    """A fit of `unseen reproduce scalability` or `bench outofcore`, one thread: peak MB and processor seconds."""

    method: str
    features: str
    nodes: int
    columns: int
    steps: int
    megabytes: float
    seconds: float

    def estimated(self) -> tuple[float, float]:
        """Return the megabytes and seconds that the model says."""
        source, shape = self.features.split(",")[0] or "adjacency", {}
        if source[0].isdigit():
            source, shape = "features", {"feature_columns": 1000, "feature_entries": 10 * self.nodes}
        sizes = Sizes(self.nodes, 4 * self.nodes, self.columns, self.steps, source=source, **shape)
        cost = model.estimate(method_class(self.method), sizes, threads=1)
        assert cost is not None
        return (cost.n_bytes - (cost.movable if "on disk" in self.features else 0.0)) / 1e6, cost.seconds


MEASURED = (
    Measured("rect-n", "identity", 100_000, 64, 2, 513, 0.9),
    Measured("rect-n", "adjacency", 100_000, 64, 2, 583, 1.2),
    Measured("rect-n", "identity", 1_000_000, 64, 3, 2624, 16.9),
    Measured("rect-l", "identity", 100_000, 64, 2, 589, 1.3),
    Measured("rect-l", "adjacency", 100_000, 64, 2, 930, 5.6),
    Measured("rect", "identity", 100_000, 64, 2, 560, 1.7),
    Measured("rect", "adjacency", 100_000, 64, 2, 931, 5.8),
    Measured("rect", "identity", 1_000_000, 64, 2, 3141, 20.3),
    Measured("mfdw", "", 100_000, 64, 5, 342, 4.1),
    Measured("rsdne-light", "", 100_000, 64, 5, 569, 10.0),
    Measured("rsdne", "", 100_000, 64, 5, 592, 9.2),
)


def filled(page: str) -> str:
    """Return the page with every marked table made anew."""
    tables = {"constants": constants, "estimates": estimates, "machines": machines}
    return MARKED.sub(lambda match: f"{match[1]}{tables[match[2]]()}{match[4]}", page)


def constants() -> str:
    """Return the seconds of the model's units."""
    rows = [
        ("an entry or row and a column of a sparse product", f"{model.PRODUCT_SECONDS:.0e}"),
        ("fetching a row, per doubling of the vectors beyond the cache", f"{model.FETCH_SECONDS:.0e}"),
        ("a row and a pair of columns of U'U or U(U'U)", f"{model.GRAM_SECONDS:.0e}"),
        ("a number of a pass over a tall array", f"{model.PASS_SECONDS:.0e}"),
        ("a row or entry of the graph, to normalise it, once, on one thread", f"{model.PREPARE_SECONDS:.1e}"),
        ("a byte that is exchanged, on one thread", f"{model.EXCHANGE_SECONDS:.0e}"),
    ]
    return _table(("unit", "processor s"), [(what, number.replace("e-0", "e-")) for what, number in rows])


def estimates() -> str:
    """Return what was measured beside what is estimated."""
    header = (
        "method",
        "features",
        "nodes",
        "columns",
        "epochs or rounds",
        "peak MB",
        "estimate",
        "processor s",
    )
    rows = []
    for one in MEASURED:
        megabytes, seconds = one.estimated()
        about = one.method, one.features, f"{one.nodes:,}", str(one.columns), str(one.steps)
        rows.append((*about, f"{one.megabytes:g}", f"{megabytes:.0f}", f"{one.seconds}", f"{seconds:.1f}"))
    return _table((*header, "estimate"), rows)


def share(halo_part: float) -> Sizes:
    """Return what one process of the large example has, where its halo is this part of a random cut's."""
    own, entries = NODES // MACHINES, ENTRIES // MACHINES
    halo = (NODES - own) * (1 - math.exp(-entries / own / MACHINES))
    return Sizes(own, entries, COLUMNS, EPOCHS, source="identity", halo=round(halo * halo_part))


@dataclass(frozen=True)
class Costs:
    """What a process of the large example takes: seconds of an epoch by kind, and bytes."""

    prepared: float
    products: float
    dense: float
    received: float
    tall: float
    graph: float
    halo: float

    @property
    def copied(self) -> float:
        """Seconds for gathering and copying rows, on one thread."""
        return model.EXCHANGE_SECONDS * self.received

    @property
    def network(self) -> float:
        """Seconds on the network."""
        return self.received / BYTES_PER_SECOND

    @property
    def epoch(self) -> float:
        """Seconds of an epoch, nothing overlapped."""
        return self.products + self.dense + self.copied + self.network


def costs(sizes: Sizes) -> Costs:
    """Return the costs of a share; 32 columns at a time, of vectors so large that fetching a row costs the most."""
    work = sizes.nodes + sizes.entries
    fetched = 2 * model.MOST_DOUBLINGS * model.FETCH_SECONDS
    return Costs(
        prepared=model.PREPARE_SECONDS * work,
        products=6 * work * (COLUMNS * model.PRODUCT_SECONDS + fetched) / CORES,
        dense=sizes.nodes * COLUMNS * (COLUMNS * model.GRAM_SECONDS + model.PASS_SECONDS) / CORES,
        received=6 * 4 * COLUMNS * sizes.halo,
        tall=8 * 4 * COLUMNS * sizes.nodes,
        graph=45 * sizes.entries + 60 * sizes.nodes,
        halo=model.halo_bytes(sizes),
    )


def machines() -> str:
    """Return the large example: 10^9 nodes and 10^11 edges on a hundred machines."""
    columns = []
    for part in (1.0, 0.1):
        sizes = share(part)
        cost = costs(sizes)
        exponent = math.floor(math.log10(sizes.halo))
        candidates = unseen.RSDNELight.labelled_bytes * LABELLED / MACHINES
        columns.append(
            {
                "halo h_r, rows": f"{sizes.halo / 10**exponent:.1f} 10^{exponent}",
                "rows of the graph that a process needs": f"{sizes.halo / NODES:.0%}".replace("%", " %"),
                "preparing the graph, once, on one thread": f"{cost.prepared / 60:.0f} minutes",
                "sparse products per epoch": f"{cost.products:.0f} s",
                "dense work per epoch": f"{cost.dense:.1f} s",
                "received per epoch": f"{cost.received / 1e12:.2f} TB, {cost.network:.0f} s",
                "gathering and copying it, per epoch, on one thread": f"{cost.copied / 60:.0f} minutes",
                "an epoch, nothing overlapped": f"{cost.epoch / 60:.0f} minutes",
                f"{EPOCHS} epochs": f"{EPOCHS * cost.epoch / 3600:.0f} hours",
                "memory: tall arrays": f"{cost.tall / 1e9:.0f} GB",
                "memory: graph": f"{cost.graph / 1e9:.0f} GB",
                "memory: halo of a product, 32 columns": f"{cost.halo / 1e9:.0f} GB",
                "a checkpoint, per process": f"{3 * 4 * COLUMNS * sizes.nodes / 1e9:.1f} GB",
                "RSDNE\\*, 10^8 labelled nodes: keys of all": f"{24 * LABELLED / 1e9:.1f} GB",
                "RSDNE\\*: vectors of all, at most": f"{4 * COLUMNS * LABELLED / 1e9:.0f} GB",
                "RSDNE\\*: candidates of its own nodes": f"{candidates / 1e9:.0f} GB",
            }
        )
    rows = [(name, *(column[name] for column in columns)) for name in columns[0]]
    return _table(("", "random cut", "cut with a tenth of the halo"), rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def main() -> None:
    """Rewrite the page."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
