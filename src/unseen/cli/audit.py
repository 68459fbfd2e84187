"""`unseen audit`: which labels are probably wrong."""

from __future__ import annotations

from unseen.cli import options
from unseen.cli.inputs import Search
from unseen.cli.output import print_json, print_rows, progress
from unseen.errors import InputError, logger


@options.grouped
def audit(source: options.Source, *, output: options.TableFile = None, search: Search) -> None:
    """List labels that are probably wrong, the most suspicious first."""
    data, labels, method = search.begin(source, output)
    if labels is None:
        msg = "there are no labels to audit; give them with --labels"
        raise InputError(msg)
    from unseen.discovery.audit import audit as find
    from unseen.discovery.save import save_table

    with progress("comparing labels"):
        doubts = find(data.graph, labels, method=method, random_state=search.seed)
    logger.info("%d of %d labels are probably wrong", doubts.num_rows, labels.indicator.nnz)
    if output is not None:
        save_table(doubts, output)
        logger.info("written to %s", output)
    if search.json:
        print_json({"source": data.name, "seed": search.seed, "doubts": doubts.to_pylist()})
    elif output is None:
        print_rows(doubts.column_names, doubts.to_pylist(), left=3)
