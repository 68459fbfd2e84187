"""`unseen discover`: which nodes belong to missing classes, how many such classes there are, what they are about."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from unseen.cli import options
from unseen.cli.inputs import Input, NewClasses, Search
from unseen.cli.output import print_json, progress, tell_output
from unseen.data.files import STANDARD
from unseen.errors import InputError, counted

if TYPE_CHECKING:
    from unseen.discovery.result import Discovery
    from unseen.discovery.truth import Truth
    from unseen.labels import Labels


@options.grouped
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
    data, labels, method = search.begin(source, *output or [])

    from unseen.discovery.truth import compare

    result = find_classes(data, labels, method, search, new)
    truth = compare(result, data.labels) if search.hides and data.labels is not None else None
    for path in output or []:
        result.save(path)
        tell_output(path)
    if search.json:
        report = {"source": data.name, "seed": search.seed, **result.to_json()}
        print_json(report if truth is None else {**report, "truth": truth.to_dict()})
        return
    words = result.summary() + ("" if truth is None else "\n" + _comparison(truth, result))
    (sys.stderr if Path(STANDARD) in (output or []) else sys.stdout).write(words)


def find_classes(
    data: Input, labels: Labels | None, method: Any, search: Search, new: NewClasses
) -> Discovery:
    """Look for missing classes, with a progress bar."""
    if labels is None:
        msg = "there are no labels; give those of at least one class with --labels"
        raise InputError(msg)
    from unseen.discovery.discover import discover as find

    with progress("leaving out each class in turn") as move:
        return find(data.graph, labels, method=method, random_state=search.seed, on_step=move, **new.given())


def _comparison(truth: Truth, result: Discovery) -> str:
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
