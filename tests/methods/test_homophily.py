"""Whether linked nodes share a class, and who says so."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.evaluation import fit_and_evaluate
from unseen.methods.homophily import measure_homophily


def two_kinds(n: int, across: bool) -> tuple[unseen.Graph, unseen.Labels]:
    """Return a graph whose edges all join the other kind, or the same."""
    rng = np.random.default_rng(0)
    kind = np.arange(n) % 2
    upper = np.triu((rng.random((n, n)) < 0.2) & ((kind[:, None] != kind) == across), 1)
    features = sp.csr_array(np.eye(2)[kind] + rng.random((n, 2)))
    graph = unseen.Graph(sp.csr_array((upper | upper.T).astype(float)), features, np.arange(n))
    return graph, unseen.Labels.from_values([f"c{k}" for k in kind], graph.node_ids)


def test_homophily_is_measured_on_labelled_pairs():
    graph = unseen.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    homophily = measure_homophily(graph, unseen.Labels.from_values(["a", "a", "b", None]))
    assert (homophily.share, homophily.n_pairs, homophily.adjusted, homophily.holds) == (0.5, 2, None, True)
    assert measure_homophily(graph, unseen.Labels.from_values(["a", None, None, None])).share is None


@pytest.mark.parametrize("name", ["gcn", "appnp", "rect"])
@pytest.mark.parametrize("across", [True, False])
def test_methods_that_average_over_neighbours_say_where_these_differ(name, across, caplog):
    graph, labels = two_kinds(60, across)
    unseen.make_method(name, epochs=1, random_state=0).fit(graph, labels)
    said = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    sentence = (
        f"{name} averages over neighbours, but neighbours differ here: 0% of the edges between labelled nodes join "
        "the same class, 50% would by chance; rect-plus chooses by the labels what to do"
    )
    assert said == ([sentence] if across else [])


def test_it_is_said_once_for_all_refits(caplog):
    graph, labels = two_kinds(60, across=True)
    split = unseen.completely_imbalanced_split(labels, label_rate=0.5, unseen=[], random_state=0)
    fit_and_evaluate(unseen.GCN(epochs=1, random_state=0), graph, labels, split)
    assert caplog.text.count("neighbours differ here") == 1
