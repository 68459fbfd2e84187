"""Checks with scanpy and its blood cells, in the environment of scanpy.txt; as a script, the tutorial's figures."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from blocks import run_page
from sklearn.metrics import roc_auc_score

import unseen.anndata
from unseen.cli.app import run
from unseen.errors import InputError

HIDDEN = ("CD19+ B", "CD56+ NK")
CELLS = sc.datasets.pbmc68k_reduced()
TRUTH = CELLS.obs["bulk_labels"].astype(str).to_numpy()


def hide_types(rate: float, seed: int, hidden: tuple[str, ...] = HIDDEN) -> tuple[Any, Any]:
    """Return cells with labels for a share of the other types, and which unlabelled cells are of hidden types."""
    is_new = np.isin(TRUTH, hidden)
    is_labelled = ~is_new & (np.random.default_rng(seed).random(len(TRUTH)) < rate)
    adata = CELLS.copy()
    adata.obs["cell_type"] = pd.Categorical(np.where(is_labelled, TRUTH, "Unknown"))
    return adata, is_new[~is_labelled]


def measure_auroc(adata: Any, is_new: Any, **options: Any) -> float:
    unseen.anndata.discover(adata, **options)
    unlabelled = adata.obs["cell_type"] == "Unknown"
    return float(roc_auc_score(is_new, adata.obs["unseen_probability"][unlabelled]))


@pytest.mark.parametrize(("rate", "at_least"), [(0.1, 0.93), (0.3, 0.96)])
def test_hidden_types_are_found(rate: float, at_least: float) -> None:
    assert np.mean([measure_auroc(*hide_types(rate, seed)) for seed in range(10, 16)]) >= at_least


def test_scaled_genes_with_negative_values() -> None:
    assert CELLS.X.min() < 0
    adata, is_new = hide_types(0.3, 0)
    assert measure_auroc(adata, is_new, use_rep="X") > 0.95
    genes = str(adata.uns["unseen"]["json"])
    assert any(marker in genes for marker in ("CD79A", "MS4A1"))  # captions are genes


def test_candidates_are_two_types_and_a_file_keeps_them(tmp_path: Path, capsys: Any) -> None:
    hidden = ("CD34+", "CD56+ NK")
    adata, _ = hide_types(0.3, 3, hidden)
    unseen.anndata.discover(adata)
    unseen.anndata.embed(adata, method="smoothfeats")
    is_candidate = adata.obs["unseen_candidate"].to_numpy()
    assert np.isin(TRUTH, hidden)[is_candidate].mean() > 0.85
    for kind in hidden:  # each is most of a candidate type
        shares = pd.Series(kind == TRUTH).groupby(adata.obs["unseen_class"].to_numpy()).mean()
        assert shares[shares.index.str.startswith("new-")].max() > 0.7
    adata.write_h5ad(tmp_path / "cells.h5ad")
    back = sc.read_h5ad(tmp_path / "cells.h5ad")
    columns = ["unseen_class", "unseen_probability", "unseen_candidate"]
    pd.testing.assert_frame_equal(back.obs[columns], adata.obs[columns])
    assert np.array_equal(back.obsm["X_unseen"], adata.obsm["X_unseen"])
    assert back.uns["unseen"]["report"] == adata.uns["unseen"]["report"]
    assert back.uns["unseen"]["classes"]["name"].tolist()[:2] == ["new-1", "new-2"]
    assert back.uns["unseen"]["params"]["use_rep"] == "X_pca"
    sc.tl.rank_genes_groups(back, "unseen_class", groups=["new-1"], method="t-test")
    assert "NKG7" in back.uns["rank_genes_groups"]["names"]["new-1"][:8]
    back.obs["cell_type"] = back.obs["cell_type"].cat.remove_categories(
        "Unknown"
    )  # the command reads missing values
    back.write_h5ad(tmp_path / "cells.h5ad")
    assert run(["discover", str(tmp_path / "cells.h5ad"), "--label-column", "cell_type", "--seed", "0"]) == 0
    assert "new-1" in capsys.readouterr().out


def test_neighbours_of_scanpy() -> None:
    adata, is_new = hide_types(0.3, 0)
    expected = measure_auroc(adata, is_new)
    sc.pp.neighbors(adata, n_neighbors=10, key_added="mine")
    del adata.obsp["connectivities"], adata.uns["neighbors"]
    with pytest.raises(InputError, match=r"sc\.pp\.neighbors"):
        unseen.anndata.discover(adata)
    assert abs(measure_auroc(adata, is_new, neighbors_key="mine") - expected) < 0.02


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    hide_types(0.3, 0)[0].write_h5ad("cells.h5ad")
    names = run_page("single-cells.md")
    assert "B cell" in sc.read_h5ad("cells-2.h5ad").obs["unseen_class"].cat.categories
    assert names["adata"].obsm["X_unseen"].shape[0] == len(TRUTH)


def main() -> None:
    """Print the mean AUROC over all pairs of hidden types, and the types of the tutorial's candidates in ten draws."""
    pairs = list(itertools.combinations(sorted(set(TRUTH)), 2))
    for rate in (0.1, 0.3):
        scores = [measure_auroc(*hide_types(rate, seed, pair)) for seed, pair in enumerate(pairs)]
        sys.stdout.write(f"{rate:.0%} of labels: {np.mean(scores):.3f} over {len(pairs)} pairs\n")
    for seed in range(10):
        adata, _ = hide_types(0.3, seed, ("CD34+", "CD56+ NK"))
        unseen.anndata.discover(adata)
        classes = adata.obs["unseen_class"].astype(str)
        found = pd.crosstab(classes[classes.str.startswith("new-")], TRUTH[classes.str.startswith("new-")])
        sys.stdout.write(f"seed {seed}\n{found.to_string()}\n")


if __name__ == "__main__":
    main()
