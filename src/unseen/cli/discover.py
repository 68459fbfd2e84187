"""`unseen discover`: which nodes belong to a class nobody labelled, how many such classes, what they are about."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from unseen.cli import options
from unseen.cli.inputs import NewClasses, Search
from unseen.cli.output import print_json, progress
from unseen.data.files import STANDARD
from unseen.errors import InputError, counted, logger

if TYPE_CHECKING:
    from unseen.discovery.result import Discovery
    from unseen.discovery.truth import Truth


@options.grouped
def discover(
    source: options.Source,
    *,
    output: Annotated[
        list[Path] | None,
        "Where to write: nodes as .parquet, .csv, .tsv or - (stdout), all else as .json; repeatable.",
    ] = None,
    new: NewClasses,
    search: Search,
) -> None:
    """Find the nodes of classes that nobody labelled, sort them into groups and say what these are about."""
    data, labels, method = search.begin(source, *output or [])
    if labels is None:
        msg = "discovery needs labels of at least one class; give them with --labels"
        raise InputError(msg)

    from unseen.discovery.discover import discover as find
    from unseen.discovery.truth import compare

    with progress("hiding every class in turn") as move:
        result = find(
            data.graph, labels, method=method, random_state=search.seed, on_step=move, **new.given()
        )
    truth = compare(result, data.labels) if search.hides and data.labels is not None else None
    for path in output or []:
        result.save(path)
        logger.info("written to %s", path)
    if search.json:
        report = {"source": data.name, "seed": search.seed, **result.to_json()}
        print_json(report if truth is None else {**report, "truth": truth.to_dict()})
        return
    words = result.summary() + ("" if truth is None else "\n" + _comparison(truth, result))
    (sys.stderr if Path(STANDARD) in (output or []) else sys.stdout).write(words)


def _comparison(truth: Truth, result: Discovery) -> str:
    """Return how right the result was, in words: the labels were hidden and not missing."""
    lines = [truth.summary()]
    figures: dict[str, Any] = {
        "AUROC of the probabilities": truth.auroc,
        "expected calibration error": truth.ece,
        "right among nodes of labelled classes": truth.accuracy_seen,
        "right among nodes of hidden classes": truth.accuracy_unseen,
        "right among all": truth.accuracy_all,
        "NMI of groups and hidden classes": truth.nmi,
        "ARI of groups and hidden classes": truth.ari,
    }
    lines += [f"  {what}: {value:.3f}" for what, value in figures.items() if value is not None]
    sizes = {each.group: each.size for each in result.classes}
    lines += [
        f"  {group} is matched with {name}: {n:,} of its {counted(sizes[group], 'node')}"
        for group, name, n in truth.matches
    ]
    return "\n".join(lines) + "\n"
