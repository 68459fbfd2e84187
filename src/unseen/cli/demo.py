"""`unseen demo`: why hidden classes are a problem, and what can be done, on one screen."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from unseen.cli import options
from unseen.cli.output import print_json, progress
from unseen.data.files import new_folder
from unseen.errors import UnsupportedError, logger

if TYPE_CHECKING:
    from unseen.data.datasets import Dataset
    from unseen.embedding import Embedding
    from unseen.evaluation import Score
    from unseen.splits import Split

METHODS = {
    "nodefeats": "words of the description alone",
    "gcn": "a GCN, trained the usual way",
    "smoothfeats": "words smoothed over the graph",
    "rect": "RECT",
    "rect-plus": "RECT+ (recommended)",
}
"""Shown in this order, as far as they are installed: no graph, the usual way, no training, the paper's, ours."""
FIGURES = ("micro_f1", "macro_f1", "seen_f1", "unseen_f1")
PAGE_METHOD = "rect-plus"
"""Whose vectors the page shows: those the demo recommends."""


@dataclass(frozen=True, eq=False)
class DemoRun:
    """What one method made of it; `seconds` for learning the vectors and judging them."""

    embedding: Embedding
    score: Score
    seconds: float


@dataclass(frozen=True, eq=False)
class Demo:
    """The data, what was hidden, one run per method, and the methods that are not installed."""

    data: Dataset
    split: Split
    runs: dict[str, DemoRun] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


@options.grouped
def demo(
    *,
    hide: Annotated[
        str | None, "Sections to hide, separated by commas; three are drawn if not given."
    ] = None,
    label_rate: Annotated[float, "Share of the packages whose section is known."] = 0.1,
    output: Annotated[Path, "Folder for the vectors and the page."] = Path("unseen-demo"),
    page: Annotated[bool, "Whether to end with a page to look at."] = True,
    common: options.Common,
) -> None:
    """Show on a bundled real graph what happens to classes that nobody labelled."""
    with new_folder(output):
        result = _run(options.names(hide), label_rate, common.seed)
        for name, run in result.runs.items():
            run.embedding.save(output / f"{name}{'.npz' if name == 'nodefeats' else '.parquet'}")
    if not common.json:
        sys.stdout.write(_as_text(result))
        sys.stdout.flush()  # the numbers first; the page takes a while
    if result.left_out:
        names = " and ".join(METHODS[name] for name in result.left_out)
        logger.info("Left out, because torch is not installed: %s (pip install 'unseen[neural]').", names)
    logger.info("The vectors are in the folder %s.", output)
    written = _write_page(result, output / "explorer.html", common.seed) if page else None
    if common.json:
        print_json({**_as_json(result), "page": None if written is None else str(written)})


def _run(hidden: list[str], label_rate: float, seed: int) -> Demo:
    """Hide three sections (drawn with `seed` unless named), learn vectors, classify."""
    from unseen.data.datasets import load_dataset
    from unseen.evaluation import fit_and_evaluate
    from unseen.methods.registry import make_method
    from unseen.splits import completely_imbalanced_split, random_unseen_sets

    data = load_dataset("debian")
    unseen = hidden or random_unseen_sets(data.labels, 3, 1, random_state=seed)[0]
    split = completely_imbalanced_split(data.labels, label_rate=label_rate, unseen=unseen, random_state=seed)
    result = Demo(data, split)
    with progress("learning vectors") as move:
        for k, name in enumerate(METHODS):
            logger.debug("learning vectors with %s", name)
            if move:
                move(k, len(METHODS))
            start = time.perf_counter()
            try:
                method = make_method(name, random_state=seed)
                embedding, score = fit_and_evaluate(method, data.graph, data.labels, split, random_state=seed)
            except UnsupportedError:  # needs torch, which the core does without
                result.left_out.append(name)
                continue
            result.runs[name] = DemoRun(embedding, score, time.perf_counter() - start)
    return result


def _write_page(result: Demo, path: Path, seed: int) -> Path:
    """Write the page: the hidden sections as discovery finds them, and the truth; and say how to open it."""
    from unseen.explorer import explore, write_explorer

    data, run = result.data, result.runs.get(PAGE_METHOD)
    vectors = None if run is None else run.embedding
    with progress("looking for the hidden sections") as move:
        subject = explore(
            data.graph,
            result.split.seen_labels,
            embedding=vectors,
            truth=data.labels,
            random_state=seed,
            on_step=move,
        )
    hidden = ", ".join(result.split.unseen)
    with progress("drawing the map") as move:
        write_explorer(subject, path, title=f"Debian without {hidden}", random_state=seed, on_progress=move)
    logger.info(
        "Look at what the labels miss: open %s in a browser (a double click, or xdg-open %s).", path, path
    )
    return path


def _as_json(result: Demo) -> dict[str, object]:
    methods = {
        name: {figure: getattr(run.score, figure) for figure in FIGURES} | {"seconds": round(run.seconds, 3)}
        for name, run in result.runs.items()
    }
    return {"dataset": result.data.name, "hidden": list(result.split.unseen), "methods": methods}


def _as_text(result: Demo) -> str:
    graph, labels, split = result.data.graph, result.data.labels, result.split
    hidden = " and ".join(
        [", ".join(split.unseen[:-1]), split.unseen[-1]] if len(split.unseen) > 1 else split.unseen
    )
    left = len(labels.classes) - len(split.unseen)
    n_features = 0 if graph.features is None else graph.features.shape[1]
    lines = [
        f"The graph: {graph.n_nodes:,} Debian packages, {graph.n_edges:,} dependencies between them, {n_features:,}",
        f"words of their one-line descriptions. Each package belongs to one of {len(labels.classes)} sections.",
        "",
        f"Say somebody gave {len(split.seen_labels.labelled)} packages their section, and never thought of {hidden}.",
        f"Each method turns every package into a vector, knowing only those labels of {left} sections.",
        f"Then a linear classifier gets {len(split.train)} labels of all sections and sorts the other "
        f"{len(split.test):,} packages.",
        "F1 is 1.00 when every package of a section is found and nothing else:",
        "",
        f"{'':34}{'labelled':>10}{'hidden':>10}{'all':>8}{'time':>9}",
        f"{'':34}{'sections':>10}{'sections':>10}",
    ]
    for name, run in result.runs.items():
        score = run.score
        lines.append(
            f"  {METHODS[name]:32}{score.seen_f1:>10.2f}{score.unseen_f1:>10.2f}"
            f"{score.macro_f1:>8.2f}{run.seconds:>7.1f} s"
        )
    lines += ["", *_reading(result), ""]
    return "\n".join(lines)


def _reading(result: Demo) -> list[str]:
    """Say in words what the numbers just printed show; nothing is claimed that they do not."""
    hidden = {name: run.score.unseen_f1 or 0.0 for name, run in result.runs.items()}
    best = max(hidden, key=lambda name: hidden[name])
    if hidden.get("gcn", 1.0) < hidden[best]:
        sentences = [
            f"The usual way folds the hidden sections into the labelled ones: {hidden['gcn']:.2f} there,",
            f"against {hidden[best]:.2f} with {METHODS[best]}, which keeps apart what it was never told of.",
        ]
    else:
        sentences = [f"Best on the hidden sections: {METHODS[best]}, {hidden[best]:.2f}."]
    return [
        *sentences,
        "Your own data: unseen embed edges.csv --features features.csv --labels labels.csv -o vectors.parquet",
    ]
