"""`unseen suggest`: which nodes to label next, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from unseen.cli import options
from unseen.cli.inputs import Search
from unseen.cli.output import log_output, print_table, progress
from unseen.errors import counted
from unseen.params import Limits

RandomQuestions = Annotated[
    int, Limits(0), "Number of random questions to add; their answers prove how few nodes are missing."
]


@options.command
def suggest(
    source: options.Source,
    *,
    budget: Annotated[int, Limits(1), "Number of nodes to suggest."] = 20,
    random: RandomQuestions = 0,
    output: Annotated[
        Path | None, "Output file (.csv, .tsv, .parquet, or .json for Label Studio); - writes csv to stdout."
    ] = None,
    search: Search,
) -> None:
    """Suggest which nodes to label next, so that missing classes are found with few labels."""
    data, labels, method = search.load_search(source, output)

    from unseen.discovery.suggest import suggest as choose
    from unseen.discovery.tables import save_suggestions

    settings: dict[str, Any] = {
        "budget": budget,
        "random": random,
        "method": method,
        "random_state": search.seed,
    }
    with progress("leaving out each class in turn") as move:
        suggestions = choose(data.graph, labels, **settings, on_step=move)
    if output is not None:
        save_suggestions(suggestions, output)
        log_output(output, f"{counted(len(suggestions), 'node')} ")
    rows = [each.to_dict() for each in suggestions]
    if search.json:
        search.print_report(data, {"suggestions": rows})
    elif output is None:
        columns = ["node", "group", "likely_class", "reason", "unseen_probability"]
        print_table(columns, [[row[name] for name in columns] for row in rows], left=4)
