"""To and from PyTorch Geometric ``Data``: row i of every tensor is node i, ids travel as ``node_ids``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.errors import InputError, UnsupportedError, logger
from unseen.graph import Features, Graph, Symmetrize
from unseen.ids import IdArray, as_ids, default_ids
from unseen.labels import Labels
from unseen.relation_graph import RelationGraph
from unseen.relations import symmetric


def graph_from_pyg(data: Any, *, symmetrize: Symmetrize = "max") -> Graph:
    """Make a graph from a PyTorch Geometric ``Data``; see :meth:`unseen.Graph.from_pyg`.

    Weights are ``edge_weight``, or ``edge_attr`` where that is one number per edge. An edge that is listed
    in both directions is one undirected edge. Sparse ``x`` stays sparse. The attributes
    ``node_ids`` and ``feature_names``, if there are any, become those of the graph.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> edge_index = torch.tensor([[0, 1, 1], [1, 0, 2]])
    >>> graph_from_pyg(Data(x=torch.eye(3), edge_index=edge_index))
    Graph(3 nodes, 2 edges, 3 features)
    """
    if hasattr(data, "node_types"):
        from unseen.data.objects_relations import graph_from_hetero

        return graph_from_hetero(data, _matrix, _store_index, _weights)
    src, dst = _edge_index(data)
    features = None if data.get("x") is None else _matrix(data.x, "x")
    n = _n_nodes(data, features, src, dst)
    weights = _weights(data, len(src))
    ids = _node_ids(data, n)
    adjacency = _adjacency(src, dst, weights, n, symmetrize)
    names = data.get("feature_names")
    return Graph(adjacency, features, ids, None if names is None else tuple(names))


def labels_from_pyg(data: Any, **removed: object) -> Labels:
    """Make labels from the ``y`` of a PyTorch Geometric ``Data``, or of the types of a ``HeteroData`` that have one.

    Parameters
    ----------
    data : torch_geometric.data.Data or HeteroData
        With ``y``: a class number per node (-1 or NaN: unlabelled), or a nodes x classes matrix of 0 and 1.
        Classes are called as ``class_names`` says, if there is such a list, else by their numbers.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> labels_from_pyg(Data(y=torch.tensor([1, -1, 0]), num_nodes=3))
    Labels(3 nodes, 2 labelled, 2 classes, single-label)
    """
    if removed:
        msg = (
            f"labels_from_pyg has no parameter {next(iter(removed))!r}: set `y` to -1 where a node is to have "
            "no label, and data.class_names to the names of the classes"
        )
        raise InputError(msg)
    if hasattr(data, "node_types"):
        from unseen.data.objects_relations import labels_from_hetero

        return labels_from_hetero(data, labels_from_pyg)
    if data.get("y") is None:
        msg = "the data has no `y` to take labels from"
        raise InputError(msg)
    y = _array(data.y, "y")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim not in (1, 2):
        msg = f"`y` has shape {y.shape}; expected a class number per node, or a nodes x classes matrix"
        raise InputError(msg)
    rows, columns = _class_numbers(y) if y.ndim == 1 else np.nonzero(np.nan_to_num(y) > 0)
    names = data.get("class_names")
    width = y.shape[1] if y.ndim == 2 else int(columns.max(initial=-1)) + 1
    if names is None:
        numbers = np.arange(width) if y.ndim == 2 else np.unique(columns)
        columns = np.searchsorted(numbers, columns)
        names = [str(number) for number in numbers.tolist()]
    elif len(names) < width:
        msg = f"`class_names` has {len(names)} names but `y` has the class number {width - 1}"
        raise InputError(msg)
    ones = np.ones(len(rows), dtype=np.int64)
    indicator = sp.coo_array((ones, (rows, columns)), shape=(len(y), len(names))).tocsr()
    return Labels(indicator, tuple(names), _node_ids(data, len(y)))


def to_pyg(graph: Graph, labels: Labels | None = None) -> Any:
    """Return a PyTorch Geometric ``Data`` (``HeteroData``: of relations): each edge both ways, numbers as float32.

    Features become ``x``, dense or sparse as they are; weights ``edge_weight``, unless all are 1; labels
    ``y``, with -1 for unlabelled nodes (several labels per node: a nodes x classes matrix), and
    ``train_mask``, the labelled nodes. Ids, feature and class names go along as lists.

    Examples
    --------
    >>> import unseen
    >>> to_pyg(unseen.Graph.from_edges(["a"], ["b"])).edge_index.tolist()
    [[0, 1], [1, 0]]
    """
    try:
        import torch

        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # of its import
            from torch_geometric.data import Data
    except ImportError:
        msg = "to_pyg needs PyTorch Geometric; install it with: pip install torch torch-geometric"
        raise UnsupportedError(msg) from None
    if isinstance(graph, RelationGraph):
        from unseen.data.objects_relations import hetero_from_graph

        return hetero_from_graph(graph, labels, _tensor, _float32, _put_labels)
    coo = graph.adjacency.tocoo()
    data = Data(
        edge_index=torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64)), num_nodes=graph.n_nodes
    )
    data.node_ids = graph.node_ids.tolist()
    if (coo.data != 1).any():
        data.edge_weight = torch.from_numpy(_float32(coo.data, "edge weights"))
    if graph.features is not None:
        data.x = _tensor(graph.features)
    if graph.feature_names is not None:
        data.feature_names = list(graph.feature_names)
    if labels is not None:
        _put_labels(data, labels.aligned(graph))
    return data


def _put_labels(data: Any, own: Labels) -> None:
    import torch

    several = own.is_multilabel
    data.y = torch.from_numpy(own.indicator.toarray().astype(np.float32) if several else own.codes.copy())
    data.train_mask = torch.zeros(len(own.node_ids), dtype=torch.bool)
    data.train_mask[own.labelled] = True
    data.class_names = list(own.classes)


def _edge_index(data: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    # The class is asked for `num_nodes`: the value itself warns where it has to be guessed.
    if not hasattr(data, "get") or hasattr(data, "node_types") or not hasattr(type(data), "num_nodes"):
        msg = f"expected a torch_geometric.data.Data with nodes of one kind, got {type(data).__name__}"
        raise InputError(msg)
    return _store_index(data)


def _store_index(data: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    if data.get("edge_index") is None:
        msg = "the data has no `edge_index`; other forms such as `adj_t` must be converted to it first"
        raise InputError(msg)
    index = _array(data.edge_index, "edge_index")
    if index.ndim != 2 or index.shape[0] != 2 or index.dtype.kind not in "iu":
        msg = f"`edge_index` must be whole numbers of shape (2, edges), got {index.dtype} of shape {index.shape}"
        raise InputError(msg)
    return index[0].astype(np.int64), index[1].astype(np.int64)


def _n_nodes(
    data: Any, features: Features | None, src: npt.NDArray[np.int64], dst: npt.NDArray[np.int64]
) -> int:
    stored = data.to_dict()
    if stored.get("num_nodes") is not None:
        n = int(stored["num_nodes"])
    elif features is not None:
        n = int(features.shape[0])
    elif stored.get("y") is not None:
        n = len(data.y)
    else:
        n = int(max(src.max(initial=-1), dst.max(initial=-1))) + 1
    ends = np.concatenate([src, dst])
    if len(ends) and (ends.min() < 0 or ends.max() >= n):
        bad = int(ends.min()) if ends.min() < 0 else int(ends.max())
        msg = f"`edge_index` names the node {bad}, but the data has {n} nodes, 0 to {n - 1}"
        raise InputError(msg)
    return n


def _weights(data: Any, n: int) -> npt.NDArray[np.float64]:
    name = "edge_weight" if data.get("edge_weight") is not None else "edge_attr"
    if data.get(name) is None:
        return np.ones(n)
    values = _array(data[name], name)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 and name == "edge_attr":
        logger.info("`edge_attr` has %d columns and was not used: a weight is one number", values.shape[-1])
        return np.ones(n)
    if values.shape != (n,) or values.dtype.kind not in "fiub":
        msg = f"`{name}` has shape {values.shape} and type {values.dtype}; one number for each of {n} edges is needed"
        raise InputError(msg)
    return values.astype(np.float64)


def _adjacency(
    src: npt.NDArray[np.int64],
    dst: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    n: int,
    symmetrize: Symmetrize,
) -> sp.csr_array:
    """Return the adjacency; both directions of an edge are one edge, not a repeat to be added up."""
    if symmetrize in ("sum", "error"):
        pairs = src * n + dst
        if symmetrize == "error" and len(np.unique(pairs)) < len(pairs):
            msg = "`edge_index` lists a pair more than once; say what to do with symmetrize='max' or 'sum'"
            raise InputError(msg)
        return symmetric(sp.coo_array((weights, (src, dst)), shape=(n, n)).tocsr(), symmetrize)
    return Graph.from_edges(src, dst, weights, nodes=default_ids(n), symmetrize=symmetrize).adjacency


def _node_ids(data: Any, n: int) -> IdArray:
    ids = data.get("node_ids")
    if ids is None:
        return default_ids(n)
    return as_ids(ids if isinstance(ids, (list, tuple)) else _array(ids, "node_ids"))


def _class_numbers(y: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    if y.dtype.kind == "f":
        y = np.where(np.isnan(y), -1.0, y)
        if (y != np.floor(y)).any():
            msg = f"`y` holds {y[y != np.floor(y)][0]:g}; class numbers must be whole"
            raise InputError(msg)
    numbers = y.astype(np.int64)
    if (numbers < -1).any():
        msg = f"`y` holds {int(numbers.min())}; class numbers start at 0, and -1 means unlabelled"
        raise InputError(msg)
    rows = np.flatnonzero(numbers >= 0).astype(np.int64)
    return rows, numbers[rows]


def _array(value: Any, name: str) -> npt.NDArray[Any]:
    if not hasattr(value, "detach"):
        return np.asarray(value)
    tensor = value.detach().cpu()
    if str(tensor.layout) != "torch.strided":
        msg = f"`{name}` is a sparse tensor; a dense one is needed"
        raise InputError(msg)
    if str(tensor.dtype) == "torch.bfloat16":  # numpy has no such type
        tensor = tensor.float()
    return np.asarray(tensor.numpy())


def _matrix(value: Any, name: str) -> Features:
    layout = str(getattr(value, "layout", "torch.strided"))
    if layout == "torch.strided":
        dense = _array(value, name)
        return dense[:, None] if dense.ndim == 1 else dense
    coo = value.detach().cpu().to_sparse_coo().coalesce()
    rows, columns = coo.indices().numpy()
    return sp.coo_array((coo.values().numpy(), (rows, columns)), shape=tuple(coo.shape)).tocsr()


def _float32(values: npt.NDArray[Any], what: str) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    if not np.isfinite(narrow).all():
        msg = f"{what} go beyond what float32, the type of PyTorch Geometric, can hold; scale them down"
        raise InputError(msg)
    return narrow


def _tensor(features: Features) -> Any:
    import torch

    if isinstance(features, np.ndarray):
        return torch.from_numpy(_float32(features, "features"))
    coo = features.tocoo()
    indices = torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64))
    values = torch.from_numpy(_float32(coo.data, "features"))
    return torch.sparse_coo_tensor(indices, values, coo.shape, is_coalesced=True, check_invariants=True)
