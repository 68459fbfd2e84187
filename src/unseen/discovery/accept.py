"""Candidate classes become labels: the name of a group is the label of its nodes, or of the most probable ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from unseen.data.sources import Source, find_file
from unseen.data.tables import Table, float_values
from unseen.discovery.guarantees import check_fdr
from unseen.errors import InputError, counted, logger, unknown_name
from unseen.ids import as_ids
from unseen.labels import RANDOM, Labels, class_name_problem

NEEDED = ("node", "group", "unseen_probability")
RATE = "q_value"


def accept(
    labels: Labels,
    nodes: pa.Table,
    names: Mapping[str, str],
    *,
    at_least: float = 0.0,
    fdr: float | None = None,
) -> Labels:
    """Return the labels with those of named groups added, as `Labels.guesses`; a notice says how many were added.

    Parameters
    ----------
    labels : Labels
        The labels so far.
    nodes : pyarrow.Table
        With the columns ``node``, ``group``, ``unseen_probability`` and, where they have an error rate, ``q_value``:
        what :meth:`Discovery.save` writes.
    names : mapping of str to str
        From a group to a class; a group with an empty name is left out.
    at_least : float
        Only nodes whose probability is at least this.
    fdr : float, optional
        Only nodes of the list with this false discovery rate; those of the groups when not given.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found = pa.table({"node": ["b", "c"], "group": ["new-1"] * 2, "unseen_probability": [0.9, 0.6]})
    >>> result = accept(Labels.from_values(["net"], ["a"]), found, {"new-1": "mail"}, at_least=0.8)
    >>> result.classes, result.node_ids.tolist()
    (('mail', 'net'), ['a', 'b'])
    """
    if isinstance(at_least, bool) or not isinstance(at_least, (int, float)) or not 0 <= at_least <= 1:
        msg = f"`at_least` is a probability, a number from 0 to 1, got {at_least!r}"
        raise InputError(msg)
    rates = nodes.column(RATE).to_pylist() if RATE in nodes.column_names else [None] * nodes.num_rows
    has_rates = any(rate is not None for rate in rates)
    if fdr is not None and not has_rates:
        msg = (
            "these nodes have no error rate, so `fdr` cannot be chosen; leave it out, and look at them before"
        )
        raise InputError(msg)
    limit_rate = 1.0 if fdr is None else check_fdr(fdr)
    groups = {each for each in nodes.column("group").to_pylist() if each}
    for group, name in names.items():
        if group not in groups:
            raise unknown_name("group", group, sorted(groups))
        if name and (refusal := class_name_problem(name.strip())):
            raise InputError(refusal)
    columns = [nodes.column(name).to_pylist() for name in NEEDED]
    texts = labels.node_ids.dtype != np.int64 or nodes.column("node").type != pa.int64()
    form = str if texts else int  # ids meet as texts where one side has texts
    classes = {form(node): own for node, own in labels.to_lists().items()}
    asked = {form(node): status for node, status in labels.answers.items()}
    unanswered = {
        node for node, status in asked.items() if getattr(status, "drawn", "") == RANDOM
    } - classes.keys()
    added, guesses = Counter[tuple[str, str]](), {form(node) for node in labels.guesses}
    others: list[str] = []
    for each, group, probability, rate in zip(*columns, rates, strict=True):
        node, name = form(each), (names.get(group) or "").strip()
        is_listed = probability >= at_least and (rate is None or rate <= limit_rate)
        if not name or not is_listed or node in unanswered:  # the class of the last ones is asked for
            continue
        is_free = node not in classes
        added[name, group] += is_free
        if is_free:
            classes[node] = [name]
            guesses.add(node)
        elif name not in classes[node]:
            has = f"node {node!r} of {group} has the label {classes[node][0]!r} already"
            others.append(f"{has}, so it cannot be labelled {name!r}")
    if others:
        more = f" ({len(others)} nodes in all have another label)" if len(others) > 1 else ""
        msg = f"{others[0]}{more}; run discover again with these labels, or leave the group out"
        raise InputError(msg)
    limit = f" of probability {at_least:g} and above" if at_least else ""
    for (name, group), n in added.items():
        existing = f"; {name} was a class already" if name in labels.classes else ""
        logger.info("%s: %s added from %s%s%s", name, counted(n, "label"), group, limit, existing)
    if added and not has_rates:
        logger.info("these nodes have no error rate; look at them before you rely on the labels")
    if not added:
        logger.info("no label was added")
    all_labels = Labels.from_values(
        classes, as_ids(dict.fromkeys([*map(form, labels.node_ids.tolist()), *classes]))
    )
    answers = {node: status for node, status in asked.items() if node not in guesses}
    return Labels(all_labels.indicator, all_labels.classes, all_labels.node_ids, answers, guesses)


def read_nodes(path: Path) -> pa.Table:
    """Return the table of nodes that ``unseen discover -o`` wrote, with the columns that :func:`accept` needs."""
    table = next(iter(Source(find_file(path, "nodes"), "labels").batches()))
    names = tuple(getattr(table, "names", None) or ())
    positions = {name: names.index(name) for name in NEEDED if name in names}
    if not isinstance(table, Table) or len(positions) < len(NEEDED):
        msg = (
            f"{str(path)!r} has no column {next(name for name in NEEDED if name not in positions)!r}; give the nodes "
            "that unseen discover -o nodes.parquet (or .csv, .tsv) writes"
        )
        raise InputError(msg)
    group = table.columns[positions["group"]].cast(pa.string())
    columns = {
        "node": table.ids(positions["node"], "node"),
        "group": pa.array([each or None for each in group.to_pylist()], pa.string()),
        "unseen_probability": float_values(table, positions["unseen_probability"], "probability"),
    }
    rates = table.columns[names.index(RATE)].cast(pa.string()).to_pylist() if RATE in names else []
    if any(rates):
        columns[RATE] = float_values(table, names.index(RATE), "q-value")
    return pa.table(columns)
