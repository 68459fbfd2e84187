"""Views of a graph side by side: written one after the other, read in blocks of rows, reduced in two passes.

The first pass over the rows gives the products of all columns with each other and their sums, from which the scale of
every view and the strongest directions follow. The second one writes the result. Large views wait in a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from unseen.engine.run import Run
from unseen.engine.scratch import ColumnBlocks, release_pages
from unseen.engine.sparse import inverse
from unseen.ids import Array, Floats, Singles
from unseen.linalg.svd import column_signs, eigh


class JoinedViews:
    """Views side by side.

    Parameters
    ----------
    n_rows : int
        Rows of this process.
    widths : sequence of int
        Columns of each view.
    run : Run
        Does the work.

    Examples
    --------
    >>> joined = JoinedViews(2, [1, 2], Run())
    >>> joined.add([np.ones((2, 1), dtype=np.float32)], unit=False)
    >>> joined.add([np.array([[3.0], [0.0]], dtype=np.float32), np.array([[4.0], [2.0]], dtype=np.float32)])
    >>> joined.read(0, 2).round(1).tolist()
    [[1.0, 0.6000000238418579, 0.800000011920929], [1.0, 0.0, 1.0]]
    """

    def __init__(self, n_rows: int, widths: Sequence[int], run: Run) -> None:
        ends = np.cumsum(widths).tolist()
        self.places = [slice(end - width, end) for end, width in zip(ends, widths, strict=True)]
        self.shape = (n_rows, int(ends[-1]))
        self._run, self._columns = run, ColumnBlocks(*self.shape, run.scratch)
        self._inverse_lengths: list[Singles | None] = []

    def add(self, blocks: Iterable[Singles], *, unit: bool = True) -> None:
        """Write the next view in blocks of columns; if `unit`, its rows get length 1."""
        squares = np.zeros((self.shape[0], 1), dtype=np.float32)
        for block in blocks:
            self._columns.append(block)
            if unit:
                squares[:, 0] += np.einsum("ij,ij->i", block, block)
        self._inverse_lengths.append(inverse(np.sqrt(squares)) if unit else None)

    def read(self, start: int, stop: int) -> Singles:
        """Return the rows from `start` to `stop` of all views."""
        rows = self._columns.read(start, stop)
        for place, factors in zip(self.places, self._inverse_lengths, strict=True):
            if factors is not None:
                rows[:, place] *= factors[start:stop]
        return rows

    def strongest_directions(self, k: int, weights: Singles | float) -> tuple[Singles, Singles]:
        """Return the scale of each view, and the `k` directions in which the scaled views spread most.

        With its scale the mean squared distance of the rows of a view from their mean is 1, times its weight squared.
        """
        run, n, width = self._run, self._run.count(self.shape[0]), self.shape[1]
        whole = k < width

        def add_up(start: int, stop: int) -> Floats:
            """Return the products of all columns with each other, or with themselves alone, and their sums."""
            rows = self.read(start, stop)
            squares = rows.T @ rows if whole else np.square(rows).sum(axis=0, dtype=np.float64)[None]
            return np.vstack([squares, rows.sum(axis=0, dtype=np.float64)])

        nothing = np.zeros((width + 1 if whole else 2, width))
        *squares, sums = run.sum_blocks(add_up, self.shape[0], nothing)
        lengths = np.diagonal(squares) if whole else squares[0]
        spreads = [lengths[place].sum() / n - np.square(sums[place] / n).sum() for place in self.places]
        scales = np.array([spread**-0.5 if spread > 1e-12 else 1.0 for spread in spreads]) * weights
        if not whole:
            return scales.astype(np.float32), np.eye(k, dtype=np.float32)
        factors = self._repeat(scales)
        axes = eigh(factors[:, None] * np.array(squares) * factors)[1][:, ::-1][:, :k]
        return scales.astype(np.float32), (axes * column_signs(axes, run.solo)).astype(np.float32)

    def _repeat(self, scales: Array) -> Array:
        """Return the scale of every column."""
        return np.repeat(scales, [place.stop - place.start for place in self.places])

    def times(self, scales: Singles, mix: Singles) -> Singles:
        """Return the scaled views along the directions of `mix`, on disk if the run has a folder for large arrays."""
        factors, as_they_are = self._repeat(scales), np.array_equal(mix, np.eye(*mix.shape))
        small = np.ascontiguousarray(factors[:, None] * mix)
        result = self._run.zeros((self.shape[0], mix.shape[1]))

        def fill(start: int, stop: int) -> None:
            rows = self.read(start, stop)
            result[start:stop] = rows * factors if as_they_are else rows @ small
            release_pages(result, start * mix.shape[1], stop * mix.shape[1])

        self._run.map_blocks(fill, self.shape[0])
        return result
