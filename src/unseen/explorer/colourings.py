"""The ways to colour the map: by labels, by what discovery found, by columns of a table (`--attributes`)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.files import AnyPath
from unseen.data.options import Options
from unseen.data.sources import Source
from unseen.data.tables import Table
from unseen.errors import InputError
from unseen.explorer.content import Content, category, colouring
from unseen.explorer.findings import find_rows
from unseen.ids import Floats, IdArray, Ints
from unseen.labels import Labels

EDGES = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Where the scale of probabilities changes colour."""
STEP_NAMES = ("below 10 %", "10 to 25 %", "25 to 50 %", "50 to 75 %", "75 to 90 %", "90 % and more")
NAMES = 24
"""Values of a column that get a look of their own, the most frequent ones; the others share one."""
STEPS = 6
"""Parts, of about as many nodes each, that a column of more than :data:`NAMES` numbers is cut into."""


def colour_by_label(key: str, name: str, labels: Labels, number: Mapping[str, int]) -> Content:
    """Colour by label; the first one of a node that has several."""
    first = np.zeros(labels.n_nodes, dtype=np.int64)
    starts = labels.indicator.indptr[labels.labelled]
    first[labels.labelled] = labels.indicator.indices[starts] + 1
    several = " (first of several)" if labels.is_multilabel else ""
    categories = [category(each, number[each]) for each in labels.classes]
    return colouring(key, name + several, [category("no label", quiet=True), *categories], first)


def colour_by_name(
    key: str, name: str, values: Sequence[str | None], looks: Mapping[str, Content], nothing: str
) -> Content:
    """Colour by one name per node, among the names of `looks`; None is `nothing`."""
    code = {each: k + 1 for k, each in enumerate(looks)}
    codes = np.fromiter((0 if value is None else code[value] for value in values), np.int64, len(values))
    return colouring(key, name, [category(nothing, quiet=True), *looks.values()], codes)


def colour_by_probability(probability: Floats) -> Content:
    """Colour by the probability of a missing class, in steps; NaN are labelled nodes."""
    steps = [category(name, step=k) for k, name in enumerate(STEP_NAMES)]
    codes: Ints = np.searchsorted(EDGES, np.nan_to_num(probability), side="right") + 1
    codes = np.where(np.isnan(probability), 0, codes)
    labelled = category("labelled", quiet=True, hollow=True)
    return colouring("probability", "Probability of a missing class", [labelled, *steps], codes)


def read_titles(column: str, files: Iterable[AnyPath], node_column: str | None = None) -> dict[str, str]:
    """Return the titles of nodes by id, from the first of the files that has the column."""
    paths = list(files)
    for path in paths:
        table = read_attributes(path)
        names = table.column_names
        if column in names:
            node = next((each for each in (node_column, "node") if each in names), names[0])
            pairs = zip(table[node].cast(pa.string()), table[column].cast(pa.string()), strict=True)
            return {str(key): title.as_py() or "" for key, title in pairs}
    msg = (
        f"no file of nodes, texts or attributes has the column {column!r} of `title_column`; "
        f"files: {', '.join(map(str, paths)) or 'none'}"
    )
    raise InputError(msg)


def read_attributes(path: AnyPath) -> pa.Table:
    """Return the columns of a table with named columns."""
    batches = list(Source(path, "labels", Options(header=True)).batches())
    if not all(isinstance(each, Table) and each.names for each in batches):
        msg = f"{str(path)!r} is not a table with named columns; use a .parquet, .csv or .tsv"
        raise InputError(msg)
    table = Table.join([each for each in batches if isinstance(each, Table)])
    names = list(table.names or ())
    if len(set(names)) < len(names):
        msg = f"{str(path)!r} names two columns {next(n for n in names if names.count(n) > 1)!r}; rename one"
        raise InputError(msg)
    return pa.table(dict(zip(names, table.columns, strict=True)))


def make_colourings(table: pa.Table, ids: IdArray) -> list[Content]:
    """Return a colouring for each column but `node`; of a node that stands twice in the table the first row counts."""
    if "node" not in table.column_names or table.num_columns < 2:
        msg = f"the attributes need a column `node` and another one, got: {', '.join(table.column_names)}"
        raise InputError(msg)
    rows = find_rows([str(node) for node in ids], np.array(list(map(str, table["node"].to_pylist())), object))
    if (rows < 0).all():
        first = "they have no rows"
        if len(table):
            first = f"the first are {table['node'][0].as_py()!r} and {ids[0]!r}"
        msg = f"no node of the attributes is in the graph; {first}"
        raise InputError(msg)
    taken = pa.array(rows, mask=rows < 0)
    return [_colour_by_column(name, table[name].take(taken)) for name in table.column_names if name != "node"]


def _colour_by_column(name: str, values: pa.ChunkedArray) -> Content:
    """Colour by names, or by steps where there are many numbers."""
    key, nothing = f"column {name}", category("no value", quiet=True)
    try:
        texts = values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        msg = f"the map cannot be coloured by the column {name!r} of type {values.type}; leave it out of the table"
        raise InputError(msg) from None
    texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
    frequent = sorted(pc.value_counts(texts.drop_null()).to_pylist(), key=lambda v: -v["counts"])
    try:
        numbers = np.array(texts.cast(pa.float64()).to_numpy(), dtype=np.float64)
    except pa.ArrowInvalid:
        numbers = np.full(len(values), np.nan)
    known = numbers[np.isfinite(numbers)]
    if len(frequent) > NAMES and len(known):
        cuts = np.unique(np.quantile(known, np.arange(1, STEPS) / STEPS))
        ends = [f"{cut:.4g}" for cut in cuts]
        between = (f"{a} to {b}" for a, b in itertools.pairwise(ends))
        names = [f"below {ends[0]}", *between, f"{ends[-1]} and more"]
        codes = np.where(np.isfinite(numbers), np.searchsorted(cuts, numbers, side="right") + 1, 0)
        steps = [category(each, step=k) for k, each in enumerate(names)]
        return colouring(key, name, [nothing, *steps], codes)
    own = [each["values"] for each in frequent[:NAMES]]
    looks = {each: category(each, k) for k, each in enumerate(own)}
    looks |= {"other values": category("other values", len(own))} if len(frequent) > NAMES else {}
    named = [each if each is None or each in looks else "other values" for each in texts.to_pylist()]
    return colour_by_name(key, name, named, looks, "no value")
