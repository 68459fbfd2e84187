"""`unseen demo`: hide classes of a bundled graph, look for them, and compare the findings with the truth."""

from __future__ import annotations

import logging
import shlex
import shutil
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from unseen.cli import options
from unseen.cli.output import align_table, print_json, progress
from unseen.data.files import new_folder
from unseen.errors import UnsupportedError, install_hint, logger

if TYPE_CHECKING:
    from unseen.data.datasets import Dataset
    from unseen.discovery.result import Discovery
    from unseen.discovery.truth import Truth
    from unseen.splits import Split

METHODS = {
    "nodefeats": "words of the description alone",
    "gcn": "GCN, trained on the labels",
    "smoothfeats": "words averaged over the graph",
    "rect": "RECT, the paper's method",
    "rect-plus": "RECT+, the default",
}
"""The methods that are compared, in the order of the table; GCN and RECT need torch."""
FIGURES = ("micro_f1", "macro_f1", "seen_f1", "unseen_f1")
WIDTH = 100
OWN_FILES = """\
  unseen init edges.csv --text descriptions.csv --labels categories.csv
  unseen discover -o nodes.csv
  unseen accept categories.csv nodes.csv new-1=sound --in-place
  unseen predict -o classes.csv
"""


@options.command
def demo(
    *,
    hide: Annotated[
        str | None, "Sections to hide, separated by commas; three are drawn if not given."
    ] = None,
    label_rate: Annotated[float, "Share of the packages whose section is known."] = 0.1,
    output: Annotated[Path, "Folder for the embeddings and the page."] = Path("unseen-demo"),
    page: Annotated[bool, "Whether to write a page with a map of the packages."] = True,
    common: options.Common,
) -> None:
    """Hide three sections of a graph of Debian packages from the labels, and find them again."""
    from unseen.data.datasets import load_dataset
    from unseen.discovery.discover import discover
    from unseen.discovery.suggest import suggest_from
    from unseen.discovery.truth import compare
    from unseen.explorer import Subject, write_explorer
    from unseen.splits import completely_imbalanced_split, random_unseen_sets

    def tell(*lines: str) -> None:
        if not common.json:
            sys.stdout.write("\n".join(lines) + "\n")
            sys.stdout.flush()

    seed = common.seed
    with new_folder(output):
        data = load_dataset("debian")
        unseen = options.split_names(hide) or random_unseen_sets(data.labels, 3, 1, random_state=seed)[0]
        split = completely_imbalanced_split(
            data.labels, label_rate=label_rate, unseen=unseen, random_state=seed
        )
        tell(*_describe_task(data, split))
        with progress("looking for the hidden sections") as move, _without_notices():
            found = discover(data.graph, split.seen_labels, random_state=seed, on_step=move)
        truth = compare(found, data.labels)
        tell(*_describe_findings(found, truth, data))
        runs = _compare_methods(data, split, output, seed)
    tell(*_describe_comparison(runs, data, split), *_describe_next_steps())
    path = output / "explorer.html"
    if page:
        seen = split.seen_labels
        subject = Subject(found.embedding, data.graph, seen, data.labels, found, suggest_from(found, 20))
        title = f"Debian without {', '.join(split.unseen)}"
        with progress("drawing the map") as move, _without_notices():
            write_explorer(subject, path, title=title, random_state=seed, on_progress=move)
        tell(f"To see a map of all packages, open {path} in a browser.")
    if common.json:
        counts = {"expected": found.coverage.expected_unseen, "classes": found.count.best}
        report = {
            "dataset": data.name,
            "hidden": list(split.unseen),
            "discovery": {**counts, "truth": truth.to_dict()},
            "methods": runs,
            "page": str(path) if page else None,
        }
        print_json(report)


@contextmanager
def _without_notices() -> Iterator[None]:
    """Show warnings only, unless the user asked for more with -v."""
    level = logger.level
    logger.setLevel(logging.WARNING if level == logging.INFO else level)
    try:
        yield
    finally:
        logger.setLevel(level)


def _compare_methods(data: Dataset, split: Split, folder: Path, seed: int) -> dict[str, dict[str, float]]:
    """Write the embedding of each method that is installed, and return its scores on all sections."""
    from unseen.evaluation import fit_and_evaluate
    from unseen.methods.registry import make_method

    runs = {}
    with progress("learning embeddings") as move, _without_notices():
        for k, name in enumerate(METHODS):
            if move:
                move(k, len(METHODS))
            start = time.perf_counter()
            try:
                method = make_method(name, random_state=seed)
                embedding, score = fit_and_evaluate(method, data.graph, data.labels, split, random_state=seed)
            except UnsupportedError:  # torch is not installed
                continue
            seconds = round(time.perf_counter() - start, 3)
            runs[name] = {figure: getattr(score, figure) for figure in FIGURES} | {"seconds": seconds}
            embedding.save(folder / f"{name}{'.npz' if name == 'nodefeats' else '.parquet'}")
    return runs


def _describe_task(data: Dataset, split: Split) -> list[str]:
    graph = data.graph
    story = (
        f"This graph has {graph.n_nodes:,} Debian packages, {graph.n_edges:,} dependencies between them, and the "
        f"words of their descriptions. Each package belongs to one of {len(data.labels.classes)} sections. The demo "
        f"labels {len(split.seen_labels.labelled)} packages and hides these sections from the labels: "
        f"{', '.join(split.unseen)}."
    )
    return [*textwrap.wrap(story, WIDTH), "", "1. What do the labels miss? (unseen discover)", ""]


def _describe_findings(found: Discovery, truth: Truth, data: Dataset) -> list[str]:
    """Return the estimates beside the truth, and the sections that each candidate class really consists of."""
    if found.self_test.failed:
        return [*textwrap.wrap(found.self_test.verdict, WIDTH), ""]
    count, expected = found.count, f"about {found.coverage.expected_unseen:,.0f}"
    between = "" if count.low == count.high else f" ({count.low} to {count.high})"
    estimates: list[list[Any]] = [
        ["packages of hidden sections", expected, f"{truth.n_hidden:,}"],
        ["hidden sections", f"{count.best}{between}", truth.n_classes],
    ]
    sections, candidates = data.labels.to_lists(), []
    for each in found.classes:
        true = Counter(name for node in each.members for name in sections[node]).most_common(2)
        names = ", ".join(f"{name} {n}" for name, n in true)
        candidates.append([each.group, f"{each.size:,}", ", ".join(each.caption[:4]), names])
    tables = [
        align_table(["", "found", "truth"], estimates),
        align_table(["candidate class", "packages", "typical words", "true sections"], candidates, left=4),
    ]
    return [*(textwrap.indent(table, "  ") for table in tables), truth.summary(), ""]


def _describe_comparison(runs: dict[str, dict[str, float]], data: Dataset, split: Split) -> list[str]:
    """Return the table of scores, and in words only what these scores show."""
    task = (
        "Each method learns an embedding from the same labels. A linear classifier then gets "
        f"{len(split.train)} labels of all {len(data.labels.classes)} sections and predicts the section of the other "
        f"{len(split.test):,} packages. F1 scores (1.00 is perfect):"
    )
    header = ["embedding", "labelled sections", "hidden sections", "seconds"]
    rows = [
        [METHODS[name], f"{run['seen_f1']:.2f}", f"{run['unseen_f1']:.2f}", f"{run['seconds']:.1f}"]
        for name, run in runs.items()
    ]
    lines = ["2. Which embedding keeps the hidden sections apart? (unseen embed)", ""]
    lines += [*textwrap.wrap(task, WIDTH), "", textwrap.indent(align_table(header, rows), "  ")]
    missing = [METHODS[name].partition(",")[0] for name in METHODS if name not in runs]
    if missing:
        verb = "needs" if len(missing) == 1 else "need"
        lines += [f"{' and '.join(missing)} {verb} torch; {install_hint('neural')}", ""]
    return lines


def _describe_next_steps() -> list[str]:
    """Return the commands for one's own files; the first line is for those who have not activated the environment."""
    activate = Path(sys.prefix) / "bin" / "activate"
    is_needed = shutil.which("unseen") is None and activate.exists()
    first = f"  . {shlex.quote(str(activate))}\n" if is_needed else ""
    return ["3. Your own files", "", f"{first}{OWN_FILES}"]
