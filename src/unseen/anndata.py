"""Single cells: AnnData is read (`obsp`, `X` or `obsm`, `obs`), and what is found is written into it as scanpy does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unseen.data.arrays import require_safe_hdf5
from unseen.data.opened import File
from unseen.data.options import Options
from unseen.data.sources import Batches, Role
from unseen.data.tables import MatrixBatch, Table, as_column, explain_errors, list_names
from unseen.errors import InputError, logger, need_library
from unseen.ids import as_ids, match_ids

PARTS: tuple[Role, ...] = ("edges", "features", "labels")


def embed(adata: Any, labels: str = "cell_type", *, method: Any = None, random_state: Any = None) -> Any:
    """Find the cells whose type has no label, and write vectors, probabilities and groups into `adata`.

    The graph is ``obsp["connectivities"]`` (of ``scanpy.pp.neighbors``), the features are ``X`` or else
    ``obsm["X_pca"]``. Written are ``obsm["X_unseen"]``, ``obs["unseen_probability"]`` (NaN for labelled cells) and
    ``obs["unseen_group"]`` (missing where a cell is of no new group).

    Parameters
    ----------
    adata : anndata.AnnData
        The cells.
    labels : str
        Column of ``obs`` with the types that are known; a missing value is no label.
    method, random_state
        As for :func:`unseen.discover`, whose result is returned.

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd, unseen, unseen.anndata
    >>> data = unseen.planted_partition(120, 3, random_state=0)
    >>> kinds = [f"c{k}" if k and i % 2 else None for i, k in enumerate(data.labels.codes)]
    >>> cells = anndata.AnnData(
    ...     data.graph.features.toarray(),
    ...     obs=pd.DataFrame({"cell_type": kinds}, index=data.graph.node_ids.astype(str)),
    ...     obsp={"connectivities": data.graph.adjacency},
    ... )
    >>> found = unseen.anndata.embed(cells, random_state=0)
    >>> cells.obsm["X_unseen"].shape[0], sorted(set(cells.obs["unseen_group"].dropna()))
    (120, ['new-1'])
    """
    from unseen.data.read import read
    from unseen.discovery.discover import discover

    edges, features, types = (part_of(adata, role, "`adata`") for role in PARTS)
    data = read(edges, None, features, types, label_column=labels)
    found = discover(data.graph, data.labels, method=method, random_state=random_state)
    ids = as_ids([str(name) for name in adata.obs_names])
    vectors = found.embedding.rows(ids)
    adata.obsm["X_unseen"] = vectors if isinstance(vectors, np.ndarray) else vectors.toarray()
    rows = match_ids(ids, as_ids(found.nodes["node"].to_numpy()))
    for name, column in (("unseen_probability", "unseen_probability"), ("unseen_group", "group")):
        values = [*found.nodes[column].to_pylist(), None]  # the last one is that of labelled cells
        adata.obs[name] = [values[row] for row in rows]
    adata.obs["unseen_probability"] = adata.obs["unseen_probability"].astype(float)
    adata.obs["unseen_group"] = adata.obs["unseen_group"].astype("category")
    return found


def read(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:  # noqa: ARG001
    """Yield what a role is read from."""
    anndata = need_library("anndata", file.name, "formats")
    with explain_errors(file, ".h5ad"):
        require_safe_hdf5(file)
        cells = anndata.read_h5ad(file.path)
    yield part_of(cells, role, file.name)


def part_of(cells: Any, role: Role, source: str) -> Table | MatrixBatch:
    """Return the part of an AnnData object that a role is read from."""
    ids: Any = [str(name) for name in cells.obs_names]
    if role == "edges":
        key = _only(cells.obsp, "connectivities", f"{source} has", "graph", "obsp")
        return MatrixBatch(source, cells.obsp[key], ids)
    if role != "features":
        columns = {str(key): as_column(cells.obs[key].astype(object).tolist()) for key in cells.obs}
        return Table.of(source, {**columns, "node": ids})
    if cells.X is not None:
        return MatrixBatch(source, cells.X, ids, tuple(map(str, cells.var_names)))
    key = _only(cells.obsm, "X_pca", f"{source} has no `X`, and", "matrix of features", "obsm")
    logger.info("%s: there is no `X`, so features are read from obsm[%r]", source, key)
    return MatrixBatch(source, cells.obsm[key], ids)


def _only(matrices: Mapping[str, Any], usual: str, start: str, what: str, where: str) -> str:
    names = list(matrices)
    if usual not in names and len(names) != 1:
        have = f"the entries {list_names(names)}" if names else "none"
        msg = f"{start} no {what} {usual!r} in `{where}`, which has {have}; write it under that name"
        raise InputError(msg)
    return usual if usual in names else names[0]
