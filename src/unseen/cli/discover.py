"""`unseen discover`: which nodes belong to missing classes, how many such classes there are, what they are about."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from unseen.cli import options
from unseen.cli.inputs import NewClasses, Search
from unseen.cli.output import log_output
from unseen.data.files import STANDARD
from unseen.errors import counted

if TYPE_CHECKING:
    from unseen.discovery.result import Discovery
    from unseen.discovery.truth import Truth


@options.command
def discover(
    source: options.Source,
    *,
    output: Annotated[
        list[Path] | None,
        "Output file: the nodes (.parquet, .csv, .tsv; - writes csv to stdout) or all else (.json). Repeatable.",
    ] = None,
    new: NewClasses,
    search: Search,
) -> None:
    """Find nodes of classes that your labels are missing, group them into candidate classes and describe these."""
    data, labels, method = search.load_search(source, *output or [])

    from unseen.discovery.truth import compare

    result = search.find_classes(data, labels, method, new)
    truth = compare(result, data.labels) if search.hides and data.labels is not None else None
    for path in output or []:
        result.save(path)
        log_output(path)
    if search.json:
        report = result.to_json()
        search.print_report(data, report if truth is None else {**report, "truth": truth.to_dict()})
        return
    text = result.summary() + ("" if truth is None else "\n" + _compare(truth, result))
    (sys.stderr if Path(STANDARD) in (output or []) else sys.stdout).write(text)


def _compare(truth: Truth, result: Discovery) -> str:
    """Return how good the result is, since the labels were hidden and not missing."""
    lines = [truth.summary()]
    figures: dict[str, Any] = {
        "AUROC of the probabilities": truth.auroc,
        "expected calibration error": truth.ece,
        "accuracy on labelled classes": truth.accuracy_seen,
        "accuracy on hidden classes": truth.accuracy_unseen,
        "accuracy on all classes": truth.accuracy_all,
        "NMI of groups and hidden classes": truth.nmi,
        "ARI of groups and hidden classes": truth.ari,
    }
    lines += [f"  {what}: {value:.3f}" for what, value in figures.items() if value is not None]
    sizes = {each.group: each.size for each in result.classes}
    lines += [
        f"  {group} matches {name}: {n:,} of its {counted(sizes[group], 'node')}"
        for group, name, n in truth.matches
    ]
    return "\n".join(lines) + "\n"
