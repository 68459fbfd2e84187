"""The registry says the truth about methods it has not imported."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.methods.registry import METHODS, make_method, method_class


@pytest.mark.parametrize("name", METHODS)
def test_features_and_labels_are_used_where_it_says_so(name: str) -> None:
    assert METHODS[name].labels == method_class(name).uses_labels
    data = unseen.planted_partition(60, 3, random_state=0)
    small = {"epochs": 3, "max_iter": 2, "n_components": 6, "random_state": 0}
    params = {key: small[key] for key in small if key in inspect.signature(method_class(name)).parameters}
    bare = unseen.Graph(data.graph.adjacency, node_ids=data.graph.node_ids)
    first, second = (
        make_method(name, **params).fit_transform(graph, data.labels).vectors for graph in (data.graph, bare)
    )
    first, second = (v.toarray() if sp.issparse(v) else np.asarray(v) for v in (first, second))
    assert (first.shape != second.shape or not np.array_equal(first, second)) == METHODS[name].features


def test_an_unknown_parameter_gets_a_hint() -> None:
    with pytest.raises(unseen.InputError, match="did you mean 'teleport'"):
        make_method("smoothfeats", teleprot=0.1)
