"""Every number that the page on scale derives follows from the model the estimates are made by."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import unseen
from unseen.engine.estimate import (
    EXCHANGE_SECONDS,
    FETCH_SECONDS,
    GRAM_SECONDS,
    MOST_DOUBLINGS,
    PASS_SECONDS,
    PREPARE_SECONDS,
    PRODUCT_SECONDS,
    Sizes,
    estimate,
    halo_bytes,
)
from unseen.methods.registry import method_class

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
NODES, ENTRIES, MACHINES, CORES, COLUMNS = 10**9, 2 * 10**11, 100, 32, 64
BYTES_A_SECOND = 100e9 / 8


def _cells(text: str, name: str) -> list[str]:
    [row] = [line for line in text.splitlines() if line.startswith(f"| {name} |")]
    return [cell.strip() for cell in row.split("|")[2:-1]]


@pytest.fixture(scope="module")
def page() -> str:
    if not PAGE.is_file():
        pytest.skip("the documentation is not part of this distribution")
    return PAGE.read_text(encoding="utf-8")


def _share(halo_part: float) -> Sizes:
    own, entries = NODES // MACHINES, ENTRIES // MACHINES
    halo = (NODES - own) * (1 - math.exp(-entries / own / MACHINES))
    return Sizes(own, entries, COLUMNS, 100, source="identity", halo=round(halo * halo_part))


def test_a_hundred_machines(page: str) -> None:
    random, better = _share(1.0), _share(0.1)
    work = random.nodes + random.entries
    # 32 columns at a time, of vectors so large that fetching a row costs the most it can
    products = 6 * work * (COLUMNS * PRODUCT_SECONDS + 2 * MOST_DOUBLINGS * FETCH_SECONDS) / CORES
    dense = random.nodes * COLUMNS * (COLUMNS * GRAM_SECONDS + PASS_SECONDS) / CORES
    prepared = f"{PREPARE_SECONDS * work / 60:.0f} minutes"
    assert _cells(page, "preparing the graph, once, on one thread") == [prepared] * 2
    assert _cells(page, "sparse products, an epoch") == [f"{products:.0f} s"] * 2
    assert _cells(page, "dense work, an epoch") == [f"{dense:.1f} s"] * 2
    tall, graph = 8 * 4 * COLUMNS * random.nodes, 45 * random.entries + 60 * random.nodes
    assert _cells(page, "memory: tall arrays") == [f"{tall / 1e9:.0f} GB"] * 2
    assert _cells(page, "memory: graph") == [f"{graph / 1e9:.0f} GB"] * 2
    found = []
    for sizes, digits in ((random, 1), (better, 2)):
        received = 6 * 4 * COLUMNS * sizes.halo
        network = received / BYTES_A_SECOND
        copied = EXCHANGE_SECONDS * received
        epoch = products + dense + copied + network
        exponent = math.floor(math.log10(sizes.halo))
        found.append(
            (
                f"{sizes.halo / 10**exponent:.1f} 10^{exponent}",
                f"{received / 1e12:.{digits}f} TB, {network:.0f} s",
                f"{copied / 60:.0f} minutes",
                f"{epoch / 60:.0f} minutes",
                f"{100 * epoch / 3600:.0f} hours",
                f"{halo_bytes(sizes) / 1e9:.0f} GB",
            )
        )
        told = estimate(unseen.RECTN, sizes, threads=CORES)
        assert told is not None
        assert told.sent == pytest.approx(100 * received, rel=0.01)
        assert told.n_bytes == pytest.approx(tall + graph + halo_bytes(sizes), rel=0.01)
        expected = PREPARE_SECONDS * work + 100 * (products + dense + copied)
        assert told.seconds == pytest.approx(expected, rel=0.01)
    names = (
        "halo h_r",
        "received, an epoch",
        "gathering and copying it, an epoch, on one thread",
        "an epoch, nothing overlapped",
        "100 epochs",
        "memory: halo of a product, 32 columns",
    )
    for name, *wanted in zip(names, *found, strict=True):
        assert [cell.removesuffix(" rows") for cell in _cells(page, name)] == wanted
    assert f"a process needs {random.halo / NODES:.0%} of all rows".replace("%", " %") in page


def test_the_constants_on_the_page(page: str) -> None:
    for told in (
        f"{PRODUCT_SECONDS:.0e} for an entry or row and a column",
        f"{FETCH_SECONDS:.0e} for each doubling",
        f"{GRAM_SECONDS:.0e} for a row and a pair",
        f"{PASS_SECONDS:.0e} a number",
        f"{PREPARE_SECONDS:.1e} for every row and entry",
        f"{EXCHANGE_SECONDS:.0e} processor seconds a byte",
    ):
        assert told.replace("e-0", "e-") in page


def test_what_follows_for_labels_and_checkpoints(page: str) -> None:
    labelled, own = 10**8, NODES // MACHINES
    assert f"{24 * labelled / 1e9:.1f} GB and {4 * COLUMNS * labelled / 1e9:.0f} GB" in page
    assert f"another {unseen.RSDNELight.labelled_bytes * labelled / MACHINES / 1e9:.0f} GB" in page
    assert f"a checkpoint is {3 * 4 * COLUMNS * own / 1e9:.1f} GB per process" in page


def test_what_is_told_is_near_what_was_measured(page: str) -> None:
    header = "| method | features | nodes | columns | epochs or rounds | peak MB | told MB | processor s | told s |"
    assert header in page
    rows = page.split(header)[1].split("\n\n")[0].splitlines()[2:]
    assert len(rows) >= 15
    for row in rows:
        method, features, *numbers = [cell.strip() for cell in row.split("|")[1:-1]]
        nodes, columns, rounds = (int(number.replace(",", "")) for number in numbers[:3])
        peak, told_peak, seconds, told_seconds = (float(number) for number in numbers[3:])
        source = features.split(",")[0] or "adjacency"
        shape = {"feature_columns": 1000, "feature_entries": 10 * nodes} if source[0].isdigit() else {}
        source = "features" if shape else source
        found = estimate(
            method_class(method), Sizes(nodes, 4 * nodes, columns, rounds, source=source, **shape), threads=1
        )
        assert found is not None
        held = found.n_bytes - (found.movable if "on disk" in features else 0.0)
        assert told_peak == pytest.approx(held / 1e6, abs=1)
        assert told_seconds == pytest.approx(found.seconds, abs=0.06)
        assert 0.85 < told_peak / peak < 1.15
        assert 0.5 < told_seconds / seconds < 2
