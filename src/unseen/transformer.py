"""A method as a transformer of scikit-learn: node ids in, vectors out, so that a search cuts folds of nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from unseen.data.objects_plain import as_graph
from unseen.data.read import read_labels
from unseen.errors import InputError
from unseen.graph import Graph
from unseen.ids import IdArray, as_ids
from unseen.methods.base import Method, copy_unfitted
from unseen.methods.registry import make_method


class NodeVectors(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Vectors of nodes for a ``Pipeline`` or ``GridSearchCV`` whose `X` is a list of node ids.

    The graph is cut nowhere: each `fit` learns vectors of all its nodes, from the labels of the ids it is given and no
    others, and `transform` looks up the ids it is asked for. So the test nodes of a fold have a place in the graph and
    no label, as in the paper's protocol.

    Parameters
    ----------
    graph : Graph, or anything that holds edges
        The graph that the ids belong to.
    method : Method or str
        What makes the vectors, or its registry name. The parameters of a method can be searched:
        ``vectors__method__alpha``.

    Attributes
    ----------
    embedding_ : Embedding
        The vectors of all nodes, set by `fit`.

    Examples
    --------
    >>> import unseen
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import Pipeline
    >>> data = unseen.planted_partition(120, 3, random_state=0)
    >>> vectors = unseen.NodeVectors(data.graph, unseen.MFDW(random_state=0))
    >>> steps = Pipeline([("vectors", vectors), ("classifier", LogisticRegression())])
    >>> search = GridSearchCV(steps, {"vectors__method__n_components": [1, 8]}, cv=3)
    >>> search.fit(data.graph.node_ids, data.labels.codes).best_params_
    {'vectors__method__n_components': 8}
    """

    def __init__(self, graph: Graph | Any, method: Method | str = "rect-plus") -> None:
        self.graph = graph
        self.method = method

    def __sklearn_clone__(self) -> NodeVectors:
        # the graph is frozen, so that copies share it
        return type(self)(self.graph, self.method if isinstance(self.method, str) else clone(self.method))

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn vectors of all nodes from the labels `y` of the ids `X`.

        Parameters
        ----------
        X : sequence of ids
            Nodes of the graph.
        y : sequence, optional
            One label (None, NaN, "" or -1: no label), a list of labels, or a row of zeros and ones for each id.
        """
        graph, ids = as_graph(self.graph), _read_ids(X)
        method = make_method(self.method) if isinstance(self.method, str) else copy_unfitted(self.method)
        labels = None
        if y is not None:
            labels = read_labels(list(zip(ids.tolist(), _read_values(y, len(ids)), strict=True)), graph)
        self.embedding_ = method.fit_transform(graph, labels)
        return self

    def transform(self, X: Any) -> npt.NDArray[np.float32] | sp.csr_array:
        """Return the vectors of the ids `X`, in their order; an unknown one is an error that names the nearest."""
        check_is_fitted(self)
        return self.embedding_.rows(_read_ids(X))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:  # noqa: ARG002
        """Return a name for each column: the method's and a number, for ``set_output(transform="pandas")``."""
        check_is_fitted(self)
        name = self.embedding_.method.replace("-", "_")
        return np.array([f"{name}{k}" for k in range(self.embedding_.shape[1])], dtype=object)


def _read_ids(X: Any) -> IdArray:
    if isinstance(X, (str, bytes)) or not isinstance(X, Iterable):
        msg = f"`X` must be a list of node ids, got {X!r}"
        raise InputError(msg)
    array = np.asarray(X) if hasattr(X, "__array__") else X
    if isinstance(array, np.ndarray) and array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    return as_ids(array, what="the node ids in `X`")


def _read_values(y: Any, n: int) -> list[Any]:
    matrix = y.toarray() if sp.issparse(y) else y
    if isinstance(matrix, np.ndarray) and matrix.ndim == 2:
        matrix = [np.flatnonzero(row) for row in matrix]
    values = list(matrix)
    if len(values) != n:
        msg = f"`y` has {len(values)} entries but `X` has {n} node ids"
        raise InputError(msg)
    return values
