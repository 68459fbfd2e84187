"""What the readers hand over: pieces of edges, nodes, features and labels, and the report of what was left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from unseen.data.ids import Floats, Ints, stacked
from unseen.errors import InputError
from unseen.graph import Features


@dataclass(frozen=True)
class Edges:
    """The ends and weights of edges as listed, ids as Arrow strings or int64; no weight is negative.

    `nodes` are those that the source itself names, in its order (a matrix does); None: no such list.
    """

    src: pa.Array
    dst: pa.Array
    weight: Floats | None
    nodes: pa.Array | None = None

    @property
    def id_columns(self) -> list[pa.Array]:
        """Both columns of ids."""
        return [self.src, self.dst]

    @classmethod
    def joined(cls, pieces: Sequence[Edges]) -> Edges:
        """Return pieces as one."""
        if len(pieces) == 1:
            return pieces[0]
        weight: Floats | None = None
        if any(piece.weight is not None for piece in pieces):
            weight = np.concatenate([np.ones(len(p.src)) if p.weight is None else p.weight for p in pieces])
        return cls(stacked([p.src for p in pieces]), stacked([p.dst for p in pieces]), weight)


@dataclass(frozen=True)
class NodeRows:
    """Ids of a node list; None: row i is node number i."""

    ids: pa.Array | None

    @property
    def id_columns(self) -> list[pa.Array]:
        """The one column of ids; none for numbered rows."""
        return [] if self.ids is None else [self.ids]


@dataclass(frozen=True)
class FeatureRows(NodeRows):
    """Rows of features, or of vectors; without `ids` row i is node number i."""

    values: Features
    names: tuple[str, ...] | None
    source: str

    @classmethod
    def joined(cls, pieces: Sequence[FeatureRows], header: tuple[str, ...] | None) -> FeatureRows:
        """Return pieces of one source as one; `header` is a first line that was settled to be one."""
        source, names = pieces[-1].source, pieces[-1].names
        if names is None and header is not None:
            names = header[1:]
        full = [piece for piece in pieces if piece.values.shape[0]] or pieces[:1]
        if len(full) == 1:
            return replace(full[0], names=names)
        widths = sorted({piece.values.shape[1] for piece in full})
        if len(widths) > 1:
            msg = (
                f"{source} has rows of {' and of '.join(map(str, widths))} features; all need the same number"
            )
            raise InputError(msg)
        ids = stacked([column for piece in full for column in piece.id_columns])
        encoded = ids.dictionary_encode()
        if len(encoded.dictionary) != len(ids):
            counts = np.bincount(encoded.indices.to_numpy(zero_copy_only=False))
            node = encoded.dictionary[int(np.argmax(counts > 1))].as_py()
            raise several_rows(source, node)
        dense = [piece.values for piece in full if isinstance(piece.values, np.ndarray)]
        if len(dense) == len(full):
            return cls(ids, np.concatenate(dense), names, source)
        return cls(ids, sp.vstack([piece.values for piece in full], format="csr"), names, source)


def several_rows(source: str, node: object) -> InputError:
    """Return the error for a node with several rows of features, in different places of a source."""
    return InputError(f"{source}: the node {node!r} has several rows; one row per node is allowed")


@dataclass(frozen=True)
class LabelRows(NodeRows):
    """Labels as listed: the id of each row, and for each label the row it stands in.

    `hint` goes with messages on the first row where that may be a header nobody announced.
    """

    ids: pa.Array
    rows: Ints
    names: pa.Array
    source: str
    place: Callable[[int], str]
    hint: str = ""

    @classmethod
    def joined(cls, pieces: Sequence[LabelRows]) -> LabelRows:
        """Return pieces of one source as one."""
        if len(pieces) == 1:
            return pieces[0]
        starts = np.cumsum([0, *(len(piece.ids) for piece in pieces)])

        def place(row: int) -> str:
            k = int(np.searchsorted(starts, row, side="right")) - 1
            return pieces[k].place(row - int(starts[k]))

        ids, names = stacked([piece.ids for piece in pieces]), [piece.names for piece in pieces]
        rows = [piece.rows + start for piece, start in zip(pieces, starts[:-1], strict=True)]
        return replace(
            pieces[0], ids=ids, rows=np.concatenate(rows), names=pa.concat_arrays(names), place=place
        )
