from __future__ import annotations

import json
import logging

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import unseen
from unseen.methods.saving import load_method

FAMILY = ["rect-n", "rect-l", "rect", "rect-dw", "rect-joint"]


@pytest.fixture(scope="module")
def planted() -> unseen.Dataset:
    return unseen.planted_partition(60, 3, random_state=1)


def fitted(name: str, planted: unseen.Dataset, **params) -> unseen.methods.base.Method:
    ids = [f"node {i}" for i in range(60)]
    graph = unseen.Graph(planted.graph.adjacency, planted.graph.features, ids, planted.graph.feature_names)
    values = [f"c{c}" if i % 2 else None for i, c in enumerate(planted.labels.codes)]
    method = unseen.make_method(name, n_components=6, epochs=3, random_state=4, **params)
    return method.fit(graph, values)


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("hidden", [(), (5,)])
def test_a_loaded_method_is_the_saved_one(name, hidden, planted, tmp_path):
    method = fitted(name, planted, hidden=hidden)
    path = tmp_path / "model.npz"
    method.save(path)
    again = type(method).load(path)
    assert again.get_params() == method.get_params()
    assert again.loss_history_ == method.loss_history_
    assert np.array_equal(again.embedding_.vectors, method.embedding_.vectors)
    assert again.embedding_.node_ids.tolist() == method.embedding_.node_ids.tolist()
    assert dict(again.embedding_.params) == dict(method.embedding_.params)
    if name not in ("rect-n",):
        assert again.class_descriptions_ == method.class_descriptions_
    assert np.array_equal(again.transform(planted.graph).vectors, method.transform(planted.graph).vectors)


def test_functions_are_left_out_and_a_generator_too(planted, tmp_path, caplog):
    method = fitted("rect-l", planted, readout=lambda rows: rows.mean(axis=0), callbacks=[lambda epoch: None])
    method.set_params(random_state=np.random.default_rng(0))
    with caplog.at_level(logging.WARNING, logger="unseen"):
        method.save(tmp_path / "model.npz")
    assert "readout is a function and is not saved" in caplog.text
    again = load_method(tmp_path / "model.npz")
    assert again.random_state is None
    assert again.callbacks is None


def test_what_cannot_be_saved_or_loaded_gets_a_sentence(planted, tmp_path):
    path = tmp_path / "model.npz"
    with pytest.raises(unseen.UnsupportedError, match="mfdw cannot be saved so far; save its vectors"):
        unseen.MFDW(n_components=2).fit(planted.graph).save(path)
    with pytest.raises(NotFittedError, match="nothing to save; call fit first"):
        unseen.RECT().save(path)
    method = fitted("rect-n", planted)
    method.save(path)
    with pytest.raises(unseen.InputError, match="holds a RECTN, not a RECT"):
        unseen.RECT.load(path)
    with pytest.raises(unseen.OutputError, match="does not exist"):
        method.save(tmp_path / "nowhere" / "model.npz")


def test_truncated_foreign_and_future_files_get_a_sentence(planted, tmp_path):
    path = tmp_path / "model.npz"
    with pytest.raises(unseen.InputError, match="no such file"):
        load_method(path)
    method = fitted("rect", planted)
    method.embedding_.save(path)
    with pytest.raises(unseen.InputError, match="not a model file of unseen"):
        load_method(path)
    method.save(path)
    whole = path.read_bytes()
    for part in (b"", whole[:10], whole[: len(whole) // 2], whole[:-10], b"node,label\na,b\n"):
        path.write_bytes(part)
        with pytest.raises(unseen.InputError, match=r"model\.npz"):
            load_method(path)
    path.write_bytes(whole)
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    about = json.loads(arrays["about"].tobytes())
    for change, message in (
        ({"version": 99}, r"format version 99, this unseen .* reads version 2"),
        ({"fitted": {"method": "rect-quantum", "params": {"dict": {}}}}, "'rect-quantum'"),
        ({"fitted": {"method": "rect"}}, "lacks a part"),
    ):
        changed = np.frombuffer(json.dumps({**about, **change}).encode(), dtype=np.uint8)
        np.savez(path, **{**arrays, "about": changed})
        with pytest.raises(unseen.InputError, match=message):
            load_method(path)
    weight = next(key for key in arrays if key.isdecimal())
    np.savez(path, **{key: array for key, array in arrays.items() if key != weight})
    with pytest.raises(unseen.InputError, match="lacks a part"):
        load_method(path)
