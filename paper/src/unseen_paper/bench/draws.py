"""Draws that are measured one after another and kept in a csv file: a second start takes up where the first ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from unseen.data.datasets import Dataset, load_dataset
from unseen.discovery import ranking
from unseen.discovery.vectors import make_surroundings, vectors_of
from unseen.embedding import Embedding
from unseen.errors import DatasetError, logger
from unseen.ids import Floats
from unseen_paper.csv_files import read_csv, write_csv

Row = Mapping[str, object]


class OncePerGraph:
    """What discovery makes of a graph without its labels, kept between draws: vectors and surroundings.

    They do not depend on the draw, apart from the seed of the decomposition of a matrix.
    """

    def __init__(self) -> None:
        self.made: dict[object, tuple[Any, float]] = {}
        self.saved = 0.0

    @contextmanager
    def of(self, name: str) -> Iterator[OncePerGraph]:
        """Take what was made of the graph of this name; `saved` has the processor seconds that this saves."""
        self.saved = 0.0

        def vectors(graph: Any, labels: Any, source: Any) -> Any:
            if isinstance(source, Embedding) or source._traits.uses_labels:
                return vectors_of(graph, labels, source)
            params = {key: value for key, value in source.get_params().items() if key != "random_state"}
            key = (name, type(source), str(params), describe_features(graph))
            return self._make(key, lambda: vectors_of(graph, labels, source))

        def surroundings(graph: Any, rng: Any) -> Any:
            key = (name, "surroundings", describe_features(graph))
            return self._make(key, lambda: make_surroundings(graph, rng))

        with patch.multiple(ranking, vectors_of=vectors, make_surroundings=surroundings):
            yield self

    def _make(self, key: object, make: Callable[[], Any]) -> Any:
        if key in self.made:
            self.saved += self.made[key][1]
        else:
            start = time.process_time()
            self.made[key] = make(), time.process_time() - start
        return self.made[key][0]


def describe_features(graph: Any) -> tuple[object, ...]:
    """Return what tells the features of a graph from those that discovery makes of them."""
    return () if graph.features is None else (graph.features.shape, float(graph.features.sum()))


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


def cells_of(
    rows: Iterable[Row], keys: Sequence[str], figures: Iterable[str]
) -> Iterator[tuple[tuple[str, ...], list[Row], dict[str, Floats]]]:
    """Yield for the draws that have the same keys: these, the draws, and each figure of all of them as numbers."""
    cells: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        cells.setdefault(tuple(str(row[key]) for key in keys), []).append(row)
    names = tuple(figures)
    for key, own in cells.items():
        yield key, own, {name: np.array([float(str(row[name])) for row in own]) for name in names}


def load_present(names: Iterable[str], load: Callable[[str], Dataset] | None = None) -> dict[str, Dataset]:
    """Return the data sets that are there; of the others a warning says that they are left out."""
    present = {}
    for name in names:
        try:
            present[name] = (load or load_dataset)(name)
        except DatasetError as error:
            logger.warning("%s is left out: %s", name, error)
    return present
