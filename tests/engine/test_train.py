"""The entry point for parts: on systems that lack what Linux has, and between jobs of Dask."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from unseen.engine.comm import SOLO, CommError, _explain_errors, connect
from unseen.engine.partition import partition
from unseen.engine.train import train, trainable
from unseen.errors import InputError

WITHOUT_RESOURCE = """
import sys
sys.modules["resource"] = None  # importing it fails, as on Windows
import importlib
for name in ("unseen.scale", "unseen.cli.scale", "unseen.engine.train"):
    importlib.import_module(name)
"""


def test_it_can_be_imported_where_the_module_resource_is_missing() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_RESOURCE], check=True)


def test_the_methods_themselves_say_whether_they_train_on_parts() -> None:
    pytest.importorskip("torch")
    assert trainable() == ["mfdw", "rect", "rect-l", "rect-n", "rect-plus", "rsdne-light", "smoothfeats"]


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas, in dask
def test_dask_hands_over_edges_and_takes_back_vectors(tmp_path: Path) -> None:
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    ring = pd.DataFrame(
        {"caller": [f"n{k}" for k in range(40)], "callee": [f"n{(k + 1) % 40}" for k in range(40)]}
    )
    ring.to_csv(tmp_path / "calls.csv", index=False)
    calls = dd.read_csv(str(tmp_path / "calls.csv"), dtype=str, blocksize=150)
    edges = calls.rename(columns={"caller": "src", "callee": "dst"})
    edges.to_parquet(str(tmp_path / "edges"), write_index=False)
    assert len(list((tmp_path / "edges").glob("*.parquet"))) > 1
    partition(tmp_path / "edges", tmp_path / "parts", parts=2)
    made = train(tmp_path / "parts", tmp_path / "vectors", SOLO, method="rect-plus", params={})
    vectors = dd.read_parquet(str(tmp_path / "vectors")).compute()
    assert sorted(vectors["node"]) == sorted(made.node_ids.tolist())
    np.testing.assert_array_equal(np.stack(vectors["vector"]), made.rows(vectors["node"].to_numpy()))


def test_sparse_features_need_memory_for_their_entries_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savetxt(tmp_path / "edges.csv", [[k, (k + 1) % 60] for k in range(60)], fmt="%d", delimiter=",")
    words = sp.csr_array((np.ones(60, dtype=np.float32), np.arange(60), np.arange(61)), shape=(60, 5000))
    arrays = {"data": words.data, "indices": words.indices, "indptr": words.indptr, "shape": words.shape}
    np.savez(tmp_path / "words.npz", ids=np.arange(60), format=np.array(b"csr"), **arrays)
    partition(tmp_path / "edges.csv", tmp_path / "parts", parts=2, features=tmp_path / "words.npz")
    jobs = []
    monkeypatch.setattr("unseen.engine.train.check_memory", lambda _, job, **__: jobs.append(job))
    train(tmp_path / "parts", tmp_path / "vectors", SOLO, method="smoothfeats", params={"n_components": 4})
    assert 60 <= jobs[0].feature_entries < 200


def test_one_process_forms_no_group_and_a_lost_connection_becomes_a_sentence() -> None:
    with connect() as comm:
        assert comm is SOLO
    lost = pytest.raises(CommError, match="a sum failed: Connection closed by peer; if a process died")
    with lost, _explain_errors("a sum"):
        raise RuntimeError("[/build/gloo/transport/tcp/pair.cc:129] Connection closed\n by peer")
    with pytest.raises(InputError, match="ours"), _explain_errors("a sum"):
        raise InputError("ours")
