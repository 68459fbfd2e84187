"""How often the certificate is wrong, and where labelling ends with it: `unseen bench certificate`.

First the certificate alone: runs of random answers on populations whose classes are known, half of them with other
questions in between, which find missing classes more often. A run is wrong if at any time more nodes belong to classes
without a label than its certificate allows. Then a user who answers the questions of `suggest`, random ones included,
until 5 % is certified. Every setting and every draw is a row of `certificate.csv` in the working folder; a second start
takes up where the first one ended.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from unseen.certificate import certify
from unseen.data.datasets import Dataset, load_dataset
from unseen.data.generators import planted_partition
from unseen.discovery.discover import discover
from unseen.discovery.suggest import suggest
from unseen.labels import Labels
from unseen.splits import completely_imbalanced_split
from unseen_paper.bench.draws import Row, cells_of, kept_draws
from unseen_paper.bench.report import Table
from unseen_paper.csv_files import read_csv, write_csv

ALPHA = 0.05
NODES, RUNS, ANSWERS = 2000, 5000, 400
SETTINGS = {"one class of 5.5 %": 1, "6 classes": 6, "60 classes": 60, "100 classes": 100, "200 classes": 200}
"""Missing classes of each setting; together they have 5.5 % of the nodes, or 30 % where there are several."""
SHARE_OF_ONE, SHARE_OF_SEVERAL = 0.055, 0.3
FIRST_SEED = 35_000
FILE = Path("certificate.csv")
GRAPHS = ("planted", "cora", "debian")
RATE, HIDDEN, BATCH, RANDOM, MOST = 0.3, (2, 3), 10, 5, 300
ENOUGH = 0.05
"""Share of the nodes at which the user stops."""
FIGURES = ("hidden", "named", "answers", "random", "share", "missing", "wrong")


def run(
    *, repeats: int = RUNS, methods: Sequence[str] | None = None, draws: int = 20, file: Path = FILE
) -> list[Table]:
    """Return the tables of `repeats` runs of each setting and of `draws` labelling loops of each graph."""
    columns = ("setting", "run_count", "wrong", "certified")
    place = file.with_name(f"{file.stem}-runs{file.suffix}")
    rows: list[Row] = list(read_csv(place, columns)) if place.exists() else []
    done = {(row["setting"], str(row["run_count"])) for row in rows}
    for number, (setting, n_classes) in enumerate(SETTINGS.items()):
        if (setting, str(repeats)) not in done:
            rng = np.random.default_rng((FIRST_SEED, number))
            runs = [simulate(n_classes, rng, with_scores=bool(k % 2)) for k in range(repeats)]
            wrong, certified = (sum(each[place] for each in runs) for place in (0, 1))
            rows.append({"setting": setting, "run_count": repeats, "wrong": wrong, "certified": certified})
            write_csv(rows, place)
    seeds = [(seed,) for seed in range(FIRST_SEED, FIRST_SEED + draws)]
    loops = kept_draws(methods or GRAPHS, seeds, measure, ("seed",), FIGURES, file, _load)
    shown = [row for row in rows if str(row["run_count"]) == str(repeats)]
    return [run_table(shown), loop_table(loops)]


def simulate(n_classes: int, rng: np.random.Generator, *, with_scores: bool) -> tuple[bool, bool]:
    """Return whether the certificate was wrong at any time, and whether 5 % was certified in the end.

    Parameters
    ----------
    n_classes : int
        Missing classes; sizes are drawn, apart from a single one.
    rng : Generator
        Draws the population and the questions.
    with_scores : bool
        Whether another question comes before each random one, half of the time about a node of a missing class.
    """
    share = SHARE_OF_ONE if n_classes == 1 else SHARE_OF_SEVERAL
    n_missing = round(share * NODES)
    weights = rng.exponential(size=n_classes) + 0.05
    sizes = 1 + rng.multinomial(n_missing - n_classes, weights / weights.sum())
    classes = np.concatenate(
        [np.zeros(NODES - n_missing, dtype=np.int64), np.repeat(np.arange(1, n_classes + 1), sizes)]
    )
    order = rng.permutation(NODES).tolist()
    left = np.r_[0, sizes].tolist()
    d, asked, a, run_pools, total = n_missing, set[int](), 0, list[int](), 0.0
    bar, is_wrong, place = math.log(3 / (2 * ALPHA)), False, 0
    for _ in range(ANSWERS):
        if with_scores and rng.random() < 0.5 and d:
            candidates = np.flatnonzero(classes if rng.random() < 0.5 else classes == 0)
            node = int(rng.choice(candidates))
            if node not in asked:
                asked.add(node)
                if left[classes[node]]:
                    d, left[classes[node]] = d - left[classes[node]], 0
                    total = sum(-math.log1p(-d / pool) for pool in run_pools)
        while order[place] in asked:
            place += 1
        node, pool = order[place], NODES - len(asked)
        asked.add(node)
        if left[classes[node]]:
            d, left[classes[node]] = d - left[classes[node]], 0
            a, run_pools, total = a + 1, [], 0.0
            bar += math.log(3)
        else:
            run_pools.append(pool)
            total += -math.log1p(-d / pool)
        # the bound is below d exactly if d is refused
        is_wrong = is_wrong or total >= bar
    refused = math.floor(ENOUGH * NODES) + 1
    return is_wrong, sum(-math.log1p(-refused / pool) for pool in run_pools) >= bar


def measure(data: Dataset, seed: int) -> dict[str, object]:
    """Return how labelling to the end went for one draw.

    `named`: questions by score until every hidden class has a label; `answers` and `random`: all answers, and the
    random ones, until 5 % is certified; `share`: what is certified then; `missing`: true share of nodes of classes
    without a label; `wrong`: certificates on the way that were wrong.
    """
    hidden = HIDDEN[seed % len(HIDDEN)]
    split = completely_imbalanced_split(data.labels, label_rate=RATE, unseen=hidden, random_state=seed)
    truth, labels = data.labels.to_lists(), split.seen_labels
    named, wrong, n_random, n_answers = 0, 0, 0, 0
    while n_answers < MOST and labels.certificate().share > ENOUGH:
        found = discover(data.graph, labels, random_state=seed)
        for question in suggest(
            data.graph, labels, budget=BATCH, random=RANDOM, discovery=found, random_state=seed
        ):
            labels = labels.with_answers([question], [truth[question.node]])
            missing = _missing_share(labels, truth)
            n_answers, n_random = n_answers + 1, n_random + (question.drawn == "random")
            named += question.drawn == "score" and missing > 0
            wrong += labels.certificate().share < missing
            if labels.certificate().share <= ENOUGH:
                break
    missing = _missing_share(labels, truth)
    return {
        "hidden": hidden,
        "named": named + (missing == 0),
        "answers": n_answers,
        "random": n_random,
        "share": round(certify(labels).share, 4),
        "missing": round(missing, 4),
        "wrong": wrong,
    }


def _missing_share(labels: Labels, truth: dict[object, list[str]]) -> float:
    known = {name for name, count in zip(labels.classes, labels.counts, strict=True) if count}
    return sum(not known.intersection(names) for names in truth.values()) / labels.n_nodes


def _load(name: str) -> Dataset:
    return planted_partition(600, 6, random_state=0) if name == "planted" else load_dataset(name)


def run_table(rows: Sequence[Row]) -> Table:
    """Return the share of runs in which the certificate was wrong at any time."""
    lines = []
    for row in rows:
        n, wrong = int(str(row["run_count"])), int(str(row["wrong"]))
        error = math.sqrt(ALPHA * (1 - ALPHA) / n)
        certified = int(str(row["certified"])) / n
        lines.append(
            (
                str(row["setting"]),
                f"{n:,}",
                f"{wrong / n:.4f}",
                f"{ALPHA + 2 * error:.4f}",
                f"{certified:.2f}",
            )
        )
    notes = (
        f"{NODES:,} nodes, {ANSWERS} random answers, a look after each one. Half of the runs have other questions in "
        "between. allowed: 5 % plus two standard errors. 5 % certified: in the end.",
    )
    header = ("missing", "runs", "wrong at any time", "allowed", "5 % certified")
    return Table("The certificate in simulated runs", header, lines, notes)


def loop_table(rows: Sequence[Row]) -> Table:
    """Return the labelling loops of each graph."""
    lines = []
    for (graph,), _, value in cells_of(rows, ("graph",), FIGURES):
        at_the_end = value["missing"] <= value["share"]
        lines.append(
            (
                graph,
                str(len(at_the_end)),
                f"{at_the_end.mean():.2f}",
                f"{(value['wrong'] == 0).mean():.2f}",
                f"{value['named'].mean():.1f}",
                f"{np.median(value['answers']):.0f}",
                f"{np.median(value['random']):.0f}",
                f"{(value['missing'] == 0).mean():.2f}",
            )
        )
    words = "graph,draws,true at the end,always true,questions by score,answers,random ones,no class missing"
    notes = (
        f"{RATE:.0%} of the labels, 2 or 3 classes hidden, {BATCH} questions and {RANDOM} random ones at a time, until "
        "5 % is certified. always true: at every answer. questions by score: until every class is named.",
    )
    return Table("Labelling to the end", tuple(words.split(",")), lines, notes)
