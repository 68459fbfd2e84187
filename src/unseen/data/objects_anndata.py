"""AnnData of single cells as a source: `obsp` holds the graph, `X` or `obsm` the features, `obs` the labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unseen.data.arrays import require_safe_hdf5
from unseen.data.opened import File
from unseen.data.options import Options
from unseen.data.sources import Batches, Role
from unseen.data.tables import MatrixBatch, Table, as_column, explain_errors, list_names
from unseen.errors import InputError, logger, need_library


def read(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:  # noqa: ARG001
    """Yield what a role is read from."""
    anndata = need_library("anndata", file.name, "formats")
    with explain_errors(file, ".h5ad"):
        require_safe_hdf5(file)
        cells = anndata.read_h5ad(file.path)
    ids: Any = [str(name) for name in cells.obs_names]
    if role == "edges":
        key = _only(cells.obsp, "connectivities", f"{file.name} has", "graph", "obsp")
        yield MatrixBatch(file.name, cells.obsp[key], ids)
    elif role != "features":
        columns = {str(key): as_column(cells.obs[key].astype(object).tolist()) for key in cells.obs}
        yield Table.of(file.name, {**columns, "node": ids})
    elif cells.X is not None:
        yield MatrixBatch(file.name, cells.X, ids, tuple(map(str, cells.var_names)))
    else:
        key = _only(cells.obsm, "X_pca", f"{file.name} has no `X`, and", "matrix of features", "obsm")
        logger.info("%s: there is no `X`, so features are read from obsm[%r]", file.name, key)
        yield MatrixBatch(file.name, cells.obsm[key], ids)


def _only(matrices: Mapping[str, Any], usual: str, start: str, what: str, where: str) -> str:
    names = list(matrices)
    if usual not in names and len(names) != 1:
        have = f"the entries {list_names(names)}" if names else "none"
        msg = f"{start} no {what} {usual!r} in `{where}`, which has {have}; write it under that name"
        raise InputError(msg)
    return usual if usual in names else names[0]
