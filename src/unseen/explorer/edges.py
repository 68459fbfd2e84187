"""What joins the nodes of a page: edges of every relation, nodes of other types beside them, neighbours in space."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from unseen.errors import logger
from unseen.explorer.content import Content, pack, pack_lists
from unseen.explorer.layout import MANY, nearest
from unseen.explorer.words import choose_strongest
from unseen.graph import Graph
from unseen.ids import Floats, IdArray, match_ids

MAX_EDGES = 1_000_000
"""Edges kept in a page; of more, each node keeps its strongest."""
NEAREST = 10
"""Nodes listed as the nearest in vector space."""
ROUNDS = 4
"""Steps along edges over which nodes of other types are looked for: a venue is two from an author."""


def collect_edges(graph: Graph, notes: list[str]) -> list[Content]:
    """Return each edge once, by relation: at its source, or at its lower end where it does not point."""
    relations = [] if graph.is_plain else graph.relations
    if not relations:
        return [
            {
                "name": "",
                "directed": False,
                **_store_relation(graph.adjacency, MAX_EDGES, notes, mirrored=True),
            }
        ]
    contents = []
    for each in relations:
        mirrored = not each.directed and each.source_type == each.target_type
        stored = _store_relation(each.matrix, MAX_EDGES // len(relations), notes, mirrored=mirrored)
        contents.append({"name": each.name, "directed": each.directed, **stored})
    return contents


def _store_relation(matrix: sp.csr_array, limit: int, notes: list[str], *, mirrored: bool) -> Content:
    """Return one relation as lists, and which of its edges are negative; of too many, the strongest of each node."""
    n = matrix.shape[0]
    once = sp.triu(matrix, 1, format="csr") if mirrored else matrix.copy()
    if once.nnz > limit:
        most = max(1, limit // n)
        rows = np.repeat(np.arange(n), np.diff(matrix.indptr))
        best = choose_strongest(rows, np.abs(matrix.data), most)
        kept = sp.csr_array((matrix.data[best], (rows[best], matrix.indices[best])), (n, n))
        total = once.nnz
        if mirrored:
            pattern = sp.triu(abs(kept).maximum(abs(kept).T), 1, format="csr")
            once = once.multiply(pattern > 0).tocsr()
        else:
            once = kept
        notes.append(f"Of {total:,} edges the page keeps {once.nnz:,}: the {most} strongest of each node.")
        logger.warning("%s", notes[-1])
    once.sort_indices()
    negative = pack(once.data < 0) if (once.data < 0).any() else None
    return {**pack_lists(np.diff(once.indptr), once.indices), "negative": negative}


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
    others = np.setdiff1d(np.flatnonzero(drawn), rows)
    together = np.concatenate([rows, others])
    types = graph.node_types[together]
    names = list(dict.fromkeys(types.tolist()))
    codes = np.array([names.index(each) for each in types], dtype=np.int64)
    first = len(set(types[: len(rows)].tolist()))
    content = {"names": names, "codes": pack(codes), "first": first}
    return graph.node_ids[together], places[together], content


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
