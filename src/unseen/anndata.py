"""Single cells, by the conventions of scanpy: find cell types without a label, embed the cells, label them.

Each function reads the neighbour graph of ``scanpy.pp.neighbors``, a representation of the cells and a column of
``obs``, and writes its result into the object.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.data.read import read, read_label_list
from unseen.data.tables import MatrixBatch, list_names
from unseen.errors import InputError, need_library
from unseen.graph import Graph
from unseen.ids import IdArray, as_ids, match_ids
from unseen.labels import Labels

SECONDS_TO_END = 3
"""How long the labelling app may take to end after the interrupt that ended this process's wait."""


def discover(
    adata: Any,
    labels_key: str = "cell_type",
    unlabeled_category: str | None = "Unknown",
    use_rep: str | None = "X_pca",
    neighbors_key: str | None = None,
    key_added: str = "unseen",
    fdr: float = 0.1,
    method: Any = None,
    random_state: Any = 0,
    copy: bool = False,
) -> Any:
    """Find the cells whose type is missing from the labels, and write the result into `adata`.

    ``obs["unseen_class"]``
        The label, the labelled type that fits best, or a candidate type such as ``new-1``.
    ``obs["unseen_probability"]``
        Probability that the type of the cell is missing from the labels; 0 for labelled cells.
    ``obs["unseen_candidate"]``
        Whether the cell is in the list with this false discovery rate; False everywhere where the labels do not allow
        such a list. The report says why.
    ``uns["unseen"]``
        The ``report`` in words, ``json`` with all of its numbers, a table of the candidate ``classes``, and ``params``.

    Parameters
    ----------
    adata : anndata.AnnData
        The cells, with the neighbour graph of ``scanpy.pp.neighbors``.
    labels_key : str
        Column of ``obs`` with the known types. Missing values are unlabelled cells.
    unlabeled_category : str or None
        Value of that column that means "no label", in addition to missing values.
    use_rep : str or None
        Key of ``obsm`` with the representation of the cells, or ``"X"``. None takes ``X_pca`` if there is one, else
        ``X``.
    neighbors_key : str or None
        Key of ``uns`` of the neighbour graph, as `key_added` of ``scanpy.pp.neighbors``.
    key_added : str
        Key of ``uns``, and first part of the names of the columns in ``obs``.
    fdr : float
        False discovery rate of the candidates.
    method, random_state
        As for :func:`unseen.discover`.
    copy : bool
        Leave `adata` as it is, and return a copy with the result.

    Returns
    -------
    anndata.AnnData or None
        The copy, or None.

    Examples
    --------
    >>> import anndata, pandas as pd, unseen, unseen.anndata
    >>> data = unseen.planted_partition(240, 3, random_state=0)
    >>> kinds = [f"c{k}" if k and i % 2 else "Unknown" for i, k in enumerate(data.labels.codes)]
    >>> cells = anndata.AnnData(
    ...     data.graph.features.toarray(),
    ...     obs=pd.DataFrame({"cell_type": kinds}, index=data.graph.node_ids.astype(str)),
    ...     obsp={"connectivities": data.graph.adjacency},
    ... )
    >>> unseen.anndata.discover(cells, use_rep="X")
    >>> sorted(cells.obs["unseen_class"].cat.categories)
    ['c1', 'c2', 'new-1']
    """
    from unseen.discovery.discover import discover as find_missing

    adata = adata.copy() if copy else adata
    labels = _read_labels(adata, labels_key, unlabeled_category)
    if len(labels.labelled) == adata.n_obs:
        msg = (
            f"every cell has a label in obs[{labels_key!r}], so no type can be missing; cells without a label have no "
            f"value there, or that of `unlabeled_category`, {unlabeled_category!r}"
        )
        raise InputError(msg)
    graph = _make_graph(adata, use_rep, neighbors_key)
    found = find_missing(graph, labels, method=method, fdr=fdr, random_state=random_state)

    classes = np.array([*labels.classes, None], dtype=object)[labels.codes]
    probability, is_candidate = np.zeros(len(classes)), np.zeros(len(classes), dtype=bool)
    rows = match_ids(as_ids(found.nodes["node"].to_pylist()), graph.node_ids)
    probability[rows] = found.nodes["unseen_probability"].to_numpy()
    is_candidate[rows] = found.nodes["selected"].to_numpy(zero_copy_only=False)
    name_of = {each.group: each.name for each in found.shown_classes}
    fits = zip(found.nodes["group"].to_pylist(), found.nodes["likely_class"].to_pylist(), strict=True)
    classes[rows] = [name_of.get(group, likely) for group, likely in fits]

    kinds: dict[str, Any] = {"name": object, "size": int, "probability": float, "nearest_seen": object}
    table = {}
    for name, kind in kinds.items():
        cells = [getattr(each, name) for each in found.shown_classes]
        table[name] = np.array([cell or "" if kind is object else cell for cell in cells], kind)
    adata.obs[f"{key_added}_class"] = _make_categories(classes)
    adata.obs[f"{key_added}_probability"] = probability
    adata.obs[f"{key_added}_candidate"] = is_candidate
    params = {
        "labels_key": labels_key,
        "unlabeled_category": unlabeled_category,
        "use_rep": use_rep,
        "neighbors_key": neighbors_key,
        "fdr": fdr,
        "method": found.embedding.method,
        "random_state": random_state if isinstance(random_state, int) else None,
    }
    adata.uns[key_added] = {
        "report": found.summary(),
        "json": json.dumps(found.to_json()),
        "classes": table,
        "params": {name: value for name, value in params.items() if value is not None},  # .h5ad has no None
    }
    return adata if copy else None


def embed(
    adata: Any,
    labels_key: str | None = "cell_type",
    unlabeled_category: str | None = "Unknown",
    use_rep: str | None = "X_pca",
    neighbors_key: str | None = None,
    key_added: str = "X_unseen",
    method: Any = "rect-plus",
    random_state: Any = 0,
    copy: bool = False,
) -> Any:
    """Learn an embedding that keeps labelled and unlabelled cell types apart; write it to ``obsm["X_unseen"]``.

    Parameters
    ----------
    adata, unlabeled_category, use_rep, neighbors_key, copy
        As for :func:`discover`.
    labels_key : str or None
        Column of ``obs`` with the known types; None to learn without labels.
    key_added : str
        Key of ``obsm`` to write.
    method : str or Method
        As for :func:`unseen.make_method`, or a method.
    random_state : None, int or Generator
        Seed of a method that is given by its name.

    Returns
    -------
    anndata.AnnData or None
        The copy, or None.

    Examples
    --------
    >>> import anndata, unseen, unseen.anndata
    >>> graph = unseen.planted_partition(90, 3, random_state=0).graph
    >>> cells = anndata.AnnData(graph.features.toarray(), obsp={"connectivities": graph.adjacency})
    >>> unseen.anndata.embed(cells, labels_key=None, use_rep="X", method="smoothfeats")
    >>> cells.obsm["X_unseen"].shape[0]
    90
    """
    from unseen.methods.base import Method
    from unseen.methods.registry import make_method

    adata = adata.copy() if copy else adata
    labels = None if labels_key is None else _read_labels(adata, labels_key, unlabeled_category)
    estimator = method if isinstance(method, Method) else make_method(method, random_state=random_state)
    vectors = estimator.fit_transform(_make_graph(adata, use_rep, neighbors_key), labels).vectors
    adata.obsm[key_added] = vectors if isinstance(vectors, np.ndarray) else vectors.toarray()
    return adata if copy else None


def label(
    adata: Any,
    labels_key: str = "cell_type",
    unlabeled_category: str | None = "Unknown",
    use_rep: str | None = "X_pca",
    neighbors_key: str | None = None,
    save: str | Path = "cell-labels.csv",
    port: int = 0,
    open_browser: bool = True,
    random_state: int = 0,
) -> None:
    """Label cells in the browser, and write the labels into ``obs[labels_key]`` when you are done.

    This runs `unseen label` (extra `label`) until you press Ctrl-C or interrupt the notebook's kernel. Other columns of
    ``obs`` can colour the map.

    Parameters
    ----------
    adata, labels_key, unlabeled_category, use_rep, neighbors_key
        As for :func:`discover`. A column `labels_key` that does not exist is made.
    save : path
        File that every answer is saved to (.csv or .tsv); the labels of an existing file are used, too.
    port : int
        Port to listen on; 0 takes a free one.
    open_browser : bool
        Whether to open the page; its address is printed in any case.
    random_state : int
        Seed.
    """
    for library in ("starlette", "uvicorn"):
        need_library(library, "the labelling app", "label")
    from unseen.data.write import write_part

    labels = _read_labels(adata, labels_key, unlabeled_category) if labels_key in adata.obs else None
    graph, path = _make_graph(adata, use_rep, neighbors_key), Path(save)
    with tempfile.TemporaryDirectory(prefix="unseen-") as name:
        folder = Path(name)
        files = {"edges": folder / "edges.parquet", "nodes": folder / "nodes.parquet"}
        files["features"] = folder / "features.npz"
        for role, file in files.items():
            write_part(graph, role, file)  # type: ignore[arg-type]
        words: list[object] = [sys.executable, "-m", "unseen", "label", files["edges"]]
        words += ["--nodes", files["nodes"], "--features", files["features"]]
        words += ["--save", path, "--port", port, "--seed", random_state]
        columns = adata.obs.drop(columns=[labels_key, "node"], errors="ignore")
        if len(columns.columns):  # those that can colour the map, as text
            columns = columns.astype(str).mask(columns.isna(), "")
            columns.insert(0, "node", graph.node_ids)
            columns.to_parquet(folder / "obs.parquet", index=False)
            words += ["--attributes", folder / "obs.parquet"]
        if labels is not None and len(labels.labelled):
            write_part(labels, "labels", folder / "labels.csv")
            words += ["--labels", folder / "labels.csv"]
        _run_app([*map(str, words), *([] if open_browser else ["--no-browser"])])
    if not path.exists():
        return
    classes = {str(node): "|".join(given) for node, given in read_label_list(path).to_lists().items()}
    column = adata.obs.get(labels_key)
    if column is not None and column.isna().any() and not (column == unlabeled_category).any():
        unlabeled_category = None  # a missing value means "no label" in this column
    adata.obs[labels_key] = _make_categories(
        [classes.get(str(n), unlabeled_category) for n in adata.obs_names]
    )


def _run_app(words: list[str]) -> None:
    """Run the command until it is interrupted; it is another process, because a notebook has a running event loop."""
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, encoding="utf-8")
    line = ""
    try:
        for line in process.stderr or ():
            sys.stderr.write(line)  # a notebook shows what this process writes
        process.wait()
    except KeyboardInterrupt:
        try:
            process.communicate(timeout=SECONDS_TO_END)
        except subprocess.TimeoutExpired:  # this process was interrupted, its process group was not
            process.send_signal(signal.SIGINT)
            process.communicate()
    if process.returncode:
        raise InputError(line.strip().removeprefix("unseen: "))


def _make_graph(adata: Any, use_rep: str | None, neighbors_key: str | None) -> Graph:
    """Return the neighbour graph, with the representation as features."""
    ids = _make_ids(adata)
    key = _find_connectivities(adata, neighbors_key)
    edges = MatrixBatch(f"obsp[{key!r}]", adata.obsp[key], ids)
    if use_rep is None:
        use_rep = "X_pca" if "X_pca" in adata.obsm else "X"
    if use_rep == "X":
        if adata.X is None:
            msg = f"there is no `X` to use; `obsm` has {list_names(list(adata.obsm))}: choose one with `use_rep`"
            raise InputError(msg)
        matrix = adata.X[:] if adata.isbacked else adata.X
        features = MatrixBatch("`X`", matrix, ids, tuple(map(str, adata.var_names)))
    elif use_rep in adata.obsm:
        matrix = adata.obsm[use_rep]
        names = tuple(f"{use_rep}-{k}" for k in range(matrix.shape[1]))  # as scanpy.get.obs_df calls them
        features = MatrixBatch(
            f"obsm[{use_rep!r}]", matrix if sp.issparse(matrix) else np.asarray(matrix), ids, names
        )
    else:
        advice = "run sc.pp.pca(adata) first, or " if use_rep == "X_pca" else ""
        msg = (
            f"`use_rep` is {use_rep!r}, but `obsm` has {list_names(list(adata.obsm))}; {advice}choose one of these, or "
            "use_rep='X' for the expression matrix"
        )
        raise InputError(msg)
    return read(edges, None, features).graph


def _find_connectivities(adata: Any, neighbors_key: str | None) -> str:
    """Return the key of ``obsp`` with the neighbour graph, where ``scanpy.pp.neighbors`` put it."""
    name = "neighbors" if neighbors_key is None else neighbors_key
    settings = adata.uns.get(name)
    usual = "connectivities" if neighbors_key is None else f"{neighbors_key}_connectivities"
    key = settings.get("connectivities_key", usual) if isinstance(settings, Mapping) else usual
    if key in adata.obsp and (neighbors_key is None or settings is not None):
        return str(key)
    call = (
        "sc.pp.neighbors(adata)" if neighbors_key is None else f"sc.pp.neighbors(adata, key_added={name!r})"
    )
    msg = f"`adata` has no neighbour graph {name!r} (`obsp` has {list_names(list(adata.obsp))}); run {call} first"
    raise InputError(msg)


def _read_labels(adata: Any, labels_key: str, unlabeled_category: str | None) -> Labels:
    """Return the types of the cells, without the category that means "no label"."""
    if labels_key not in adata.obs:
        msg = f"`obs` has no column {labels_key!r} (labels_key); it has {list_names(list(adata.obs))}"
        raise InputError(msg)
    values = adata.obs[labels_key].astype(object).tolist()
    return Labels.from_values(
        [None if value == unlabeled_category else value for value in values], _make_ids(adata)
    )


def _make_ids(adata: Any) -> IdArray:
    names = [str(name) for name in adata.obs_names]
    if len(set(names)) < len(names):
        msg = "the names of the cells are not unique; run adata.obs_names_make_unique() first"
        raise InputError(msg)
    return as_ids(names)


def _make_categories(values: Any) -> Any:
    """Return a categorical column whose categories every version of anndata can write to a file."""
    import pandas as pd

    names = sorted({value for value in values if value is not None})
    return pd.Categorical(values, categories=pd.Index(names, dtype=object))
