"""Graphs with types, directions and signs: `unseen bench relations --out FOLDER`.

Tables, each named by `--methods`: `hidden` (classes of DBLP and ACM hidden, 10 and 30 % labels), `baselines` (the same
beside RECT and GCN), `seen` (all classes, five folds inside ``label.dat``), `signed` (fin-ynet, 20 % labels; planted
signs), `directed` (Cora's and Wiki's links as they are), `discover` (one area of DBLP hidden, 10 % labels), `large`
(three types, up to a million nodes). Results are kept in FOLDER/relations.csv, and a later start goes on from there.
"""

from __future__ import annotations

import csv
import itertools
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen import (
    Graph,
    Labels,
    Relation,
    completely_imbalanced_split,
    discover,
    evaluate,
    load_dataset,
    make_method,
    read,
)
from unseen.engine.run import Run as Engine
from unseen.engine.run import Shared
from unseen_paper.bench.report import Table

RATES = (0.1, 0.3)
BASELINE_DRAWS = 3
"""Draws beside which RECT and GCN are trained, which takes minutes for each."""
TABLES = ("hidden", "baselines", "seen", "signed", "directed", "discover", "large")
Figures = dict[str, float]


class Kept:
    """Figures by key, in a csv file; what is there is not computed again."""

    def __init__(self, path: Path) -> None:
        self.path, self.rows = path, dict[tuple[str, ...], Figures]()
        if path.is_file():
            with path.open(newline="", encoding="utf-8") as file:
                for *key, name, value in csv.reader(file):
                    self.rows.setdefault(tuple(key), {})[name] = float(value)

    def of(self, key: tuple[str, ...], make: Callable[..., Figures], *given: Any, **params: Any) -> Figures:
        """Return the figures of a key, made of what is given where they are not there."""
        if key not in self.rows:
            start = time.process_time()
            figures = make(*given, **params)
            self.rows[key] = {**figures, "seconds": time.process_time() - start}
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([*key, name, value] for name, value in self.rows[key].items())
        return self.rows[key]


def run(*, repeats: int = 10, methods: Sequence[str] = TABLES, out: str = ".") -> list[Table]:
    """Run what is missing, and return the tables."""
    kept = Kept(Path(out) / "relations.csv")
    return [_TABLES[name](kept, repeats) for name in methods]


def _scored(
    graph: Graph,
    labels: Labels,
    split: Any,
    method: str,
    seed: int,
    shared: Shared | None = None,
    **params: Any,
) -> Figures:
    fitted = make_method(method, random_state=seed, **params)
    fitted._fit_run(graph, split.seen_labels, Engine(shared=shared))
    score = evaluate(fitted.embedding_, labels, split, random_state=seed)
    return {"micro": score.micro_f1, "macro": score.macro_f1}


def _mean(rows: Sequence[Figures], name: str) -> float:
    return float(np.mean([row[name] for row in rows]))


def _hidden(kept: Kept, repeats: int) -> Table:
    return _hide(kept, repeats, {"relations": "rect-plus", "folded": "rect-plus"})


def _baselines(kept: Kept, repeats: int) -> Table:
    ways = {"relations": "rect-plus", "folded": "rect-plus", "RECT, folded": "rect", "GCN, folded": "gcn"}
    return _hide(kept, min(repeats, BASELINE_DRAWS), ways)


def _hide(kept: Kept, repeats: int, ways: dict[str, str]) -> Table:
    """Hide classes; draws are the outer loop, because what needs no labels is shared between fits of one seed."""
    rows = []
    for name, size in (("hgb-dblp", 2), ("hgb-acm", 1)):
        data = load_dataset(name)
        labels, graph = data.labels, data.graph
        figures: dict[tuple[float, str], list[Figures]] = {}
        for seed in range(repeats):
            shared = {way: Shared(graph.plain if "folded" in way else graph) for way in ways}
            for rate, hidden in itertools.product(RATES, itertools.combinations(labels.classes, size)):
                split = completely_imbalanced_split(labels, label_rate=rate, unseen=hidden, random_state=seed)
                for way, method in ways.items():
                    key = ("hidden", name, f"{rate}", "+".join(hidden), f"{seed}", way)
                    given = (shared[way].graph, labels, split, method, seed, shared[way])
                    figures.setdefault((rate, way), []).append(kept.of(key, _scored, *given))
        for rate in RATES:
            each = [figures[rate, way] for way in ways]
            cells = (f"{_mean(one, 'micro'):.3f} / {_mean(one, 'macro'):.3f}" for one in each)
            rows.append((name, f"{rate:.0%}", f"{len(each[0])}", *cells))
    return Table("Hidden classes: micro / macro F1", ("data set", "labels", "draws", *ways), rows)


def _seen(kept: Kept, repeats: int) -> Table:
    rows = []
    for name in ("hgb-acm", "hgb-dblp"):
        data = load_dataset(name)
        figures = [kept.of(("seen", name, f"{s}"), _folds, data, s) for s in range(repeats)]
        rows.append(
            (
                name,
                *(f"{_mean(figures, key):.3f}" for key in ("micro", "macro")),
                f"{_mean(figures, 'fit'):.1f}",
            )
        )
    return Table(
        "All classes seen: five folds inside label.dat",
        ("data set", "micro", "macro", "seconds of a fit"),
        rows,
    )


def _folds(data: Any, seed: int) -> Figures:
    """Return F1 of a linear SVM on vectors that were made with the labels of the other folds."""
    from sklearn.metrics import f1_score
    from sklearn.model_selection import StratifiedKFold
    from sklearn.svm import LinearSVC

    rows, codes = data.labels.labelled, data.labels.codes
    truth, guess, seconds = [], [], 0.0
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(rows, codes[rows]):
        start = time.process_time()
        vectors = make_method("rect-plus", random_state=seed).fit_transform(
            data.graph, data.labels.keep(rows[train])
        )
        seconds += (time.process_time() - start) / 5
        svm = LinearSVC(C=0.03, random_state=0).fit(vectors.vectors[rows[train]], codes[rows[train]])
        truth.append(codes[rows[test]])
        guess.append(svm.predict(vectors.vectors[rows[test]]))
    sides = np.concatenate(truth), np.concatenate(guess)
    return {
        "micro": f1_score(*sides, average="micro"),
        "macro": f1_score(*sides, average="macro"),
        "fit": seconds,
    }


def _signed(kept: Kept, repeats: int) -> Table:
    rows, names = [], ("chosen", "positive only", "signed only")
    for name in [*(f"fin-ynet:{year}" for year in range(2000, 2011)), "planted"]:
        rate, figures = 0.3 if name == "planted" else 0.2, dict[str, list[Figures]]()
        for seed in range(repeats):
            graph, labels = planted_signs(seed) if name == "planted" else _of(name)
            hidden = [labels.classes[seed % (len(labels.classes) - 1)]]
            split = completely_imbalanced_split(labels, label_rate=rate, unseen=hidden, random_state=seed)
            relation = graph.relations[0].name
            for way in names:
                params = (
                    {"views": (f"nodes-ids/{relation}", f"nodes-ids/{relation}.{relation}")}
                    if way == names[2]
                    else {}
                )
                own = graph.plain if way == names[1] else graph
                key = ("signed", name, f"{seed}", way)
                one = kept.of(key, _scored, own, labels, split, "rect-plus", seed, **params)
                figures.setdefault(way, []).append(one)
        means = [_mean(figures[way], "micro") for way in names]
        rows.append((name, *(f"{value:.3f}" for value in means), f"{means[0] - max(means[1:]):+.3f}"))
    return Table("Signs: micro F1", ("data set", *names, "chosen less the better"), rows)


def _of(name: str) -> tuple[Graph, Labels]:
    data = load_dataset(name)
    return data.graph, data.labels


def planted_signs(seed: int, n: int = 600, pairs: int = 15_000) -> tuple[Graph, Labels]:
    """Return four classes that negative edges tell apart: + inside, - across, a tenth flipped, few + kept."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 4, n)
    ends = np.sort(rng.integers(0, n, (2, pairs)), axis=0)
    ends = np.unique(ends[:, ends[0] != ends[1]], axis=1)
    sign = np.where(classes[ends[0]] == classes[ends[1]], 1.0, -1.0) * np.where(
        rng.random(ends.shape[1]) < 0.1, -1, 1
    )
    kept = (sign < 0) | (rng.random(len(sign)) < 0.15)
    graph = Graph.from_relations(
        [Relation("sign", None, None, sp.coo_array((sign[kept], ends[:, kept]), shape=(n, n)))]
    )
    return graph, Labels.from_values([f"c{k}" for k in classes], graph.node_ids)


def _directed(kept: Kept, repeats: int) -> Table:
    rows = []
    for name in ("cora", "wiki"):
        data = load_dataset(name)
        folder = Path(os.environ.get("UNSEEN_DATA", ".")) / name
        links = read(folder, directed=True, header=False).graph.relations[0].matrix
        order = np.argsort([int(node) for node in read(folder, header=False).graph.node_ids])
        relation = Relation("link", None, None, links[order][:, order], directed=True)
        graph = Graph.from_relations([relation], data.graph.node_ids, None, data.graph.features)
        for rate in RATES:
            figures: dict[str, list[Figures]] = {"directed": [], "undirected": []}
            for seed in range(repeats):
                hidden = [data.labels.classes[(2 * seed + k) % len(data.labels.classes)] for k in range(2)]
                split = completely_imbalanced_split(
                    data.labels, label_rate=rate, unseen=hidden, random_state=seed
                )
                for way, own in (("directed", graph), ("undirected", data.graph)):
                    key = ("directed", name, f"{rate}", f"{seed}", way)
                    one = kept.of(key, _scored, own, data.labels, split, "rect-plus", seed)
                    figures[way].append(one)
            means = [_mean(each, "micro") for each in figures.values()]
            rows.append(
                (name, f"{rate:.0%}", *(f"{mean:.3f}" for mean in means), f"{means[0] - means[1]:+.3f}")
            )
    return Table(
        "Directed links: micro F1", ("data set", "labels", "directed", "undirected", "difference"), rows
    )


def _discover(kept: Kept, repeats: int) -> Table:
    data = load_dataset("hgb-dblp")
    rows = []
    for hidden in data.labels.classes:
        figures = [kept.of(("discover", hidden, f"{s}"), _found, data, hidden, s) for s in range(repeats)]
        rows.append((hidden, f"{_mean(figures, 'auroc'):.3f}", f"{_mean(figures, 'seconds'):.1f}"))
    return Table("discover on DBLP, 10 % labels", ("hidden area", "AUROC", "seconds"), rows)


def _found(data: Any, hidden: str, seed: int) -> Figures:
    from sklearn.metrics import roc_auc_score

    split = completely_imbalanced_split(data.labels, label_rate=0.1, unseen=[hidden], random_state=seed)
    nodes = discover(data.graph, split.seen_labels, random_state=seed).nodes
    p = dict(
        zip(nodes.column("node").to_pylist(), nodes.column("unseen_probability").to_pylist(), strict=True)
    )
    labels = data.labels
    test = [row for row in labels.labelled if labels.node_ids[row] in p]
    truth = labels.codes[test] == labels.classes.index(hidden)
    return {"auroc": float(roc_auc_score(truth, [p[labels.node_ids[row]] for row in test]))}


def _large(kept: Kept, repeats: int) -> Table:  # noqa: ARG001
    rows, before = [], None
    for n in (100_000, 300_000, 1_000_000):
        figures = kept.of(("large", f"{n}"), _fitted, n)
        seconds = figures["fit"]
        exponent = "" if before is None else f"{np.log(seconds / before[1]) / np.log(n / before[0]):.2f}"
        rows.append((f"{n:,}", f"{5 * n:,}", f"{seconds:.0f}", f"{figures['megabytes']:,.0f}", exponent))
        before = (n, seconds)
    return Table("Three types of nodes", ("nodes", "edges", "seconds", "MB at most", "exponent"), rows)


def _fitted(n: int) -> Figures:
    import resource

    graph, labels = three_types(n)
    start = time.process_time()
    make_method("rect-plus", random_state=0).fit(graph, labels)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return {"fit": time.process_time() - start, "megabytes": used}


def three_types(n: int, seed: int = 0) -> tuple[Graph, Labels]:
    """Return authors, papers and venues of ten fields, five edges per node; papers have 32 numbers."""
    rng = np.random.default_rng(seed)
    sizes = {"author": int(0.4 * n), "paper": int(0.5 * n)}
    sizes["venue"] = n - sum(sizes.values())
    starts = dict(zip(sizes, np.cumsum([0, *sizes.values()]), strict=False))
    field = {key: rng.integers(0, 10, size) for key, size in sizes.items()}
    relations = []
    for name, source, target, edges in (
        ("wrote", "author", "paper", 2 * n), ("in", "paper", "venue", n), ("cites", "paper", "paper", 2 * n),
    ):  # fmt: skip
        first, second = rng.integers(0, sizes[source], edges), rng.integers(0, sizes[target], edges)
        ordered = np.argsort(field[target], kind="stable")
        own = np.searchsorted(field[target][ordered], field[source][first])
        count = np.bincount(field[target], minlength=10)[field[source][first]]
        same = ordered[own + (rng.random(edges) * count).astype(np.int64)]
        second = np.where(rng.random(edges) < 0.8, same, second)
        ends = first + starts[source], second + starts[target]
        relations.append(
            Relation(
                name, source, target, sp.coo_array((np.ones(edges), ends), shape=(n, n)), name == "cites"
            )
        )
    types = np.repeat(np.array(list(sizes), dtype=object), list(sizes.values()))
    features = rng.standard_normal((sizes["paper"], 32)).astype(np.float32)
    graph = Graph.from_relations(relations, None, types, {"paper": features})
    values = np.where((rng.random(sizes["author"]) < 0.01) & (field["author"] < 8), field["author"], -1)
    rows = np.flatnonzero(values >= 0)
    indicator = sp.coo_array((np.ones(len(rows), dtype=bool), (rows, values[rows])), shape=(n, 10))
    return graph, Labels(indicator.tocsr(), tuple(f"f{k}" for k in range(10)), graph.node_ids)


_TABLES = {
    "hidden": _hidden,
    "baselines": _baselines,
    "seen": _seen,
    "signed": _signed,
    "directed": _directed,
    "discover": _discover,
    "large": _large,
}
