"""`unseen demo`: why hidden classes are a problem, and what can be done, on one screen."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unseen.cli import options
from unseen.cli.output import print_json, progress
from unseen.errors import logger

if TYPE_CHECKING:
    from unseen.demo import Demo

WORDS = {
    "nodefeats": "words of the description alone",
    "gcn": "a GCN, trained the usual way",
    "smoothfeats": "words smoothed over the graph",
    "rect": "RECT",
    "rect-plus": "RECT+ (recommended)",
}
FIGURES = ("micro_f1", "macro_f1", "seen_f1", "unseen_f1")


@options.grouped
def demo(
    *,
    hide: Annotated[
        str | None, typer.Option(help="Sections to hide, separated by commas; three are drawn if not given.")
    ] = None,
    label_rate: Annotated[float, typer.Option(help="Share of the packages whose section is known.")] = 0.1,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the vectors and the page.")
    ] = Path("unseen-demo"),
    page: Annotated[
        bool, typer.Option("--page/--no-page", help="Whether to end with a page to look at.")
    ] = True,
    common: options.Common,
) -> None:
    """Show on a bundled real graph what happens to classes that nobody labelled."""
    from unseen.data.files import make_folder
    from unseen.demo import run_demo

    make_folder(output)
    with progress("learning vectors") as move:

        def started(name: str, k: int, total: int) -> None:
            logger.debug("learning vectors with %s", name)
            if move:
                move(k, total)

        result = run_demo(
            hidden=options.names(hide), label_rate=label_rate, seed=common.seed, on_start=started
        )
    for name, run in result.runs.items():
        run.embedding.save(output / f"{name}{'.npz' if name == 'nodefeats' else '.parquet'}")
    if not common.json:
        sys.stdout.write(_as_text(result))
        sys.stdout.flush()  # the numbers first; the page takes a while
    if result.left_out:
        names = " and ".join(WORDS[name] for name in result.left_out)
        logger.info("Left out, because torch is not installed: %s (pip install 'unseen[neural]').", names)
    logger.info("The vectors are in the folder %s.", output)
    written = _write_page(result, output / "explorer.html", common.seed) if page else None
    if common.json:
        print_json({**_as_json(result), "page": None if written is None else str(written)})


def _write_page(result: Demo, path: Path, seed: int) -> Path:
    """Write the explorer page of the demo, and say how to open it."""
    from unseen.demo import demo_subject
    from unseen.explorer import write_explorer

    with progress("looking for the hidden sections") as move:
        subject = demo_subject(result, seed=seed, on_step=move)
    hidden = ", ".join(result.split.unseen)
    with progress("drawing the map") as move:
        write_explorer(subject, path, title=f"Debian without {hidden}", random_state=seed, on_progress=move)
    logger.info(
        "Look at what the labels miss: open %s in a browser (a double click, or xdg-open %s).", path, path
    )
    return path


def _as_json(result: Demo) -> dict[str, object]:
    methods = {
        name: {
            **{figure: getattr(run.score, figure) for figure in FIGURES},
            "seconds": round(run.seconds, 3),
        }
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
            f"  {WORDS[name]:32}{score.seen_f1:>10.2f}{score.unseen_f1:>10.2f}"
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
            f"against {hidden[best]:.2f} with {WORDS[best]}, which keeps apart what it was never told of.",
        ]
    else:
        sentences = [f"Best on the hidden sections: {WORDS[best]}, {hidden[best]:.2f}."]
    return [
        *sentences,
        "Your own data: unseen embed edges.csv --features features.csv --labels labels.csv -o vectors.parquet",
    ]
