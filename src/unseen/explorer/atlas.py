"""The map as a table that Embedding Atlas opens: places, texts, nearest nodes, labels and predicted classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from unseen.data.tables import id_array
from unseen.explorer.build import MAX_NODES, choose_rows
from unseen.explorer.content import unpack
from unseen.explorer.layout import Progress, lay_out, leading_columns
from unseen.explorer.nodes import list_nearest
from unseen.explorer.subject import Subject
from unseen.ids import match_ids
from unseen.randomness import RandomState, as_generator

FLAGS = "--x x --y y --text text --neighbors neighbors"
"""What `embedding-atlas` has to be told about the columns."""


def atlas_table(
    subject: Subject,
    *,
    max_nodes: int = MAX_NODES,
    random_state: RandomState = 0,
    on_progress: Progress = None,
) -> pa.Table:
    """Return one row per node of the map, which is the same as that of :func:`unseen.explorer.build_page`.

    Its columns are ``node, x, y, text, neighbors, label``, and with labels ``class, probability, status`` as
    :meth:`unseen.Discovery.predictions` has them. `neighbors` are the nearest nodes in the embedding: row numbers
    from 0 and distances; none where there are too many nodes. Where nodes have no texts, `text` is the id.

    Examples
    --------
    >>> import unseen
    >>> table = atlas_table(Subject(unseen.Embedding(np.eye(4))))
    >>> table.column_names, table["text"].to_pylist()
    (['node', 'x', 'y', 'text', 'neighbors', 'label'], ['0', '1', '2', '3'])
    """
    rng = as_generator(random_state)
    rows = choose_rows(subject, max_nodes, rng, [])
    ids = subject.embedding.node_ids[rows]
    columns = leading_columns(subject.embedding.vectors[rows], rng)
    x, y = lay_out(columns, rng, on_progress=on_progress).astype(np.float32).T
    names, graph = [str(node) for node in ids.tolist()], subject.graph
    if graph is not None and graph.texts is not None:
        own = graph.texts[match_ids(ids, graph.node_ids)].tolist()
        names = [text.strip() or name for text, name in zip(own, names, strict=True)]
    labels = {} if subject.labels is None else subject.labels.of_nodes(ids).to_lists()
    given = ["|".join(labels[node]) if node in labels else None for node in ids.tolist()]
    packed = list_nearest(columns, [])
    near = np.zeros((len(ids), 0), int)
    if packed is not None:
        near = unpack(packed["values"]).reshape(-1, packed["k"])
    gaps = columns[:, None] - columns[near]
    distances = np.sqrt(np.einsum("nkd,nkd->nk", gaps, gaps))
    lists = zip(near.tolist(), distances.tolist(), strict=True)
    kind = pa.struct({"ids": pa.list_(pa.int64()), "distances": pa.list_(pa.float64())})
    table: dict[str, Any] = {
        "node": id_array(ids),
        "x": x,
        "y": y,
        "text": names,
        "neighbors": pa.array([{"ids": row, "distances": far} for row, far in lists], kind),
        "label": pa.array(given, pa.string()),
    }
    if subject.discovery is not None:
        found = subject.discovery.predictions()
        places = match_ids(ids, found["node"].to_numpy(zero_copy_only=False))
        table |= {name: found[name].take(pa.array(places)) for name in ("class", "probability", "status")}
    return pa.table(table)
