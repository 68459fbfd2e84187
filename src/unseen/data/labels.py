"""From rows of labels to the labels of nodes: classes sorted, several sources added up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from unseen.data.headers import HEADER_HINT
from unseen.data.ids import Ints
from unseen.data.pieces import LabelRows
from unseen.errors import InputError, logger
from unseen.ids import IdArray
from unseen.labels import Labels


def labels_of(rows: Sequence[LabelRows], numbers: Sequence[Ints], node_ids: IdArray) -> Labels:
    """Return the labels of rows of one or several sources, given the number of each row's node; classes are sorted."""
    encoded = pa.concat_arrays([piece.names for piece in rows]).dictionary_encode()
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    position = np.empty(len(names), dtype=np.int64)
    position[order] = np.arange(len(names))
    columns = position[encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)]
    nodes = np.concatenate([row_of[piece.rows] for piece, row_of in zip(rows, numbers, strict=True)])
    classes = tuple(names[k] for k in order)
    if len(rows) > 1:
        owners = np.repeat(np.arange(len(rows)), [len(piece.rows) for piece in rows])
        _say_contradictions(nodes, columns, owners, [piece.source for piece in rows], node_ids, classes)
    entries = np.ones(len(columns), dtype=np.int64)
    indicator = sp.coo_array((entries, (nodes, columns)), shape=(len(node_ids), len(names)))
    return Labels(indicator.tocsr(), classes, node_ids)


def _say_contradictions(
    nodes: Ints,
    columns: Ints,
    owners: Ints,
    sources: Sequence[str],
    node_ids: IdArray,
    classes: Sequence[str],
) -> None:
    """Name a node that two sources label differently; within one source several labels are meant."""
    sets: dict[int, dict[int, set[int]]] = {}
    shared = np.flatnonzero(np.bincount(nodes, minlength=len(node_ids)) > 1)
    kept = np.isin(nodes, shared)
    for node, column, owner in zip(
        nodes[kept].tolist(), columns[kept].tolist(), owners[kept].tolist(), strict=True
    ):
        sets.setdefault(node, {}).setdefault(owner, set()).add(column)
    odd = {node: own for node, own in sets.items() if len({frozenset(s) for s in own.values()}) > 1}
    if not odd:
        return
    node = min(odd)
    labels = {sources[owner]: [classes[k] for k in sorted(own)] for owner, own in sorted(odd[node].items())}
    tell_contradiction(node_ids[node], labels, len(odd))


def tell_contradiction(node: object, labels: Mapping[str, Sequence[str]], count: int) -> None:
    """Say how sources label the first of `count` nodes on which they differ."""
    shown = " and ".join(f"{' | '.join(classes)} in {source}" for source, classes in labels.items())
    more = f" ({count} nodes in all have different labels in different files)" if count > 1 else ""
    logger.warning("the node %r is labelled %s; it keeps all of these%s", node, shown, more)


def refuse_unknown(piece: LabelRows, row_of: Ints, where: str) -> None:
    """Raise the error that names the first row whose node is not there (-1)."""
    strangers = np.flatnonzero(row_of < 0)
    if not len(strangers):
        return
    first = int(strangers[0])
    more = f", and {len(strangers)} rows in all name such nodes" if len(strangers) > 1 else ""
    hint = HEADER_HINT if first == 0 and piece.headless else ""
    remedy = ", or read the graph with labels=... to make nodes of them" if where == "the graph" else ""
    node = piece.ids[first].as_py()
    msg = f"{piece.place(first)}: {where} has no node {node!r}{more}; remove such rows{remedy}{hint}"
    raise InputError(msg)
