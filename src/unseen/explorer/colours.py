"""The looks of nodes: the palette, and the ways to colour the map by labels, findings or columns of a table.

Colours are told apart by colour-blind readers, and visible on both backgrounds. Classes take Okabe and Ito's hues,
shaded until each has a contrast of at least 3 : 1 to the map (WCAG 2.2, 1.4.11) and no two come close to each other for
readers who see no red, no green or no blue. Classes beyond these have another hue and another shape.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.files import AnyPath
from unseen.data.sources import Options, Source
from unseen.data.tables import Table
from unseen.discovery.groups import FoundClass
from unseen.errors import InputError
from unseen.explorer.content import Content, find_rows, pack
from unseen.ids import Floats, IdArray, Ints
from unseen.labels import Labels

PALETTE: Content = {
    "map": {"light": "#fdfcfa", "dark": "#101419"},  # the backgrounds
    "classes": {  # the same place is the same class in both themes; found groups take their hues from the end
        "light": (
            *("#1746a2", "#a83a00", "#00795a", "#d0509a", "#b58900", "#2c95d8", "#26262b"),
            *("#5d6b00", "#6d4c41", "#00788a", "#7a1fa2", "#c4002b"),
        ),
        "dark": (
            *("#5b8cff", "#d95f1a", "#1fc98a", "#d879b0", "#f7c53a", "#9adcff", "#ffffff"),
            *("#c3d94e", "#c9a28f", "#4dd6e8", "#b388ff", "#ff6e7f"),
        ),
    },
    "safe": 7,  # hues from the start that all readers tell apart; classes after them get another shape as well
    "steps": {  # from no to yes, away from the background: darker on light, lighter on dark
        "light": ("#8792a3", "#6484b4", "#5669b8", "#6a43a8", "#7f1f8c", "#780046"),
        "dark": ("#6b7683", "#7a74b8", "#b263ad", "#e26a80", "#f79b4b", "#fae267"),
    },
    "quiet": {"light": "#878b95", "dark": "#6f7783"},  # nodes that the chosen colouring says nothing of
}
SHAPES = ("circle", "triangle", "square", "diamond", "plus", "cross", "ring")
"""Drawn by number; a page with more than 49 classes begins again with the first."""
EDGES = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Where the scale of probabilities changes colour."""
STEP_NAMES = ("below 10 %", "10 to 25 %", "25 to 50 %", "50 to 75 %", "75 to 90 %", "90 % and more")
NAMES = 24
"""Values of a column that get a look of their own, the most frequent ones; the others share one."""
STEPS = 6
"""Parts, of about as many nodes each, that a column of more than :data:`NAMES` numbers is cut into."""


def category(
    name: str,
    number: int = 0,
    *,
    caption: str = "",
    quiet: bool = False,
    hollow: bool = False,
    step: int | None = None,
    group: int | None = None,
) -> Content:
    """Return one entry of a legend, with a caption for a found class.

    Entries with equal numbers look alike in every colouring. `quiet` nodes stay in the background; `hollow` ones are
    rings, where the first step of a scale looks much like the background. A `step` is a place on the scale of
    probabilities, which has colours of its own, and a `group` one of the found groups: these take colours that classes
    take last.

    Examples
    --------
    >>> category("mail", 8)["shape"]
    1
    """
    hues = len(PALETTE["classes"]["light"])
    colour, shape = number, number // PALETTE["safe"]
    if group is not None:
        colour, shape = -1 - group, group // hues
    if quiet or step is not None:
        shape = 0
    shape = SHAPES.index("ring") if hollow else shape % len(SHAPES)
    entry = {"name": name, "caption": caption, "quiet": quiet, "colour": colour % hues, "shape": shape}
    entry |= {} if step is None else {"step": step}
    return entry if group is None else {**entry, "group": True}


def colour_nodes(
    n: int,
    labels: Labels | None,
    truth: Labels | None,
    classes: Sequence[FoundClass],
    columns: tuple[Floats, list[str | None], list[str | None]] | None,
) -> list[Content]:
    """Return the ways to colour `n` nodes, the most telling first; a class looks the same in all of them.

    `columns` are the probability, the likely class and the group of each node, where there was a discovery.
    """
    names = [*(labels.classes if labels else ()), *(truth.classes if truth else ())]
    number = {name: k for k, name in enumerate(dict.fromkeys(names))}
    by_label = [] if labels is None else [_colour_by_label("label", "Label", labels, number)]
    colourings = by_label
    if columns is not None:
        probability, likely, group = columns
        looks = {name: category(name, number[name]) for name in (labels.classes if labels else ())}
        groups = {
            each.group: category(each.group, group=k, caption=", ".join(each.caption[:3]))
            for k, each in enumerate(classes)
        }
        steps = [category(name, step=k) for k, name in enumerate(STEP_NAMES)]
        codes = np.searchsorted(EDGES, np.nan_to_num(probability), side="right") + 1
        scale = [category("labelled", quiet=True, hollow=True), *steps]
        colourings = [
            *by_label,
            _colour_by_name("predicted", "Predicted class", likely, looks, "unknown"),
            _colouring(
                "probability",
                "Probability of a missing class",
                scale,
                np.where(np.isnan(probability), 0, codes),
            ),
        ]
        if groups:  # labelled classes are faded in the overview, so that found groups stand out
            both = {f"class {name}": {**look, "muted": True} for name, look in looks.items()}
            both |= {f"group {name}": look for name, look in groups.items()}
            keys = [
                f"group {found}" if found else None if name is None else f"class {name}"
                for found, name in zip(group, likely, strict=True)
            ]
            overview = _colour_by_name("overview", "Predicted or candidate class", keys, both, "unknown")
            candidates = _colour_by_name("group", "Candidate class", group, groups, "in no group")
            colourings = [overview, *colourings, candidates]
    if truth is not None:
        colourings.append(_colour_by_label("truth", "True label", truth, number))
    # where nothing is known of the nodes, they look alike
    return colourings or [_colouring("node", "Nothing", [category("node")], np.zeros(n, dtype=np.int64))]


def _colouring(key: str, name: str, categories: Iterable[Content], codes: Ints) -> Content:
    """Return one way to colour the map: a category for every node, by its number."""
    return {"key": key, "name": name, "categories": list(categories), "codes": pack(codes)}


def _colour_by_label(key: str, name: str, labels: Labels, number: Mapping[str, int]) -> Content:
    """Colour by label; the first one of a node that has several."""
    first = np.zeros(labels.n_nodes, dtype=np.int64)
    first[labels.labelled] = labels.indicator.indices[labels.indicator.indptr[labels.labelled]] + 1
    several = " (first of several)" if labels.is_multilabel else ""
    categories = [category(each, number[each]) for each in labels.classes]
    return _colouring(key, name + several, [category("no label", quiet=True), *categories], first)


def _colour_by_name(
    key: str, name: str, values: Sequence[str | None], looks: Mapping[str, Content], nothing: str
) -> Content:
    """Colour by one name per node, among the names of `looks`; None is `nothing`."""
    code = {None: 0} | {each: k + 1 for k, each in enumerate(looks)}
    codes = np.fromiter((code[value] for value in values), np.int64, len(values))
    return _colouring(key, name, [category(nothing, quiet=True), *looks.values()], codes)


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
    rows = find_rows(ids.tolist(), np.array(list(map(str, table["node"].to_pylist())), object))
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
        return _colouring(key, name, [nothing, *steps], codes)
    looks = {each["values"]: category(each["values"], k) for k, each in enumerate(frequent[:NAMES])}
    looks |= {"other values": category("other values", NAMES)} if len(frequent) > NAMES else {}
    named = [each if each is None or each in looks else "other values" for each in texts.to_pylist()]
    return _colour_by_name(key, name, named, looks, "no value")
