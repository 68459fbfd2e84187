"""Single cells: what is read from AnnData, what is written into it; scanpy itself is in tests/others."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

import unseen
import unseen.anndata
from labelling import Client
from unseen.errors import InputError
from waiting import wait_for

DATA = unseen.planted_partition(120, 3, random_state=0)
SPLIT = unseen.completely_imbalanced_split(DATA.labels, label_rate=0.4, unseen=["c0"], random_state=0)
KNOWN = np.array(SPLIT.seen_labels.to_pandas().to_numpy(), dtype=object)
IS_LABELLED = np.array([isinstance(value, str) for value in KNOWN])


def make_cells(values: Any = KNOWN, **parts: Any) -> Any:
    """Return cells whose graph is planted; types are given, or missing."""
    names = pd.Index([f"cell-{k}" for k in range(120)], dtype=object)
    column = pd.Series(values, index=names, dtype=object)
    return anndata.AnnData(
        sp.csr_matrix(DATA.graph.features),
        obs=pd.DataFrame({"cell_type": column}),
        obsm={
            "X_pca": np.random.default_rng(0).normal(size=(120, 4)) - 3,
            "X_own": DATA.graph.features.toarray(),
        },
        obsp={"connectivities": sp.csr_matrix(DATA.graph.adjacency)},
        **parts,
    )


def test_discover_writes_what_scanpy_users_expect() -> None:
    adata = make_cells()
    before = adata.copy()
    assert unseen.anndata.discover(adata, use_rep="X") is None
    found = unseen.discover(
        unseen.Graph(DATA.graph.adjacency, DATA.graph.features, list(adata.obs_names), list(adata.var_names)),
        unseen.Labels.from_values(KNOWN, list(adata.obs_names)),
        random_state=0,
    )
    obs, is_new = adata.obs, DATA.labels.codes == 0
    assert obs["unseen_class"].dtype == "category"
    assert obs["unseen_class"][IS_LABELLED].tolist() == KNOWN[IS_LABELLED].tolist()
    assert obs["unseen_candidate"].dtype == bool
    assert set(obs.index[obs["unseen_candidate"]]) == set(found.select())
    assert set(obs.index[obs["unseen_class"] == "new-1"]) == set(found.classes[0].members)
    assert (obs["unseen_probability"][IS_LABELLED] == 0).all()
    assert roc_auc_score(is_new[~IS_LABELLED], obs["unseen_probability"][~IS_LABELLED]) > 0.95
    written = adata.uns["unseen"]
    assert written["report"] == found.summary()
    assert written["classes"]["size"].tolist() == [each.size for each in found.classes]
    assert written["params"]["labels_key"] == "cell_type"
    assert list(adata.obsm) == list(before.obsm)  # an embedding is written by `embed` alone
    other = unseen.anndata.discover(before, use_rep="X", key_added="mine", copy=True)
    assert list(before.obs) == ["cell_type"]
    assert not before.uns
    assert other.obs["mine_class"].tolist() == obs["unseen_class"].tolist()
    assert "mine" in other.uns


@pytest.mark.parametrize("missing", ["Unknown", None, float("nan"), "rest"])
def test_values_that_mean_no_label(missing: Any) -> None:
    values = pd.Categorical(np.where(IS_LABELLED, KNOWN, missing).tolist())
    adata = make_cells(values)
    unseen.anndata.discover(adata, unlabeled_category="rest" if missing == "rest" else "Unknown", use_rep="X")
    assert set(adata.obs["unseen_class"]) >= {"c1", "c2", "new-1"}
    assert not {missing, "Unknown", "rest"} & set(adata.obs["unseen_class"])


def test_the_neighbour_graph_and_the_representation_are_those_that_are_named() -> None:
    adata = make_cells()
    own = make_cells()
    own.uns["mine"] = {"connectivities_key": "mine_graph"}
    own.obsp["mine_graph"] = own.obsp.pop("connectivities")
    own.obsp["other"] = sp.eye_array(120).tocsr()
    unseen.anndata.embed(adata, use_rep="X_own", method="smoothfeats")
    unseen.anndata.embed(own, use_rep="X_own", neighbors_key="mine", method="smoothfeats", key_added="X_mine")
    assert np.array_equal(adata.obsm["X_unseen"], own.obsm["X_mine"])
    assert list(adata.obs) == ["cell_type"]
    assert "unseen" not in adata.uns
    copied = unseen.anndata.embed(adata, None, method="smoothfeats", copy=True)
    assert copied.obsm["X_unseen"].shape == (120, 4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels_key": "kind"}, "`obs` has no column 'kind'.*it has 'cell_type'"),
        ({"use_rep": "X_scvi"}, "`use_rep` is 'X_scvi', but `obsm` has 'X_pca', 'X_own'"),
        ({"neighbors_key": "mine"}, r"run sc.pp.neighbors\(adata, key_added='mine'\) first"),
    ],
)
def test_what_is_missing_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        unseen.anndata.discover(make_cells(), **options)


def test_cells_that_cannot_be_searched() -> None:
    bare, full, twice = make_cells(), make_cells(["T"] * 120), make_cells()
    del bare.obsp["connectivities"], bare.obsm["X_pca"]
    twice.obs_names = ["cell"] * 120
    with pytest.raises(InputError, match=r"run sc.pp.neighbors\(adata\) first"):
        unseen.anndata.discover(bare, use_rep="X")
    bare.obsp["connectivities"] = full.obsp["connectivities"]
    with pytest.raises(InputError, match=r"run sc.pp.pca\(adata\) first"):
        unseen.anndata.embed(bare)
    with pytest.raises(InputError, match=r"every cell has a label.*'Unknown'"):
        unseen.anndata.discover(full)
    with pytest.warns(UserWarning, match="not unique"):
        twice = twice.copy()
    with pytest.raises(InputError, match="obs_names_make_unique"):
        unseen.anndata.discover(twice)


@pytest.mark.parametrize(
    ("marks", "expected"), [([None], None), (["Unknown"], "Unknown"), ([None, "Unknown"], "Unknown")]
)
def test_the_app_is_given_the_other_columns_and_its_answers_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marks: list[str | None], expected: str | None
) -> None:
    adata = make_cells(
        [each if isinstance(each, str) else marks[k % len(marks)] for k, each in enumerate(KNOWN)]
    )
    adata.obs["node"] = 1
    adata.obs["batch"] = pd.Categorical(["a", None] * 60)
    adata.obs["share"] = [0.5, np.nan] * 60

    def answer(words: list[str]) -> None:  # in place of the other process
        columns = pd.read_parquet(words[words.index("--attributes") + 1])
        assert columns.iloc[:2].to_numpy().tolist() == [["cell-0", "a", "0.5"], ["cell-1", "", ""]]
        Path(words[words.index("--save") + 1]).write_text("node,label\ncell-3,c1\ncell-4,new\n")

    monkeypatch.setattr(unseen.anndata, "_run_app", answer)
    unseen.anndata.label(adata, use_rep="X", save=tmp_path / "answers.csv")
    column = adata.obs["cell_type"]
    assert column[["cell-3", "cell-4"]].tolist() == ["c1", "new"]
    others = column.drop(["cell-3", "cell-4"])
    assert others.isna().all() if expected is None else (others == expected).all()


@pytest.mark.slow
@pytest.mark.processes
def test_the_app_labels_cells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Answers of the page are in `obs` once the app was interrupted, as a notebook's kernel is."""
    adata, client, shown = make_cells(np.where(IS_LABELLED, KNOWN, "Unknown")), Client(), []

    def answer() -> None:
        def has_address() -> bool:
            shown.append(capsys.readouterr().err)
            return "http://" in "".join(shown)

        wait_for(has_address, "the address of the app")
        text = "".join(shown)
        client.url = next(line for line in text.splitlines() if line.startswith("http://"))
        assert client.ask("answers", {"node": "cell-7", "label": "granulocyte"})[0] == 200
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=answer)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it otherwise
    try:
        thread.start()
        unseen.anndata.label(adata, use_rep="X", save=tmp_path / "answers.csv", open_browser=False)
    finally:
        signal.signal(signal.SIGINT, before)
    thread.join()
    assert adata.obs["cell_type"]["cell-7"] == "granulocyte"
    others = adata.obs_names != "cell-7"
    expected = np.where(IS_LABELLED, KNOWN, "Unknown")[others].tolist()
    assert adata.obs["cell_type"][others].tolist() == expected
