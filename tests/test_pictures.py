"""Pictures, pages in notebooks, and the way out to other libraries."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pytest

import unseen
import unseen.anndata
from unseen.errors import InputError

DATA = unseen.planted_partition(120, 3, random_state=0)
SPLIT = unseen.completely_imbalanced_split(DATA.labels, label_rate=0.4, unseen=["c0"], random_state=0)


@pytest.fixture(scope="module")
def embedding() -> unseen.Embedding:
    return unseen.SmoothFeats(n_components=8, random_state=0).fit_transform(DATA.graph)


def test_plots(embedding: unseen.Embedding, tmp_path: Path) -> None:
    series = SPLIT.seen_labels.to_pandas()
    for colour in (SPLIT.seen_labels, series, series.to_dict(), series.tolist()):
        axes = embedding.plot(colour)
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["c1", "c2"]
        assert sum(len(drawn.get_offsets()) for drawn in axes.collections) == 120
    embedding.plot(np.linspace(0, 1, 120)).figure.savefig(tmp_path / "map.pdf")
    assert embedding.plot().get_legend() is None
    result = unseen.discover(DATA.graph, SPLIT.seen_labels, random_state=0)
    axes = result.plot()
    assert plt.gca() is axes  # what a notebook shows
    assert embedding.plot(ax=axes) is axes
    plt.close("all")
    assert axes.get_legend().get_texts()[0].get_text() == "new-1"
    with pytest.raises(InputError, match="has 1 entry but the graph has 120 nodes"):
        embedding.plot(["a"])


def test_the_way_out() -> None:
    theirs = DATA.graph.to_networkx(DATA.labels)
    assert theirs.nodes[0]["label"] == DATA.labels.classes[DATA.labels.codes[0]]
    assert nx.number_of_edges(theirs) == DATA.graph.n_edges
    assert DATA.graph.to_pyg().num_nodes == 120
    matrix = DATA.graph.to_scipy()
    matrix.data[:] = 7
    assert DATA.graph.adjacency.data.max() == 1
