"""`unseen methods`: what there is."""

from __future__ import annotations

from unseen.cli import options
from unseen.cli.output import print_json, print_table


def methods(
    json: options.Json = False, verbose: options.Verbose = False, quiet: options.Quiet = False
) -> None:
    """List the methods, by the name that `--method` takes."""
    from unseen.methods.registry import METHODS

    if json:
        print_json(
            [{"name": name, "class": e.class_name, "summary": e.summary} for name, e in METHODS.items()]
        )
        return
    print_table(
        ["method", "class", "what it does"],
        [[n, e.class_name, e.summary] for n, e in METHODS.items()],
        left=3,
    )
