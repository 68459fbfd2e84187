"""From edges as listed to the rows of each part: ids become numbers, repeats are combined, rows are balanced."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.graph import Symmetrize
from unseen.linalg.blocks import block_rows
from unseen.linalg.keyed import mixed
from unseen.scale.hashing import Keys, bucket_of
from unseen.scale.numbering import Numbering
from unseen.scale.spill import Spill

Ints = npt.NDArray[np.int64]

ROW_COST = 4
"""What a row costs beside its entries, in entries: dense work and the optimiser, measured at d = 200."""
BINS = 1 << 16
"""Ranges of rows whose entries are counted, to cut rows into parts and groups."""
_LISTED = np.dtype([("s", np.uint64), ("d", np.uint64), ("w", np.float64)])
_PAIR = np.dtype([("i", np.int64), ("j", np.int64), ("w", np.float64)])


@dataclass
class EdgeCounts:
    """What was found among the edges."""

    listed: int = 0
    edges: int = 0
    repeats: int = 0
    self_loops: int = 0
    dropped_negative: int = 0
    dropped_zero: int = 0


class PairStore:
    """Edges on their way from ids to sorted rows, each step one bucket at a time.

    Parameters
    ----------
    folder : Path
        Where they wait.
    numbering : Numbering
        Of their ends.
    symmetrize : {"max", "sum", "error"}
        What becomes of a pair that is listed more than once.
    """

    def __init__(self, folder: Path, numbering: Numbering, symmetrize: Symmetrize) -> None:
        self.numbering, self.symmetrize = numbering, symmetrize
        self.counts = EdgeCounts()
        self._listed = Spill(folder, "listed", _LISTED)
        self._half = Spill(folder, "half", _LISTED)
        self._pairs = Spill(folder, "pairs", _PAIR)
        self._merged = Spill(folder, "merged", _PAIR)
        self._rows = Spill(folder, "rows", _PAIR)
        self._bins = np.zeros(0, dtype=np.int64)

    def add(self, src: Keys, dst: Keys, weights: npt.NDArray[np.float64]) -> None:
        """Take edges by the keys of their ends; weights of 0 and below are left out, and counted."""
        self.counts.listed += len(weights)
        self.counts.dropped_zero += int((weights == 0).sum())
        self.counts.dropped_negative += int((weights < 0).sum())
        kept = weights > 0
        records = np.empty(int(kept.sum()), dtype=_LISTED)
        records["s"], records["d"], records["w"] = src[kept], dst[kept], weights[kept]
        self._listed.add(bucket_of(records["s"], self.numbering.buckets), records)

    def merge(self, piece: int) -> None:
        """Turn keys into numbers, combine repeated pairs, and count the entries of rows; `piece` records at a time."""
        buckets, numbering = self.numbering.buckets, self.numbering
        for bucket in range(buckets):
            for found in self._listed.pieces(bucket, piece):
                found["s"] = numbering.numbers_of(found["s"], bucket).view(np.uint64)
                self._half.add(bucket_of(found["d"], buckets), found)
            self._listed.path(bucket).unlink(missing_ok=True)
        for bucket in range(buckets):
            for found in self._half.pieces(bucket, piece):
                ends = found["s"].view(np.int64), numbering.numbers_of(found["d"], bucket)
                pairs = np.empty(len(found), dtype=_PAIR)
                pairs["i"], pairs["j"], pairs["w"] = np.minimum(*ends), np.maximum(*ends), found["w"]
                keys = mixed(mixed(pairs["i"].view(np.uint64)) ^ pairs["j"].view(np.uint64))
                self._pairs.add(bucket_of(keys, buckets), pairs)
            self._half.path(bucket).unlink(missing_ok=True)
        self._bins = np.zeros(max(1, min(numbering.n_nodes, BINS)), dtype=np.int64)
        for bucket in range(buckets):
            merged = self._combined(self._pairs.take(bucket))
            loops = merged["i"] == merged["j"]
            self.counts.edges += len(merged)
            self.counts.self_loops += int(loops.sum())
            for rows in (merged["i"], merged["j"][~loops]):
                self._bins += np.bincount(self._bin(rows), minlength=len(self._bins))
            self._merged.add(np.full(len(merged), bucket), merged)

    def cuts(self, parts: int) -> list[int]:
        """Return where each part begins, and the number of rows: parts of equal work, none without a row.

        Where there are enough rows, parts begin where blocks do (see :mod:`unseen.linalg.blocks`), so that sums over
        blocks are the same bits on any number of processes.
        """
        n = self.numbering.n_nodes
        unit = block_rows(n)
        unit = unit if parts <= -(-n // unit) else 1
        last = -(-n // unit)
        edges = self._bin_starts()
        work = np.r_[0, np.cumsum(self._bins + ROW_COST * np.diff(edges))]
        found = [0]
        for part in range(1, parts):
            near = round(float(np.interp(work[-1] * part / parts, work, edges)) / unit)
            found.append(min(max(near, found[-1] + 1), last - parts + part))
        return [*(unit * block for block in found), n]

    def groups(self, cuts: list[int], most: int) -> list[int]:
        """Return a finer cut of the rows: at most about `most` entries between two neighbours, parts kept whole."""
        edges = self._bin_starts()
        group = np.cumsum(self._bins) // max(1, most)
        inner = edges[1:-1][group[1:] != group[:-1]] if len(group) > 1 else edges[:0]
        return sorted({*cuts, *inner.tolist()})

    def distribute(self, groups: list[int], piece: int) -> None:
        """Send both directions of every pair to the group of its row."""
        starts = np.array(groups[:-1])
        for bucket in range(self.numbering.buckets):
            for pairs in self._merged.pieces(bucket, piece):
                back = pairs[pairs["i"] != pairs["j"]]
                back["i"], back["j"] = back["j"].copy(), back["i"].copy()
                for records in (pairs, back):
                    self._rows.add(np.searchsorted(starts, records["i"], side="right") - 1, records)
            self._merged.path(bucket).unlink(missing_ok=True)

    def group_rows(self, group: int) -> Any:
        """Return the entries of a group of rows, by row and column."""
        records = self._rows.read(group)
        return records[np.lexsort((records["j"], records["i"]))]

    def group_columns(self, group: int, piece: int) -> Iterator[Ints]:
        """Yield the columns of a group's entries, in pieces."""
        for records in self._rows.pieces(group, piece):
            yield records["j"]

    def drop(self, group: int) -> None:
        """Free the disk space of a group."""
        self._rows.path(group).unlink(missing_ok=True)

    def _bin(self, rows: Ints) -> Ints:
        return rows * len(self._bins) // max(1, self.numbering.n_nodes)

    def _bin_starts(self) -> Ints:
        bins = np.arange(len(self._bins) + 1, dtype=np.int64)
        return -(-bins * self.numbering.n_nodes // len(self._bins))

    def _combined(self, pairs: Any) -> Any:
        pairs = pairs[np.lexsort((pairs["j"], pairs["i"]))]
        if not len(pairs):
            return pairs
        new = np.r_[True, (pairs["i"][1:] != pairs["i"][:-1]) | (pairs["j"][1:] != pairs["j"][:-1])]
        starts = np.flatnonzero(new)
        self.counts.repeats += len(pairs) - len(starts)
        if self.symmetrize == "error" and len(starts) < len(pairs):
            twice = pairs[np.flatnonzero(~new)[0]]
            one, other = (self.numbering.id_of(int(twice[end])) for end in "ij")
            msg = f"the pair {one} - {other} is listed more than once; say what to do with --symmetrize max or sum"
            raise InputError(msg)
        reduce = np.add if self.symmetrize == "sum" else np.maximum
        merged = pairs[starts]
        with np.errstate(over="ignore"):
            merged["w"] = reduce.reduceat(pairs["w"], starts)
        if not np.isfinite(merged["w"]).all():
            msg = "the weights of a pair that is listed several times add up to infinity; scale the weights down"
            raise InputError(msg)
        return merged


def part_groups(cuts: list[int], groups: list[int]) -> list[range]:
    """Return which groups each part consists of.

    Examples
    --------
    >>> part_groups([0, 5, 9], [0, 2, 5, 9])
    [range(0, 2), range(2, 3)]
    """
    places = np.searchsorted(groups, cuts)
    return [range(int(a), int(b)) for a, b in pairwise(places)]
