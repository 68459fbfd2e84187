"""Pictures, pages in notebooks, and the way out to other libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anndata
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

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


def test_a_notebook_shows_the_page() -> None:
    theirs = DATA.graph.to_networkx()
    html = unseen.explore(theirs, SPLIT.seen_labels.to_pandas(), random_state=0)._repr_html_()
    assert html.startswith('<iframe srcdoc="&lt;!doctype html&gt;')


def test_the_way_out() -> None:
    theirs = DATA.graph.to_networkx(DATA.labels)
    assert theirs.nodes[0]["label"] == DATA.labels.classes[DATA.labels.codes[0]]
    assert nx.number_of_edges(theirs) == DATA.graph.n_edges
    assert DATA.graph.to_pyg().num_nodes == 120
    matrix = DATA.graph.to_scipy()
    matrix.data[:] = 7
    assert DATA.graph.adjacency.data.max() == 1


def cells(**parts: Any) -> Any:
    values = SPLIT.seen_labels.to_pandas()
    obs = pd.DataFrame({"cell_type": values.to_numpy()}, index=values.index.astype(str))
    return anndata.AnnData(
        sp.csr_matrix(DATA.graph.features),
        obs=obs,
        obsp={"connectivities": sp.csr_matrix(DATA.graph.adjacency)},
        **parts,
    )


@pytest.mark.slow
def test_cells_made_of_the_bundled_graph() -> None:
    data = unseen.load_dataset("debian")
    split = unseen.completely_imbalanced_split(
        data.labels, label_rate=0.3, unseen=["mail", "web"], random_state=0
    )
    adata = anndata.AnnData(
        sp.csr_matrix(data.graph.features),
        obs=pd.DataFrame(
            {"section": split.seen_labels.to_pandas().to_numpy()}, index=data.graph.node_ids.astype(object)
        ),
        var=pd.DataFrame(index=pd.Index(data.graph.feature_names, dtype=object)),
        obsp={"connectivities": sp.csr_matrix(data.graph.adjacency)},
    )
    unseen.anndata.embed(adata, labels="section", random_state=0)
    rows = adata.obs["section"].isna().to_numpy()
    hidden = data.labels.indicator[:, data.labels.class_numbers(["mail", "web"])].sum(axis=1) > 0
    assert roc_auc_score(hidden[rows], adata.obs["unseen_probability"][rows]) > 0.8


def test_single_cells() -> None:
    adata = cells()
    result = unseen.anndata.embed(adata, labels="cell_type", random_state=0)
    labelled = adata.obs["cell_type"].notna()
    assert adata.obs["unseen_probability"].isna().tolist() == labelled.tolist()
    hidden = DATA.labels.codes == 0
    assert roc_auc_score(hidden[~labelled], adata.obs["unseen_probability"][~labelled]) > 0.9
    assert set(adata.obs["unseen_group"].dropna()) == {each.name for each in result.classes}
    assert adata.obsm["X_unseen"].shape == (120, result.embedding.shape[1])
    with pytest.raises(InputError, match="has no column 'kind'"):
        unseen.anndata.embed(adata, labels="kind")
    del adata.obsp["connectivities"]
    with pytest.raises(InputError, match="no graph 'connectivities' in `obsp`"):
        unseen.anndata.embed(adata)
