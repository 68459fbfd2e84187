"""Tables that people take home: groups as labels, a class for every node, questions; written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from unseen.data.files import AnyPath, atomic_path
from unseen.data.sources import Source, find_file
from unseen.data.tables import Table, float_values
from unseen.discovery.guarantees import check_fdr
from unseen.discovery.targets import DATABASES, NETWORK, PREDICTIONS, TEXT, check_target, target_suffix
from unseen.errors import InputError, counted, logger, unknown_name
from unseen.ids import as_ids, match_ids
from unseen.labels import RANDOM, Labels, class_name_problem

if TYPE_CHECKING:
    from unseen.discovery.result import Discovery
    from unseen.discovery.suggest import Suggestion

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

    `nodes` has the columns ``node``, ``group``, ``unseen_probability`` and, where they have an error rate, ``q_value``:
    what :meth:`Discovery.save` writes. The other arguments are those of :meth:`Discovery.accept`.
    """
    if isinstance(at_least, bool) or not isinstance(at_least, (int, float)) or not 0 <= at_least <= 1:
        msg = f"`at_least` is a probability, a number from 0 to 1, got {at_least!r}"
        raise InputError(msg)
    rows = nodes.to_pylist()
    has_rates = any(row.get(RATE) is not None for row in rows)
    if fdr is not None and not has_rates:
        msg = (
            "these nodes have no error rate, so `fdr` cannot be chosen; leave it out, and look at them before"
        )
        raise InputError(msg)
    limit_rate = 1.0 if fdr is None else check_fdr(fdr)
    groups = {row["group"] for row in rows} - {None, ""}
    for group, name in names.items():
        if group not in groups:
            raise unknown_name("group", group, sorted(groups))
        if name and (refusal := class_name_problem(name.strip())):
            raise InputError(refusal)
    texts = labels.node_ids.dtype != np.int64 or nodes.column("node").type != pa.int64()
    form = str if texts else int  # ids meet as texts where one side has texts
    classes = {form(node): own for node, own in labels.to_lists().items()}
    asked, guesses = (
        {form(node): status for node, status in labels.answers.items()},
        {*map(form, labels.guesses)},
    )
    drawn = {
        node for node, status in asked.items() if getattr(status, "drawn", "") == RANDOM
    } - classes.keys()
    added, others = Counter[tuple[str, str]](), list[str]()
    for row in rows:
        node, group, rate = form(row["node"]), row["group"], row.get(RATE)
        name = (names.get(group) or "").strip()
        is_listed = row["unseen_probability"] >= at_least and (rate is None or rate <= limit_rate)
        if not name or not is_listed or node in drawn:  # the class of the last ones is asked for
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
    if not added:
        logger.info("no label was added")
    elif not has_rates:
        logger.info("these nodes have no error rate; look at them before you rely on the labels")
    ids = as_ids(dict.fromkeys([*map(form, labels.node_ids.tolist()), *classes]))
    answers = {node: status for node, status in asked.items() if node not in guesses}
    return replace(Labels.from_values(classes, ids), answers=answers, guesses=guesses)


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


def predict_classes(labels: Labels, found: Discovery | None = None) -> pa.Table:
    """Return the table of :meth:`unseen.Discovery.predictions`; without `found` all nodes have a label."""

    def rows(nodes: list[Any], classes: Any, probabilities: Any, statuses: Any) -> pa.Table:
        columns = {"class": pa.array(classes, pa.string())}
        columns["probability"] = pa.array(probabilities, pa.float64(), from_pandas=True)
        return pa.table({"node": nodes, **columns, "status": pa.array(statuses, pa.string())})

    given, place = labels.to_lists(), np.full(labels.n_nodes, -1)
    names = ["|".join(classes) for classes in given.values()]
    tables = [rows(list(given), names, np.ones(len(names)), ["labelled"] * len(names))]
    if found is not None:
        # with one labelled class and no estimate there is nothing that a probability could be based on
        has_estimate, has_probability = (
            found.has_estimate,
            found.has_estimate or len(found.coverage.classes) > 1,
        )
        selection = found.select()
        if not has_estimate:
            limit = "its probability assumes that the node belongs to a labelled class"
            limit = limit if has_probability else "with one labelled class, there is no probability"
            others = " that is not selected" if selection else ""
            logger.warning(
                "missing classes could not be estimated, so every node without a label%s gets the labelled class that "
                "fits best; %s",
                others,
                limit,
            )
        elif not selection:
            logger.warning("no candidates are reported. %s", selection.sentence)
        p, doubt = found.nodes["unseen_probability"].to_numpy(), found.evidence["doubt"].to_numpy()
        likely, group, name = (
            found.nodes[key].to_numpy(zero_copy_only=False) for key in ("likely_class", "group", "name")
        )
        is_candidate = found.nodes["selected"].to_numpy() & (group != None)  # noqa: E711  # element by element
        fits = (1 - p if has_estimate else 1.0) * (1 - doubt) if has_probability else np.full(len(p), np.nan)
        classes = np.where(is_candidate, np.where(name.astype(bool), name, group), likely)
        statuses = np.where(is_candidate, "candidate", "predicted")
        nodes = found.nodes["node"].to_pylist()
        tables.append(rows(nodes, classes, np.where(is_candidate, p, fits), statuses))
        place[match_ids(as_ids(nodes), labels.node_ids)] = len(given) + np.arange(len(nodes))
    place[labels.labelled] = np.arange(len(given))  # also those that were labelled afterwards
    return pa.concat_tables(tables).take(place)


def save_suggestions(suggestions: Sequence[Suggestion], path: AnyPath) -> None:
    """Write suggested nodes: a table with columns for the answers, or JSON with the tasks of Label Studio."""
    from unseen.data.label_studio import make_tasks
    from unseen.data.labels_file import QUESTION_COLUMNS

    rows = [suggestion.to_dict() for suggestion in suggestions]
    nodes = [row["node"] for row in rows]
    kinds = dict.fromkeys(QUESTION_COLUMNS, pa.string()) | {
        "node": pa.int64() if nodes and isinstance(nodes[0], int) else pa.string(),
        "pool": pa.int64(),
        "unseen_probability": pa.float64(),
    }
    columns = {name: pa.array([row.get(name, "") for row in rows], kinds[name]) for name in QUESTION_COLUMNS}
    tasks = make_tasks(rows, getattr(suggestions, "texts", {}), getattr(suggestions, "classes", ()))
    write_result(path, pa.table(columns), tasks)


def write_predictions(target: Any, table: Any, graph: Any = None) -> None:
    """Write the table of predictions: to a file by its suffix, or as attributes of the nodes of a networkx graph."""
    from unseen.data.objects import is_networkx
    from unseen.data.write_nodes import set_attributes, write_database, write_network

    if is_networkx(target):
        set_attributes(target, table)
        return
    check_target(target, suffixes=PREDICTIONS)
    if target_suffix(target) in DATABASES:
        write_database(Path(target), table)
    elif target_suffix(target) == NETWORK:
        write_network(Path(target), table, graph)
    else:
        write_result(target, table)


def write_result(path: AnyPath, table: Any, report: Any = None) -> None:
    """Write the table or, where the suffix is .json, the report; without one, a list of the table's rows."""
    import pyarrow.parquet as pq

    from unseen.data.writers import text_fill

    check_target(path)
    suffix = target_suffix(path)
    text = io.StringIO()
    if suffix == ".json":
        json.dump(table.to_pylist() if report is None else report, text, indent=2, ensure_ascii=False)
        text.write("\n")
    elif suffix in TEXT:
        writer = csv.writer(text, delimiter="," if suffix == ".csv" else "\t", lineterminator="\n")
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        writer.writerow(table.column_names)
        writer.writerows(
            [f"{value:.6g}" if isinstance(value, float) else value for value in row] for row in rows
        )
    fill = text_fill(Path(path), [text.getvalue().encode()])
    with atomic_path(path) as temporary:
        if suffix == ".parquet":
            pq.write_table(table, temporary)
        else:
            fill(temporary)
