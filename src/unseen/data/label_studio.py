"""Label Studio: questions as its tasks, and its exports as labels (JSON, JSON-MIN, CSV and TSV).

A task holds a question: the columns of a table of questions, the text of the node, and the classes to choose from. The
control `label` chooses one of these, the control `new_class` is for the name of a new one.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from unseen.data.names import lower
from unseen.data.tables import Table, as_column
from unseen.labels import SKIPPED

CHOICE, NEW_CLASS = "label", "new_class"
"""Names of the controls with the class of a node."""
EXPORTED = "annotation_id"
"""A column that exports as JSON-MIN, CSV and TSV have."""
CONFIG = f"""<View>
  <Header value="$reason"/>
  <Text name="text" value="$text"/>
  <Choices name="{CHOICE}" toName="text" value="$classes" showInLine="true"/>
  <TextArea name="{NEW_CLASS}" toName="text" placeholder="Another class" maxSubmissions="1"/>
</View>
"""
"""The labelling configuration for these tasks."""


def make_tasks(
    questions: Iterable[Mapping[str, Any]], texts: Mapping[Any, str], classes: Sequence[str]
) -> list[dict[str, Any]]:
    """Return questions as tasks; the prediction is the labelled class that fits best, unless a missing one is likelier.

    The score of a prediction is the probability that the node belongs to a labelled class: the lowest are the most
    uncertain.

    Examples
    --------
    >>> question = {"node": 7, "likely_class": "net", "unseen_probability": 0.25, "drawn": "random", "pool": 90}
    >>> task = make_tasks([question], {7: "sends mail"}, ["net", "web"])[0]
    >>> task["data"]["text"], task["predictions"][0]["score"], task["predictions"][0]["result"][0]["value"]
    ('sends mail', 0.75, {'choices': ['net']})
    """
    tasks = []
    for row in questions:
        # as text: a spreadsheet library would make 90.0 of the size of a pool where others are empty
        data: dict[str, Any] = {
            name: "" if cell is None else cell for name, cell in row.items() if name != "pool"
        }
        data |= {"pool": str(row.get("pool") or ""), "text": texts.get(row["node"]) or str(row["node"])}
        data["classes"] = [{"value": name} for name in classes]
        likely = row.get("likely_class") if row["unseen_probability"] < 0.5 else None
        choice = {"from_name": CHOICE, "to_name": "text", "type": "choices", "value": {"choices": [likely]}}
        prediction = {"model_version": "unseen", "score": round(1 - float(row["unseen_probability"]), 6)}
        result = [] if likely is None else [choice]
        tasks.append({"data": data, "predictions": [{**prediction, "result": result}]})
    return tasks


def read_export(content: list[Any], source: str, label_column: str | None = None) -> Table:
    """Return an export as a table of labels: the data of each task, the classes, and whether it was skipped.

    Of several annotations the one marked as ground truth counts, else the last. `label_column` is the control with the
    classes, any control with choices if not given.
    """
    rows, labels = [], label_column or CHOICE
    for entry in content:
        if not isinstance(entry, dict):
            msg = "an export of Label Studio is a list of tasks; a file of records is JSON lines, .jsonl"
            raise ValueError(msg)
        data = entry["data"] if isinstance(entry.get("data"), dict) else entry
        new, chosen, status = _as_names(entry.get(NEW_CLASS)), _as_names(entry.get(labels)), ""
        if "annotations" in entry:
            given: list[Any] = [each for each in entry["annotations"] if not each.get("was_cancelled")]
            status = SKIPPED if entry["annotations"] and not given else ""
            given.sort(key=lambda each: bool(each.get("ground_truth")))  # which counts, else the last
            new, chosen = [], []
            for each in given[-1].get("result", ()) if given else ():
                control = each.get("from_name")
                if control == NEW_CLASS:
                    new += _as_names(each["value"])
                elif each.get("type") == "choices" and label_column in (None, control):
                    chosen += _as_names(each["value"])
        known = {name: value for name, value in data.items() if isinstance(value, str | int | float)}
        rows.append({**known, labels: new or chosen, "status": status})
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: as_column([row.get(name) for row in rows]) for name in names}
    if rows:
        columns[labels] = pa.array([row[labels] for row in rows], pa.list_(pa.string()))
    return Table.of(source, columns)


def merge_columns(table: Table, label: int) -> Table:
    """Return an export as text, with the classes of both controls in its column number `label`."""
    names = lower(table.names or ())
    new = table.columns[names.index(NEW_CLASS)].to_pylist() if NEW_CLASS in names else [None] * table.n_rows
    cells = zip(new, table.columns[label].to_pylist(), strict=True)
    classes = ["|".join(_as_names(added) or _as_names(chosen)) for added, chosen in cells]
    column = pa.chunked_array([classes], pa.large_string())
    return replace(table, columns=(*table.columns[:label], column, *table.columns[label + 1 :]))


def _as_names(cell: Any) -> list[str]:
    """Return the names in a cell: one as it is, several as a list, or as the choices of an object."""
    if isinstance(cell, str) and cell[:1] in ("{", "["):
        with contextlib.suppress(ValueError):
            cell = json.loads(cell)
    if isinstance(cell, dict):
        cell = cell.get("choices") or cell.get("text") or []
    names = cell if isinstance(cell, list) else [cell]
    return [str(name).strip() for name in names if name not in (None, "")]
