"""
Single cells
============

An atlas has some cell types annotated. Are there types among the other cells that nobody annotated? The graph is the
one of ``scanpy.pp.neighbors``, the features are the expressed genes.
"""

# %%
# Cells
# -----
# Here we draw 900 cells of six types, 300 genes, with counts as a sequencer gives them. Yours are
# ``anndata.read_h5ad("cells.h5ad")``.

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.neighbors import kneighbors_graph

rng = np.random.default_rng(0)
types = np.array(["B cell", "T cell", "NK cell", "monocyte", "dendritic", "platelet"])
truth = rng.choice(types, size=900, p=[0.2, 0.25, 0.15, 0.2, 0.12, 0.08])
rates = rng.gamma(0.5, 1.0, size=300) * np.ones((6, 300))
for k in range(6):
    rates[k, 25 * k : 25 * (k + 1)] += rng.gamma(2.0, 0.6, size=25)  # the genes that mark a type
depth = rng.lognormal(0, 0.3, size=(900, 1))
counts = rng.poisson(depth * rates[np.searchsorted(np.sort(types), truth)])

adata = anndata.AnnData(
    counts.astype(np.float32),
    obs=pd.DataFrame(index=[f"cell-{k}" for k in range(900)]),
    var=pd.DataFrame(index=[f"gene-{k}" for k in range(300)]),
)

# %%
# The neighbour graph. With scanpy this is ``sc.pp.normalize_total``, ``sc.pp.log1p``, ``sc.pp.pca``,
# ``sc.pp.neighbors``.

adata.X = np.log1p(1000 * adata.X / adata.X.sum(axis=1, keepdims=True))
adata.obsm["X_pca"] = PCA(20, random_state=0).fit_transform(adata.X)
near = kneighbors_graph(adata.obsm["X_pca"], 15)
adata.obsp["connectivities"] = near.maximum(near.T)

# %%
# Half of the cells of four types are annotated. Nobody thought of dendritic cells and platelets.

annotated = ~np.isin(truth, ["dendritic", "platelet"]) & (rng.random(900) < 0.5)
adata.obs["cell_type"] = pd.Categorical(np.where(annotated, truth, None))
adata.obs["cell_type"].value_counts(dropna=False)

# %%
# One call
# --------
import unseen.anndata

found = unseen.anndata.embed(adata, labels="cell_type", random_state=0)
adata

# %%
# It wrote ``obsm["X_unseen"]`` (vectors), ``obs["unseen_probability"]`` and ``obs["unseen_group"]``. Captions are
# genes:

print(found.summary())

# %%
# The groups beside the truth, which the method never saw:

pd.crosstab(adata.obs["unseen_group"].cat.add_categories("-").fillna("-"), truth)

# %%
figure, axes = plt.subplots()
found.embedding.plot(dict(zip(adata.obs_names, truth, strict=True)), ax=axes)

# %%
# ``sc.pp.neighbors(adata, use_rep="X_unseen")`` makes scanpy's own maps and clusters from these vectors. Files work as
# well: ``unseen discover cells.h5ad --label-column cell_type``.
