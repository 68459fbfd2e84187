from __future__ import annotations

import json
import logging

import numpy as np
import pytest

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


def test_what_cannot_be_saved_says_so(planted, tmp_path):
    with pytest.raises(unseen.UnsupportedError, match="lde cannot be saved so far; save its vectors"):
        unseen.LDE(epochs=1).fit(planted.graph).save(tmp_path / "model.npz")


def test_saving_before_fitting_and_loading_another_class_get_a_sentence(planted, tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError, match="nothing to save; call fit first"):
        unseen.RECT().save(tmp_path / "model.npz")
    fitted("rect-n", planted).save(tmp_path / "model.npz")
    with pytest.raises(unseen.InputError, match="holds a RECTN, not a RECT"):
        unseen.RECT.load(tmp_path / "model.npz")
    with pytest.raises(unseen.OutputError, match="does not exist"):
        fitted("rect-n", planted).save(tmp_path / "nowhere" / "model.npz")


def changed(path, **entries) -> None:
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    about = {**json.loads(arrays["about"].tobytes()), **entries}
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    np.savez(path, **arrays)


def test_truncated_foreign_and_future_files_get_a_sentence(planted, tmp_path):
    path = tmp_path / "model.npz"
    with pytest.raises(unseen.InputError, match="no such file"):
        load_method(path)
    method = fitted("rect", planted)
    method.save(path)
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 10):
        path.write_bytes(whole[:size])
        with pytest.raises(unseen.InputError, match=r"model\.npz"):
            load_method(path)
    path.write_text("node,label\na,b\n")
    with pytest.raises(unseen.InputError, match=r"model\.npz"):
        load_method(path)
    method.embedding_.save(path)
    with pytest.raises(unseen.InputError, match="not a model file of unseen"):
        load_method(path)
    method.save(path)
    changed(path, version=99)
    with pytest.raises(unseen.InputError, match=r"format version 99, this unseen .* reads version 1"):
        load_method(path)
    method.save(path)
    changed(path, method={"name": "rect-quantum"})
    with pytest.raises(unseen.InputError, match="'rect-quantum'"):
        load_method(path)
    method.save(path)
    changed(path, method={"name": "rect"})
    with pytest.raises(unseen.InputError, match="lacks a part"):
        load_method(path)


def test_missing_weights_are_noticed(planted, tmp_path):
    path = tmp_path / "model.npz"
    fitted("rect-n", planted).save(path)
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files if key != "encoder_/2"}
    np.savez(path, **arrays)
    with pytest.raises(unseen.InputError, match="lacks a part"):
        load_method(path)
