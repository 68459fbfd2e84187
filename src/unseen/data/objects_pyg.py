"""To and from PyTorch Geometric ``Data`` and ``HeteroData``: row i is node i of its type, ids are ``node_ids``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.data.build import Report
from unseen.data.sources import Options, Role
from unseen.data.tables import MatrixBatch, Table, as_column, list_names
from unseen.errors import InputError, UnsupportedError, logger
from unseen.graph import Features, Graph, Symmetrize
from unseen.ids import Array, Floats, IdArray, Ints, as_ids, default_ids
from unseen.labels import Labels
from unseen.relations import infer_directions
from unseen.weights import Relation, check_weights, merge_entries

if TYPE_CHECKING:
    from unseen.data.intake import Data as ReadData

ONE_TYPE = "node"
"""What a ``HeteroData`` calls the nodes of a graph without types."""


def graph_from_pyg(data: Any, *, symmetrize: Symmetrize = "max") -> Graph:
    """Make a graph from PyTorch Geometric's ``Data`` or ``HeteroData``; see :meth:`unseen.Graph.from_pyg`.

    Weights are ``edge_weight``, or ``edge_attr`` where that is one number per edge. An edge of a ``Data`` that is
    listed in both directions is one undirected edge. Sparse ``x`` stays sparse. The attributes ``node_ids`` and
    ``feature_names``, if there are any, become those of the graph. A store of edges of a ``HeteroData`` may say with
    ``directed`` whether they point; :func:`unseen.relations.infer_directions` is about the others.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> edge_index = torch.tensor([[0, 1, 1], [1, 0, 2]])
    >>> graph_from_pyg(Data(x=torch.eye(3), edge_index=edge_index))
    Graph(3 nodes, 2 edges, 3 features)
    """
    nodes = _node_stores(data)
    features = {key: _matrix(store.x, "x") for key, store in nodes.items() if store.get("x") is not None}
    names = {
        key: store.feature_names for key, store in nodes.items() if store.get("feature_names") is not None
    }
    if None in nodes:
        matrix, ids = _links(data, symmetrize)
        own: dict[str, Any] = {"features": features.get(None), "feature_names": names.get(None)}
        return Graph.from_scipy(matrix, symmetrize=symmetrize, node_ids=ids, **own)
    if not data.edge_types:
        msg = "the HeteroData has no edges, so that there is no relation to make a graph of"
        raise InputError(msg)
    counts = {key: _count_nodes(key, store) for key, store in nodes.items()}
    ids, starts = _number_nodes(nodes, counts)
    untyped = list(counts) == [ONE_TYPE]
    stated, others = list[Relation](), list[Relation]()
    for source, name, target in data.edge_types:
        store = data[source, name, target]
        ends = []
        for key, column in zip((source, target), _edge_index(store), strict=True):
            _require_nodes(column, counts.get(key, 0), f" of {name!r}", repr(key))
            ends.append(column + starts.get(key, 0))
        matrix = sp.coo_array((_weights(store, len(ends[0])), ends), shape=(len(ids), len(ids)))
        first, second = (None, None) if untyped else (source, target)
        directed = store.get("directed")
        relation = Relation(name, first, second, matrix, directed is None or bool(directed))
        (others if directed is None else stated).append(relation)
    types = [key for key, n in counts.items() for _ in range(n)]
    if untyped:
        features, names = ({None: part[ONE_TYPE]} if part else {} for part in (features, names))
    relations = [*stated, *infer_directions(others)]
    return Graph.from_relations(relations, ids, None if untyped else types, features, names)


def labels_from_pyg(data: Any, attribute: str = "y") -> Labels:
    """Make labels from an attribute of a PyTorch Geometric ``Data``, or of the types of a ``HeteroData`` that have it.

    Parameters
    ----------
    data : torch_geometric.data.Data or HeteroData
        With ``y``: a class number per node (-1 or NaN: unlabelled), or a nodes x classes matrix of 0 and 1.
        Classes are called as ``class_names`` says, if there is such a list, else by their numbers.
    attribute : str
        The attribute that holds the labels, numbers like those of ``y`` or a list of names.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> labels_from_pyg(Data(y=torch.tensor([1, -1, 0]), num_nodes=3))
    Labels(3 nodes, 2 labelled, 2 classes, single-label)
    """
    nodes = _node_stores(data)
    parts = {
        key: _class_entries(store, attribute)
        for key, store in nodes.items()
        if store.get(attribute) is not None
    }
    if not parts:
        known = dict.fromkeys(name for store in nodes.values() for name in store.to_dict())
        msg = f"the data has no `{attribute}` to take labels from; it has {list_names(list(known))}"
        raise InputError(msg)
    counts = {key: len(s[attribute]) if key is None else _count_nodes(key, s) for key, s in nodes.items()}
    ids, starts = _number_nodes(nodes, counts)
    classes = list(dict.fromkeys(name for *_, names in parts.values() for name in names))
    rows = np.concatenate([starts[key] + own for key, (own, _, _) in parts.items()])
    columns = [classes.index(names[k]) for _, numbers, names in parts.values() for k in numbers.tolist()]
    entries = (np.ones(len(columns), dtype=bool), (rows, columns))
    return Labels(sp.csr_array(entries, shape=(len(ids), len(classes))), tuple(classes), ids)


def usual_parts(data: Any, features: Any, labels: Any, options: Options) -> tuple[Any, Any]:
    """Return the features and labels to read with a ``Data``: its ``x`` and ``y`` where nothing else was given."""
    if features is None and data.get("x") is not None:
        features = MatrixBatch("`x`", _matrix(data.x, "x"), _ids_of(data), data.get("feature_names"))
    if labels is None and (options.label_column or data.get("y") is not None):
        labels = data
    return features, labels


def read_hetero(data: Any, nodes: Any, features: Any, labels: Any, text: Any, options: Options) -> ReadData:
    """Return what :func:`unseen.read` returns of a ``HeteroData``, which has its own nodes and features."""
    from unseen.data.intake import Data
    from unseen.data.read import read_labels

    if nodes is not None or text is not None or (features is not None and features is not data):
        msg = "a HeteroData has its own nodes and features; leave out `nodes`, `features` and `text`"
        raise InputError(msg)
    graph = graph_from_pyg(data, symmetrize=options.symmetrize)
    if labels is not None and labels is not data:
        return Data(graph, read_labels(labels, graph, label_column=options.label_column), Report())
    name = options.label_column or ("y" if any("y" in store for store in data.node_stores) else None)
    return Data(graph, None if name is None else labels_from_pyg(data, name), Report())


def read_pyg(data: Any, role: Role, options: Options) -> Table | MatrixBatch:
    """Return the edges of a ``Data``, or its nodes with a column for each attribute of nodes."""
    source, attribute = f"`{role}`", options.label_column or "y"
    if role == "edges":
        return MatrixBatch(source, *_links(data, options.symmetrize))
    skipped = ("x", "y", "node_ids", "feature_names", "class_names", "batch")
    others = [name for name in data.node_attrs() if name not in skipped and not name.endswith("_mask")]
    columns: dict[str, Any] = {"node": _ids_of(data)}
    if role == "features" and data.get("x") is not None:
        x, names = _matrix(data.x, "x"), data.get("feature_names")
        used = [name for name in others if name != options.label_column]
        if not used or sp.issparse(x):
            logger.info("features are only `x`%s", f", not {list_names(used)}: it is sparse" if used else "")
            return MatrixBatch(source, x, columns["node"], names)
        columns |= {name: x[:, k] for k, name in enumerate(names or [f"x {k}" for k in range(x.shape[1])])}
    if role == "labels" or (role == "features" and data.get(attribute) is not None):
        labels = labels_from_pyg(data, attribute)
        rows, classes = labels.indicator, np.array(labels.classes, dtype=object)
        columns[options.label_column or "label"] = np.split(classes[rows.indices], rows.indptr[1:-1])
    for name in others:
        values = data[name] if isinstance(data[name], (list, tuple)) else _array(data[name], name).tolist()
        columns.setdefault(name, as_column(values))
    return Table.of(source, columns)


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
            from torch_geometric.data import Data, HeteroData
    except ImportError:
        msg = "to_pyg needs PyTorch Geometric; install it with: pip install torch torch-geometric"
        raise UnsupportedError(msg) from None
    several = not graph.is_plain or graph.types != (None,) or graph.relations[0].name != "edge"
    data, place = HeteroData() if several else Data(), np.empty(graph.n_nodes, dtype=np.int64)
    own = None if labels is None else labels.align_to(graph)
    for key in graph.types:
        rows, store = graph.rows_of(key), data[key or ONE_TYPE] if several else data
        place[rows] = np.arange(len(rows))
        store.num_nodes, store.node_ids = len(rows), graph.node_ids[rows].tolist()
        matrix, names = graph.stored_features.get(key, (None, None))
        if matrix is not None:
            store.x = _float_tensor(matrix, "features")
        if names is not None:
            store.feature_names = list(names)
        if own is not None and (own.indicator[rows].nnz or not several):
            part = Labels(own.indicator[rows], own.classes, own.node_ids[rows])
            y = part.indicator.toarray().astype(np.float32) if part.is_multilabel else part.codes.copy()
            store.y, store.class_names = torch.from_numpy(y), list(part.classes)
            store.train_mask = torch.zeros(len(rows), dtype=torch.bool)
            store.train_mask[part.labelled] = True
    for relation in graph.relations:
        store = data
        if several:
            store = data[relation.source_type or ONE_TYPE, relation.name, relation.target_type or ONE_TYPE]
            store.directed = relation.directed
        coo = relation.matrix.tocoo()
        store.edge_index = torch.from_numpy(np.stack([place[coo.row], place[coo.col]]))
        if (coo.data != 1).any():
            store.edge_weight = _float_tensor(coo.data, "edge weights")
    return data


def _node_stores(data: Any) -> dict[Any, Any]:
    """Return what holds the tensors of nodes, by type; a ``Data`` is its only store, under None."""
    if hasattr(data, "node_types"):
        return {key: data[key] for key in data.node_types}
    # The class is asked for `num_nodes`: the value itself warns where it has to be guessed.
    if not hasattr(data, "get") or not hasattr(type(data), "num_nodes"):
        msg = f"expected a torch_geometric.data.Data or HeteroData, got {type(data).__name__}"
        raise InputError(msg)
    return {None: data}


def _count_nodes(key: str | None, store: Any) -> int:
    """Return how many nodes a store has; those of a ``Data`` may occur in its edges only."""
    stored = store.to_dict()
    if key is not None and store.num_nodes is None:
        msg = f"the nodes of type {key!r} have neither `x` nor `num_nodes`, so that nobody knows how many there are"
        raise InputError(msg)
    if key is not None or stored.get("num_nodes") is not None:
        return int(store.num_nodes)
    for name in ("x", "y"):
        if stored.get(name) is not None:
            return len(stored[name])
    ends = () if store.get("edge_index") is None else _edge_index(store)
    return int(max((column.max(initial=-1) for column in ends), default=-1)) + 1


def _number_nodes(nodes: Mapping[Any, Any], counts: Mapping[Any, int]) -> tuple[IdArray, dict[Any, int]]:
    """Return ids of all nodes (without ``node_ids`` 0, 1, ... or ``author:0``), and where each type begins."""
    ids, starts = list[Any](), dict[Any, int]()
    for key, n in counts.items():
        starts[key], own = len(ids), nodes[key].get("node_ids")
        if own is None:
            own = default_ids(n).tolist() if key is None else [f"{key}:{k}" for k in range(n)]
        ids += own if isinstance(own, (list, tuple)) else _array(own, "node_ids").tolist()
    return as_ids(ids), starts


def _ids_of(data: Any) -> IdArray:
    """Return the ids of a ``Data``."""
    return _number_nodes({None: data}, {None: _count_nodes(None, data)})[0]


def _links(data: Any, symmetrize: Symmetrize) -> tuple[sp.csr_array, IdArray]:
    """Return the links of a ``Data`` as they are listed, and its ids; both directions of an edge are no repeat."""
    src, dst = _edge_index(data)
    n = _count_nodes(None, data)
    for column in (src, dst):
        _require_nodes(column, n, "", "the data")
    where = lambda k: f"edge {k + 1} ({src[k]} - {dst[k]}): the weight is"  # noqa: E731
    weights = check_weights(_weights(data, len(src)), where, negative="refuse")
    csr, repeats, _ = merge_entries(src, dst, weights, n, mirror=False, add=symmetrize == "sum")
    if symmetrize == "error" and len(repeats):
        msg = "`edge_index` lists a pair more than once; say what to do with symmetrize='max' or 'sum'"
        raise InputError(msg)
    return csr, _ids_of(data)


def _edge_index(store: Any) -> Ints:
    """Return the two rows of ``edge_index``."""
    if store.get("edge_index") is None:
        msg = "the data has no `edge_index`; other forms such as `adj_t` must be converted to it first"
        raise InputError(msg)
    index = _array(store.edge_index, "edge_index")
    if index.ndim != 2 or index.shape[0] != 2 or index.dtype.kind not in "iu":
        msg = f"`edge_index` must be whole numbers of shape (2, edges), got {index.dtype} of shape {index.shape}"
        raise InputError(msg)
    return index.astype(np.int64)


def _require_nodes(column: Ints, n: int, of_name: str, whose: str) -> None:
    bad = column[(column < 0) | (column >= n)]
    if len(bad):
        msg = f"`edge_index`{of_name} names the node {bad[0]}, but {whose} has {n} nodes, 0 to {n - 1}"
        raise InputError(msg)


def _class_entries(store: Any, attribute: str) -> tuple[Ints, Ints, list[str]]:
    """Return the row and the class of each label, and the names of the classes."""
    if isinstance(store[attribute], (list, tuple)):
        own = Labels.from_values(store[attribute])
        return *own.indicator.nonzero(), list(own.classes)
    y = _array(store[attribute], attribute)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim not in (1, 2):
        msg = f"`{attribute}` has shape {y.shape}; expected a class number per node, or a nodes x classes matrix"
        raise InputError(msg)
    if y.ndim == 2:
        rows, columns = np.nonzero(np.nan_to_num(y) > 0)
    else:
        numbers = np.where(np.isnan(y), -1, y) if y.dtype.kind == "f" else y
        odd = numbers[(numbers != np.floor(numbers)) | (numbers < -1)]
        if len(odd):
            rule = "class numbers are whole and start at 0, and -1 means unlabelled"
            msg = f"`{attribute}` holds {odd[0]:g}; {rule}"
            raise InputError(msg)
        rows = np.flatnonzero(numbers >= 0).astype(np.int64)
        columns = numbers[rows].astype(np.int64)
    names = store.get("class_names") if attribute == "y" else None
    width = y.shape[1] if y.ndim == 2 else int(columns.max(initial=-1)) + 1
    if names is None:
        numbers = np.arange(width) if y.ndim == 2 else np.unique(columns)
        return rows, np.searchsorted(numbers, columns), [str(number) for number in numbers.tolist()]
    if len(names) < width:
        msg = f"`class_names` has {len(names)} names but `y` has the class number {width - 1}"
        raise InputError(msg)
    return rows, columns, list(names)


def _weights(store: Any, n: int) -> Floats:
    name = "edge_weight" if store.get("edge_weight") is not None else "edge_attr"
    if store.get(name) is None:
        return np.ones(n)
    values = _array(store[name], name)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 and name == "edge_attr":
        logger.info("`edge_attr` has %d columns and was not used: a weight is one number", values.shape[-1])
        return np.ones(n)
    if values.shape != (n,) or values.dtype.kind not in "fiub":
        msg = f"`{name}` has shape {values.shape} and type {values.dtype}; one number for each of {n} edges is needed"
        raise InputError(msg)
    return values.astype(np.float64)


def _array(value: Any, name: str) -> Array:
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


def _float_tensor(values: Features, what: str) -> Any:
    """Return numbers, or a sparse matrix, as a tensor of float32."""
    import torch

    if not isinstance(values, np.ndarray):
        coo = values.tocoo()
        indices = torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64))
        entries = _float_tensor(coo.data, what)
        return torch.sparse_coo_tensor(indices, entries, coo.shape, is_coalesced=True, check_invariants=True)
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    if not np.isfinite(narrow).all():
        msg = f"{what} go beyond what float32, the type of PyTorch Geometric, can hold; scale them down"
        raise InputError(msg)
    return torch.from_numpy(narrow)
