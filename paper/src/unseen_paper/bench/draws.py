"""Draws that are measured one after another and kept in a csv file: a second start takes up where the first ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from unseen.data.datasets import Dataset, load_dataset
from unseen.errors import DatasetError, logger
from unseen_paper.csv_files import read_csv, write_csv

Row = Mapping[str, object]


def kept_draws(
    graphs: Iterable[str],
    draws: Sequence[tuple[object, ...]],
    measure: Callable[..., Mapping[str, object]],
    keys: Sequence[str],
    figures: Sequence[str],
    file: Path,
    load: Callable[[str], Dataset] = load_dataset,
) -> list[Row]:
    """Measure what is not in `file` yet and return all rows of these graphs, also those of other starts.

    Parameters
    ----------
    graphs : iterable of str
        Data sets; those that are not there are left out with a warning.
    draws : sequence of tuple
        What `measure` takes after the data: one draw each.
    measure : callable
        Returns the figures of one draw.
    keys, figures : sequence of str
        Columns that name a draw (after the graph), and those of its figures.
    file : Path
        Where draws are kept.
    load : callable
        Returns a data set by its name.
    """
    columns = ("graph", *keys, *figures)
    rows: list[Row] = list(read_csv(file, columns)) if file.exists() else []
    done = {tuple(str(row[name]) for name in columns[: len(keys) + 1]) for row in rows}
    names = tuple(graphs)
    for name, data in load_present(names, load).items():
        for draw in draws:
            if (name, *map(str, draw)) not in done:
                figure = measure(data, *draw)
                rows.append({"graph": name, **dict(zip(keys, draw, strict=True)), **figure})
                write_csv(rows, file)
                shown = ", ".join(f"{key} {value}" for key, value in figure.items())
                logger.info("%s, %s: %s", name, ", ".join(map(str, draw)), shown)
    return [row for row in rows if row["graph"] in names]


def load_present(names: Iterable[str], load: Callable[[str], Dataset] | None = None) -> dict[str, Dataset]:
    """Return the data sets that are there; of the others a warning says that they are left out."""
    present = {}
    for name in names:
        try:
            present[name] = (load or load_dataset)(name)
        except DatasetError as error:
            logger.warning("%s is left out: %s", name, error)
    return present
