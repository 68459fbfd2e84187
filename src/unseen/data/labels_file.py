"""The codec of label files and answers: `node, label`, and where somebody was asked `replaces` and `status`.

`drawn` says how the question was chosen, ``random`` or by its ``score``; ``group`` marks a node that was labelled with
its whole group. `pool` is the number of nodes without a label or an answer when a random question was drawn.

A file that people edit stays theirs. Text is cut into lines and cells, and an answer about a node changes the cells of
its rows: names and order of columns, order of rows, other columns, comments, quotes, line ends and encoding stay byte
for byte, and new rows come last. Other formats are tables whose other columns stay.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from unseen.certificate import order_answers
from unseen.data.files import STANDARD, atomic_path
from unseen.data.labels_text import Answer, LabelText
from unseen.data.names import find_answer_columns, lower
from unseen.data.opened import File, data_suffix, delimiter_of
from unseen.data.read import inspect_file
from unseen.data.sources import Options, Source, format_of, resolve, written_format
from unseen.data.tables import Table, filled_cells, id_array, is_list, is_string, label_values
from unseen.errors import InputError
from unseen.ids import Ints, as_ids, match_ids
from unseen.labels import CONFIRMED, DRAWN, GROUP, RANDOM, SCORE, STATUSES, Labels, Status

QUESTION_COLUMNS = (
    *("node", "label", "replaces", "status", "drawn", "pool"),
    *("reason", "likely_class", "unseen_probability", "group"),
)
"""The columns of a table of questions; with `label` or `status` filled in, it is read as labels."""
TABLES = ("text", "Parquet", "Feather", "JSON lines")
"""Formats of labels that have other columns, too."""


def answers_of(labels: Labels) -> dict[str, Answer]:
    """Return what is known about every node that has a label or an answer, by the text of its id.

    Answers to questions come last, in their order.

    Examples
    --------
    >>> answers_of(Labels.from_values(["red", None], [7, 8]))
    {'7': Answer(labels=('red',), status='', drawn='', pool=0)}
    """
    lists, answers = labels.to_lists(), labels.answers
    known = dict[str, Answer]()
    for node in [*(node for node in lists if not isinstance(answers.get(node), Status)), *answers]:
        names, status = tuple(lists.get(node, ())), answers.get(node, "")
        if isinstance(status, Status):
            known[str(node)] = Answer(names, str(status), status.drawn, status.pool)
        else:
            known[str(node)] = Answer(names, status, GROUP if node in labels.guesses else "")
    return known


def labels_of_answers(answers: Mapping[str, Answer], node_ids: Iterable[str]) -> Labels:
    """Return the labels of these nodes; what :func:`answers_of` returned comes back."""
    labels = Labels.from_values({node: answer.labels for node, answer in answers.items()}, node_ids)
    rows = (
        (node, Status(answer.status, drawn=answer.drawn, pool=answer.pool) if answer.drawn else answer.status)
        for node, answer in answers.items()
    )
    statuses, guesses = order_answers(rows, labels.to_lists())
    return replace(labels, answers=statuses, guesses=guesses)


def answer_table(labels: Labels) -> pa.Table:
    """Return a table ``node, label`` with a row per label, and a column `status` where there are answers.

    Examples
    --------
    >>> labels = replace(Labels.from_values(["x", None, None], ["a", "b", "c"]), answers={"c": "skipped"})
    >>> answer_table(labels).to_pylist()
    [{'node': 'a', 'label': 'x', 'status': ''}, {'node': 'c', 'label': '', 'status': 'skipped'}]
    """
    nodes, text = id_array(labels.node_ids), pa.large_string()
    if not labels.answers:
        rows, columns = labels.indicator.nonzero()
        names = pa.array(list(labels.classes), text).take(pa.array(columns))
        return pa.table({"node": nodes.take(pa.array(rows)), "label": names})
    known = answers_of(labels)
    rows = match_ids(as_ids(list(known)), labels.node_ids).tolist()
    entries = [
        (row, name, *((answer.status, answer.drawn, str(answer.pool or "")) if k == 0 else ("", "", "")))
        for row, answer in zip(rows, known.values(), strict=True)
        for k, name in enumerate(answer.labels or ("",))
        if row >= 0
    ]
    row, *texts = zip(*entries, strict=True) if entries else [()] * 5
    table = {"node": nodes.take(pa.array(row, pa.int64()))}
    names = ("label", "status", "drawn", "pool") if {RANDOM, SCORE} & {*texts[2]} else ("label", "status")
    return pa.table(table | {name: pa.array(cells, text) for name, cells in zip(names, texts, strict=False)})


def read_answers(table: Table, labelled: Ints) -> tuple[dict[int, str], dict[int, str]]:
    """Return the status of the rows that have one, and the label that the label of a row replaces.

    Parameters
    ----------
    table : Table
        A label file.
    labelled : ndarray of int64
        Its rows with a label. One that replaces another label is confirmed. Where such a row has no label but a
        status, the label in question stays, and is confirmed too.
    """
    columns = find_answer_columns(table.names or (), lambda k: _texts(table.columns[k]))
    cells = {name: filled_cells(table.columns[k]) for name, k in columns.items()}
    replaces, drawn, pools = (cells.get(name, {}) for name in ("replaces", "drawn", "pool"))
    has_label, answers = set(labelled.tolist()), dict[int, str]()
    for row, cell in cells.get("status", {}).items():
        status = _known_word(table, row, "status", cell, STATUSES)
        if row not in has_label or status == CONFIRMED:
            answers[row] = CONFIRMED if row in replaces else status
    answers |= dict.fromkeys(replaces.keys() & has_label, CONFIRMED)
    for row, cell in drawn.items():
        word, pool = _known_word(table, row, "drawn", cell, DRAWN), pools.get(row, "")
        size = int(pool) if pool.isascii() and pool.isdecimal() else 0
        if word == RANDOM and not size:
            msg = f"{table.place(row)}: a random question needs the size of its pool, a whole number, got {pool!r}"
            raise InputError(msg)
        answers[row] = Status(answers.get(row, ""), drawn=word, pool=size)
    return answers, replaces


def _known_word(table: Table, row: int, column: str, cell: str, known: Sequence[str]) -> str:
    if cell.lower() not in known:
        msg = f"{table.place(row)}: the {column} is {cell!r}; it must be empty or one of {', '.join(known)}"
        raise InputError(msg)
    return cell.lower()


def _texts(column: pa.ChunkedArray) -> list[str]:
    return ["" if cell is None else str(cell) for cell in column.to_pylist()]


def read_text(path: Path, options: Options | None = None, nodes: Iterable[str] | None = None) -> LabelText:
    """Return a label file that is text, ready to be changed.

    `nodes` are the ids of the graph, where they are known: a first row whose id alone is not among them is a header.
    """
    reader = inspect_file(path, "labels", options, None if nodes is None else list(nodes))
    node, label = reader.positions["node"], reader.positions["label"]
    data, delimiter = File(path, "labels").read(), reader.layout.delimiter or ","
    return LabelText(data, delimiter, header=bool(reader.names), node=node, label=label)


def new_text(path: Path) -> LabelText:
    """Return an empty label file of the format that the suffix of `path` names."""
    delimiter = delimiter_of(path)
    return LabelText(f"node{delimiter}label\n".encode(), delimiter, header=True)


def write_answers(
    source: Path, target: Path, answers: Mapping[str, Answer], labels: Labels, options: Options | None = None
) -> None:
    """Write the label file `source` to `target`, with new answers about some nodes and everything else as it is.

    Text stays as it is byte for byte, other tables keep their other columns. Formats that have no other columns are
    written again, with all of the `labels`.
    """
    from unseen.data.writers import text_fill  # which writes labels by this module

    before, shape = format_of(source, "labels"), target
    if str(target) == STANDARD:
        shape = source if before.name == "text" else Path("labels.csv")
    after = written_format(shape, "labels")
    if before.name == after.name == "text" and data_suffix(source) == data_suffix(shape):
        text = read_text(source, options)
        for node_id, answer in answers.items():
            text.set_answer(node_id, answer)
        fill = text_fill(target, [text.data()])
    else:
        value: Any = labels
        if {before.name, after.name} <= set(TABLES):
            positions = inspect_file(source, "labels", options).positions
            parts: list[Any] = list(Source(source, "labels", options).batches())
            table = Table.join(parts)
            names = table.names or tuple("node" if k == positions["node"] else "label" for k in range(2))
            arrays = pa.Table.from_arrays(list(table.columns), list(names))
            value = edit_table(arrays, positions["node"], positions["label"], answers)
        fill = resolve(after.writers["labels"])(value, "labels", shape)[shape]
    with atomic_path(target) as temporary:
        fill(temporary)


def edit_table(table: pa.Table, node: int, label: int, answers: Mapping[str, Answer]) -> pa.Table:
    """Return a table of labels with these answers; rows stay in their order, and new ones come last.

    Examples
    --------
    >>> table = pa.table({"id": [1, 2], "team": ["red", None], "age": [7, 8]})
    >>> edit_table(table, 0, 1, {"2": Answer(("blue",)), "3": Answer(("red",))}).to_pydict()
    {'id': [1, 2, 3], 'team': ['red', 'blue', 'red'], 'age': [7, 8, None]}
    """
    own, bar = lower(table.column_names), "\0" if is_list(table.column(label).type) else "|"
    ours = {"node": node, "label": label, **find_answer_columns(own, lambda k: _texts(table.column(k)))}
    others = [""] if table.num_columns > len(ours) else []
    before = [_cell_texts(table.column(k), bar) for k in ours.values()]
    text = LabelText(",".join([*ours, *others]).encode() + b"\n", ",", header=True, bar=bar)
    for cells in zip(*before, strict=True):
        text.append_row([*cells, *others])
    for node_id, answer in answers.items():
        text.set_answer(node_id, answer)
    after = text.cells()
    added = pa.nulls(len(after["node"]) - table.num_rows)
    columns = [
        pa.chunked_array([*column.chunks, added.cast(column.type)], column.type) for column in table.columns
    ]
    for (name, k), texts in zip(ours.items(), before, strict=True):
        columns[k] = _change_column(table.column(k), texts, after[name], bar)
    new = [name for name in after if name not in ours]
    columns += [pa.chunked_array([after[name]], pa.string()) for name in new]
    names = [*table.column_names, *(f"unseen_{name}" if name in own else name for name in new)]
    return pa.Table.from_arrays(columns, names).replace_schema_metadata(table.schema.metadata)


def _cell_texts(column: pa.ChunkedArray, bar: str) -> list[str]:
    """Return a column as text files have it."""
    if is_string(column.type):
        return [cell or "" for cell in column.to_pylist()]
    cells: list[list[str]] = [[] for _ in range(len(column))]
    for row, name in zip(*label_values(column, "labels"), strict=True):
        cells[row].extend([name.as_py()] if name.is_valid else [])
    return list(map(bar.join, cells))


def _change_column(column: pa.ChunkedArray, before: list[str], after: list[str], bar: str) -> pa.ChunkedArray:
    """Return a column with the cells whose texts changed; a column of numbers that gets a name becomes text."""
    values = [*column.to_pylist(), *[None] * (len(after) - len(before))]
    for row, text in enumerate(after):
        if row >= len(before) or text != before[row]:
            values[row] = text.split(bar) if text and is_list(column.type) else text or None
    for convert in (lambda value: value, int, float):
        with contextlib.suppress(ValueError, TypeError, pa.ArrowException):
            typed = [None if value is None else convert(value) for value in values]
            return pa.chunked_array([pa.array(typed, column.type)])
    return pa.chunked_array([[text or None for text in after]], pa.string())
