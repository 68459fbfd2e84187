"""What a page says of single nodes: their features in words, their edges, and what lies nearest in vector space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from unseen.errors import logger
from unseen.explorer.content import Content, pack, pack_lists
from unseen.explorer.layout import MANY, nearest
from unseen.graph import Features, Graph
from unseen.ids import Floats, IdArray, Ints, match_ids
from unseen.weights import Relation

MAX_EDGES = 1_000_000
"""Edges kept in a page; of more, each node keeps its strongest."""
NEAREST = 10
"""Nodes listed as the nearest in vector space."""
ROUNDS = 4
"""Steps along edges over which nodes of other types are looked for: a venue is two from an author."""
MOST = 24
"""Features listed for a node that has them or has them not."""
MOST_NUMBERS = 8
"""Features listed for a node that has a number for each."""
ENTRIES = 1_500_000
"""Features listed for all nodes together; of many nodes each lists fewer, and the page says how many more there are."""
BLOCK = 4096
"""Rows of dense features that are looked at together."""


def describe_features(features: Features, names: Sequence[str] | None) -> Content:
    """Return the most telling features of every node, the strongest first: rare ones, strong ones, or unusual numbers.

    Sparse features, and dense ones that are half zeros or more, tell what a node has; others what is unusual. With the
    lists comes how many features a node has in all, their numbers where not all are 1, and the means of those that are
    named, to compare with. Columns are numbered where they have no `names`.
    """
    n, m = features.shape
    mostly_zero = sp.issparse(features) or 2 * np.count_nonzero(features) <= features.size
    content: Content
    if mostly_zero or bool(((features == 0) | (features == 1)).all()):
        present = sp.csr_array(features)
        rows, columns = np.repeat(np.arange(n), np.diff(present.indptr)), present.indices.astype(np.int64)
        there = present.data != 0
        rows, columns, values = rows[there], columns[there], present.data[there].astype(np.float64)
        spread = np.bincount(columns, minlength=m)
        strength = np.abs(values) * np.log1p(n / np.maximum(spread[columns], 1))
        best = choose_strongest(rows, strength, min(MOST, max(1, ENTRIES // max(n, 1))))
        numbers = None if (values == 1).all() else pack(values[best], "f4")
        title = "Features" if names is None else "In words"
        content = {"title": title, "total": pack(np.bincount(rows, minlength=n)), "numbers": numbers}
        rows, columns, mean = rows[best], columns[best], None
    else:
        dense = np.asarray(features)
        mean, deviation = dense.mean(axis=0, dtype=np.float64), dense.std(axis=0, dtype=np.float64)
        most = min(MOST_NUMBERS, max(1, ENTRIES // max(n, 1)), m)
        unusual = np.empty((n, most), dtype=np.int64)
        for start in range(0, n, BLOCK):
            apart = np.abs((dense[start : start + BLOCK] - mean) / np.where(deviation > 0, deviation, 1.0))
            unusual[start : start + BLOCK] = np.argsort(-apart, axis=1, kind="stable")[:, :most]
        rows, columns = np.repeat(np.arange(n), most), unusual.ravel()
        content = {"title": "Furthest from the average", "total": pack(np.full(n, m))}
        content["numbers"] = pack(dense[rows, columns], "f4")
    used, values = np.unique(columns, return_inverse=True)  # names and means that some node lists
    called = tuple(f"feature {k}" if names is None else names[k] for k in used)
    means = None if mean is None else [float(f"{value:.3g}") for value in mean[used]]
    return {**pack_lists(np.bincount(rows, minlength=n), values, called), **content, "means": means}


def choose_strongest(rows: Ints, strength: Floats, most: int) -> Ints:
    """Return which entries are among the `most` strongest of their row, row by row, the strongest first."""
    order = np.lexsort((-strength, rows))
    counts = np.bincount(rows)
    place = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[place < most]


def collect_edges(graph: Graph, notes: list[str]) -> list[Content]:
    """Return each edge once, by relation: at its source, or at its lower end where it does not point.

    Of too many edges, the strongest of each node are there.
    """
    relations = () if graph.is_plain else graph.relations
    contents, n, limit = [], graph.n_nodes, MAX_EDGES // max(len(relations), 1)
    for each in relations or [Relation("", None, None, graph.adjacency, _checked=True)]:
        matrix, is_mirrored = each.matrix, not each.directed and each.source_type == each.target_type
        once = sp.triu(matrix, 1, format="csr") if is_mirrored else matrix.copy()
        if once.nnz > limit:
            total, most = once.nnz, max(1, limit // n)
            rows = np.repeat(np.arange(n), np.diff(matrix.indptr))
            best = choose_strongest(rows, np.abs(matrix.data), most)
            kept = sp.csr_array((matrix.data[best], (rows[best], matrix.indices[best])), (n, n))
            if is_mirrored:
                pattern = sp.triu(abs(kept).maximum(abs(kept).T), 1, format="csr")
                kept = once.multiply(pattern > 0).tocsr()
            once = kept
            notes.append(
                f"Of {total:,} edges the page keeps {once.nnz:,}: the {most} strongest of each node."
            )
            logger.warning("%s", notes[-1])
        once.sort_indices()
        negative = pack(once.data < 0) if (once.data < 0).any() else None
        lists = pack_lists(np.diff(once.indptr), once.indices)
        contents.append({"name": each.name, "directed": each.directed, **lists, "negative": negative})
    return contents


def place_other_types(
    graph: Graph, ids: IdArray, positions: Floats, max_nodes: int, rng: np.random.Generator
) -> tuple[IdArray, Floats, Content | None]:
    """Return ids and places with nodes of other types added, each in the middle of its neighbours, and the types.

    Nodes that no path of a few edges joins to the map are left out, and so are all others where they are too many.
    """
    if graph.node_types is None:
        return ids, positions, None
    rows = match_ids(ids, graph.node_ids)
    adjacency = (graph.plain.adjacency != 0).astype(np.float64)
    places = np.zeros((graph.n_nodes, 2))
    places[rows], drawn = positions, np.zeros(graph.n_nodes, dtype=bool)
    drawn[rows] = True
    for _ in range(ROUNDS if graph.n_nodes <= max_nodes else 0):
        weights = adjacency[~drawn][:, drawn]
        degree = np.asarray(weights.sum(axis=1))
        new = np.flatnonzero(~drawn)[degree > 0]
        middle = (weights @ places[drawn])[degree > 0] / degree[degree > 0, None]
        places[new] = middle + rng.normal(size=middle.shape) * np.ptp(positions, axis=0) / 200
        drawn[new] = True
    rows = np.concatenate([rows, np.setdiff1d(np.flatnonzero(drawn), rows)])
    types = graph.node_types[rows].tolist()
    names = list(dict.fromkeys(types))
    codes = np.array([names.index(each) for each in types], dtype=np.int64)
    content = {"names": names, "codes": pack(codes), "first": len(set(types[: len(ids)]))}
    return graph.node_ids[rows], places[rows], content


def list_nearest(columns: Floats, notes: list[str]) -> Content | None:
    """Return the rows that are nearest to each in vector space, itself left out."""
    n = len(columns)
    if n > MANY:
        notes.append(f"Of more than {MANY:,} nodes the nearest in vector space are not listed.")
        return None
    k = min(NEAREST, n - 1)
    if k < 1 or not columns.shape[1]:
        return None
    near = nearest(columns, columns, k + 1)
    own = near == np.arange(n)[:, None]
    own[:, -1] |= ~own.any(axis=1)  # where many lie at one spot, a node may not be among its own nearest
    return {"k": k, "values": pack(near[~own].reshape(n, k))}
