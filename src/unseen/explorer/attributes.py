"""Columns of a table as ways to colour the map: `--attributes table.parquet`."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.files import AnyPath
from unseen.data.options import Options
from unseen.data.sources import Source
from unseen.data.tables import Table
from unseen.errors import InputError
from unseen.explorer.colourings import by_name
from unseen.explorer.content import Content, category, colouring
from unseen.explorer.findings import rows_of
from unseen.ids import IdArray

NAMES = 24
"""Values of a column that get a look of their own, the most frequent ones; the others share one."""
STEPS = 6
"""Parts, of about as many nodes each, that a column of more than :data:`NAMES` numbers is cut into."""


def read_attributes(path: AnyPath) -> pa.Table:
    """Return the columns of a table, among them `node`."""
    batches = list(Source(path, "labels", Options(header=True)).batches())
    if not all(isinstance(each, Table) and each.names for each in batches):
        msg = f"{str(path)!r} is no table with named columns; give a .parquet, .csv or .tsv"
        raise InputError(msg)
    table = Table.joined([each for each in batches if isinstance(each, Table)])
    names = list(table.names or ())
    if len(set(names)) < len(names):
        msg = f"{str(path)!r} names two columns {next(n for n in names if names.count(n) > 1)!r}; rename one"
        raise InputError(msg)
    return pa.table(dict(zip(names, table.columns, strict=True)))


def colourings_of(table: pa.Table, ids: IdArray) -> list[Content]:
    """Return a colouring for each column but `node`; of a node that stands twice in the table the first row counts."""
    if "node" not in table.column_names or table.num_columns < 2:
        msg = f"the attributes need a column `node` and another one, got: {', '.join(table.column_names)}"
        raise InputError(msg)
    rows = rows_of([str(node) for node in ids], np.array(list(map(str, table["node"].to_pylist())), object))
    if (rows < 0).all():
        msg = f"no node of the attributes is in the graph; the first are {table['node'][0].as_py()!r} and {ids[0]!r}"
        raise InputError(msg)
    taken = pa.array(rows, mask=rows < 0)
    return [_by_column(name, table[name].take(taken)) for name in table.column_names if name != "node"]


def _by_column(name: str, values: pa.ChunkedArray) -> Content:
    """Colour by names, or by steps where there are many numbers."""
    key = f"column {name}"
    frequent = sorted(
        pc.value_counts(values.drop_null().cast(pa.string())).to_pylist(), key=lambda v: -v["counts"]
    )
    try:
        numbers = np.array(values.cast(pa.float64()).to_numpy(), dtype=np.float64)
    except pa.ArrowInvalid:
        numbers = np.full(len(values), np.nan)
    known = numbers[np.isfinite(numbers)]
    if len(frequent) > NAMES and len(known):
        cuts = np.unique(np.quantile(known, np.arange(1, STEPS) / STEPS))
        ends = [f"{cut:.4g}" for cut in cuts]
        names = [
            f"below {ends[0]}",
            *(f"{a} to {b}" for a, b in itertools.pairwise(ends)),
            f"{ends[-1]} and more",
        ]
        codes = np.where(np.isfinite(numbers), np.searchsorted(cuts, numbers, side="right") + 1, 0)
        steps = [category(each, step=k) for k, each in enumerate(names)]
        return colouring(key, name, [category("no value", quiet=True), *steps], codes)
    own = [each["values"] for each in frequent[:NAMES]]
    looks = {each: category(each, k) for k, each in enumerate(own)}
    looks |= {"other values": category("other values", len(own))} if len(frequent) > NAMES else {}
    texts = values.cast(pa.string()).to_pylist()
    return by_name(
        key, name, [v if v is None or v in looks else "other values" for v in texts], looks, "no value"
    )
