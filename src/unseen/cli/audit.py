"""`unseen audit`: which labels are probably wrong."""

from __future__ import annotations

from unseen.cli import options
from unseen.cli.inputs import Search
from unseen.cli.output import log_output, print_table, progress
from unseen.errors import InputError, logger


@options.command
def audit(source: options.Source, *, output: options.Output = None, search: Search) -> None:
    """List labels that are probably wrong, the most suspicious first."""
    data, labels, method = search.load_search(source, output)
    if labels is None:
        msg = "there are no labels to audit; give them with --labels"
        raise InputError(msg)
    from unseen.discovery.audit import audit as find
    from unseen.discovery.tables import write_result

    with progress("comparing labels"):
        doubts = find(data.graph, labels, method=method, random_state=search.seed)
    logger.info(doubts.sentence)
    if output is not None:
        write_result(output, doubts.table)
        log_output(output)
    if search.json:
        report = {"expected_precision": doubts.expected_precision, "doubts": doubts.to_pylist()}
        search.print_report(data, report)
    elif output is None and len(doubts):
        print_table(doubts.column_names, zip(*doubts.table.to_pydict().values(), strict=True), left=3)
