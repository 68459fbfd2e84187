"""`unseen methods`: what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.cli import options
from unseen.cli.output import print_json, print_table

if TYPE_CHECKING:
    from unseen.methods.registry import Entry


def methods(
    json: options.Json = False, verbose: options.Verbose = False, quiet: options.Quiet = False
) -> None:
    """List the methods, by the name that `--method` takes."""
    from unseen.methods.registry import METHODS

    if json:
        print_json(
            [
                {"name": name, "class": e.class_name, **_uses(e), "summary": e.summary}
                for name, e in METHODS.items()
            ]
        )
        return
    rows = [
        [name, e.class_name, *("yes" if used else "" for used in _uses(e).values()), e.summary]
        for name, e in METHODS.items()
    ]
    print_table(["method", "class", "features", "labels", "what it does"], rows, left=5)


def _uses(entry: Entry) -> dict[str, bool]:
    return {"features": entry.features, "labels": entry.labels}
