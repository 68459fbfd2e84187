"""Discovery on nine graphs and three without features, a third of the classes hidden: `unseen bench discovery`.

Every draw is a row of `discovery.csv` in the working folder; a second start takes up where the first one ended.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from unseen.data.datasets import Dataset, load_dataset
from unseen.discovery.discover import discover
from unseen.discovery.groups import MAX_CLASSES
from unseen.discovery.truth import compare
from unseen.splits import completely_imbalanced_split
from unseen_paper.bench.draws import OncePerGraph, Row, cells_of, kept_draws
from unseen_paper.bench.report import Table

GRAPHS = ("debian", "cora", "citeseer", "wiki", "photo", "coauthor-cs", "facebook", "actor", "chameleon")
PLAIN = " without features"
WITHOUT_FEATURES = ("blogcatalog", f"facebook{PLAIN}", f"wiki{PLAIN}")
RATES = (0.05, 0.1, 0.3)
FIRST_SEED = 66_000
FILE = Path("discovery.csv")
FIGURES = (
    "auroc",
    "ece",
    "expected",
    "hidden",
    "number",
    "classes",
    "inside",
    "high",
    "all",
    "seen",
    "novel",
    "self_test",
    "trusted",
    "concentrated",
    "seconds",
)
"""`expected` is nan where no number is given; `inside` is whether the interval, up to `high`, has the true number of
classes."""
VERDICTS = ("poorly", "moderately well", "well")
"""How classes are said to be recovered; nothing where the test says little about missing classes."""
KEYS = ("rate", "seed")
ONCE = OncePerGraph()


def run(*, repeats: int = 10, methods: Sequence[str] | None = None, file: Path = FILE) -> list[Table]:
    """Return the table of `repeats` draws of each graph and label rate, measured where `file` lacks them."""
    draws = list(itertools.product(RATES, range(FIRST_SEED, FIRST_SEED + repeats)))
    graphs = methods or (*GRAPHS, *WITHOUT_FEATURES)
    return [table(kept_draws(graphs, draws, measure, KEYS, (*FIGURES, "verdict"), file, load))]


def load(name: str) -> Dataset:
    """Return a data set, or one whose features are left out."""
    data = load_dataset(name.removesuffix(PLAIN))
    return replace(data, graph=data.graph.with_features(None)) if name.endswith(PLAIN) else data


def measure(data: Dataset, rate: float, seed: int) -> dict[str, object]:
    """Hide a third of the classes and return how right what was found is."""
    hidden = max(1, round(len(data.labels.classes) / 3))
    split = completely_imbalanced_split(data.labels, label_rate=rate, unseen=hidden, random_state=seed)
    start = time.process_time()
    with ONCE.of(f"{data.name}{'' if data.graph.features is not None else PLAIN}") as once:
        result = discover(data.graph, split.seen_labels, random_state=seed)
    seconds = time.process_time() - start + once.saved
    truth = compare(result, data.labels)
    number = result.count
    figures = (
        truth.auroc,
        truth.ece,
        result.new_nodes.expected,
        truth.n_hidden,
        number.best,
        truth.n_classes,
        float(number.low <= truth.n_classes <= number.high),
        number.high,
        truth.accuracy_all,
        truth.accuracy_seen,
        truth.accuracy_unseen,
        result.self_test.auroc,
        float(not result.self_test.failed),
        float("concentrated in one region of their classes" in " ".join(result.coverage.warnings)),
        seconds,
    )
    verdict = [how for how in VERDICTS if f"recovered {how} " in result.self_test.verdict]
    return {
        **{
            name: "nan" if value is None else f"{float(value):.6g}"
            for name, value in zip(FIGURES, figures, strict=True)
        },
        "verdict": verdict[0] if verdict else "",
    }


def is_true(row: Row) -> bool:
    """Return whether a draw has a true verdict: "well" with an AUROC of .8 and more, "poorly" with .9 and less."""
    auroc = float(str(row["auroc"]))
    return {"well": auroc >= 0.8, "poorly": auroc <= 0.9}.get(str(row["verdict"]), bool(row["verdict"]))


def table(rows: Sequence[Row]) -> Table:
    """Return the means over the draws of each graph and rate."""
    lines = []
    for (graph, rate), draws, value in cells_of(rows, ("graph", "rate"), FIGURES):
        trusted = value["trusted"] > 0
        said = np.isfinite(value["expected"])
        closed = said & (value["high"] <= MAX_CLASSES)
        ratio = (value["expected"] / np.maximum(value["hidden"], 1))[said]
        inside = f"{len(ratio)}: {np.mean((ratio >= 0.7) & (ratio <= 1.4)):.2f}" if len(ratio) else "0"
        off = np.abs(value["number"] - value["classes"])
        means = [f"{np.nanmean(value[name]):.3f}" for name in ("auroc", "self_test", "ece")]
        means.append(f"{value['ece'][trusted].mean():.3f} of {trusted.sum()}" if trusted.any() else "")
        accuracy = [f"{np.nanmean(value[name]):.3f}" for name in ("all", "seen", "novel")]
        lines.append(
            (
                graph,
                f"{float(rate):g}",
                str(len(draws)),
                *means,
                inside,
                f"{np.mean(off == 0):.2f}",
                f"{np.mean(off <= 1):.2f}",
                f"{np.mean(np.abs(2 - value['classes']) == 0):.2f}",
                f"{np.mean(off):.2f}",
                f"{value['inside'][closed].sum():.0f} of {closed.sum()}",
                f"{sum(is_true(row) for row in draws)} of {sum(bool(row['verdict']) for row in draws)}",
                *accuracy,
                f"{value['seconds'].mean():.1f}",
            )
        )
    words = "graph,rate,draws,AUROC,self-test,ECE,ECE where the test holds,expected/true .7 to 1.4,exact,within one"
    header = tuple(
        f"{words},always 2 exact,mean error,in the interval,verdict true,all,seen,novel,s".split(",")
    )
    notes = (
        "A third of the classes hidden. expected/true: share of the draws that give a number of new nodes, which comes "
        "before it. in the interval: of the draws that give an interval of the number of classes. all, seen, novel: "
        "Hungarian accuracy as paper/docs/notes/discovery.md defines it.",
    )
    return Table("Discovery", header, lines, notes)
