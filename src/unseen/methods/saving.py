"""Fitted methods in files: one .npz archive of plain arrays with a JSON entry; nothing is ever unpickled."""

from __future__ import annotations

import importlib
import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

import unseen
from unseen.data.arrays import ids_from_arrays, load_arrays
from unseen.data.files import atomic_path
from unseen.data.ids import text_arrays
from unseen.data.opened import File
from unseen.embedding import Embedding
from unseen.errors import InputError, UnsupportedError, logger
from unseen.ids import Array
from unseen.methods.base import Method
from unseen.methods.registry import find_method
from unseen.randomness import seed_of

FORMAT = "unseen-model"
VERSION = 1
Arrays = dict[str, Array]


def save_method(method: Method, path: str | PathLike[str]) -> None:
    """Write a fitted method; see :meth:`Method.save`."""
    if not method._traits.can_be_saved:
        msg = f"{method._traits.name} cannot be saved so far; save its vectors (`embedding_.save`), or fit it again"
        raise UnsupportedError(msg)
    if not hasattr(method, "embedding_"):
        from sklearn.exceptions import NotFittedError

        msg = f"this {type(method).__name__} is not fitted yet, so there is nothing to save; call fit first"
        raise NotFittedError(msg)
    about: dict[str, Any] = {"format": FORMAT, "version": VERSION, "made_by": unseen.__version__}
    fitted = method.embedding_
    arrays: Arrays = {**text_arrays("ids", fitted.node_ids), "vectors": np.asarray(fitted.vectors)}
    about["reported"] = dict(fitted.params)
    about["method"] = _pack(method, "", arrays)
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]  # numpy's stub takes a key for its flag


def load_method(path: str | PathLike[str]) -> Method:
    """Return the method that a file of `save` holds, whichever it is, ready for ``transform``.

    Examples
    --------
    >>> import pathlib, tempfile, unseen
    >>> graph = unseen.planted_partition(60, 3, random_state=0).graph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     unseen.RECTN(n_components=4, epochs=2, random_state=0).fit(graph).save(pathlib.Path(folder) / "model.npz")
    ...     unseen.load_method(pathlib.Path(folder) / "model.npz")
    RECTN(n_components=4, epochs=2, random_state=0)
    """
    path = Path(path)
    if not path.is_file():
        msg = f"{path}: there is no such file"
        raise InputError(msg)
    file = File(path, "path")
    loaded = load_arrays(file)
    arrays: Arrays = {} if isinstance(loaded, np.ndarray) else loaded
    about = _about(arrays, path)
    try:
        ids = ids_from_arrays(arrays, file)
        method = _unpack(about["method"], "", arrays)
        fitted = Embedding(arrays["vectors"], ids, method._traits.name, about["reported"])  # type: ignore[arg-type]
        method.embedding_ = fitted
    except (KeyError, TypeError, AttributeError, IndexError, RuntimeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        msg = (
            f"{path}: the model file lacks a part or has one of a wrong kind ({error}); save the model again"
        )
        raise InputError(msg) from error
    return method


def _about(arrays: Arrays, path: Path) -> dict[str, Any]:
    try:
        about = json.loads(arrays["about"].tobytes())
        is_model = about["format"] == FORMAT
    except (KeyError, ValueError, TypeError):
        is_model = False
    if not is_model:
        msg = f"{path}: not a model file of unseen; `save` of a fitted method writes one"
        raise InputError(msg)
    if about["version"] != VERSION:
        msg = (
            f"{path}: the model has format version {about['version']!r}, this unseen {unseen.__version__} reads "
            f"version {VERSION}; it was written by unseen {about.get('made_by')}, use that one or fit again"
        )
        raise InputError(msg)
    return dict(about)


def _pack(method: Method, prefix: str, arrays: Arrays) -> dict[str, Any]:
    """Put the learnt arrays of a method into `arrays` and return everything else, for JSON."""
    learnt = {key: value for key, value in vars(method).items() if key.endswith("_") and key != "embedding_"}
    plain: dict[str, Any] = {}
    halves: dict[str, Any] = {}
    for key, value in learnt.items():
        if hasattr(value, "weights"):  # an encoder
            for number, weight in enumerate(value.weights):
                arrays[f"{prefix}{key}/{number}"] = weight.detach().cpu().numpy()
        elif isinstance(value, np.ndarray):
            arrays[prefix + key] = value
        elif (
            value and isinstance(value, dict) and all(isinstance(each, np.ndarray) for each in value.values())
        ):
            arrays |= {f"{prefix}{key}:{name}": array for name, array in value.items()}
        elif isinstance(value, Method):
            halves[key] = _pack(value, f"{prefix}{key}/", arrays)
        else:
            plain[key] = value
    plain_types = (str, int, float, bool, tuple, list, type(None), np.integer, np.floating)
    params = {key: value for key, value in method.get_params().items() if isinstance(value, plain_types)}
    left_out = sorted(set(method._parameters) - set(params) - {"random_state", "callbacks"})
    if left_out:
        logger.warning("%s: %s is a function and is not saved", method._traits.name, ", ".join(left_out))
    params["random_state"] = seed_of(method.random_state)
    if "callbacks" in params:
        params["callbacks"] = None
    return {"name": method._traits.name, "params": params, "plain": plain, "halves": halves}


def _unpack(about: dict[str, Any], prefix: str, arrays: Arrays) -> Method:
    cls = find_method(about["name"])
    if about["name"] == "rect-n-dw":  # half of a method, which is not in the registry
        cls = importlib.import_module("unseen.methods.neural.rect_dw").RECTNDW
    if cls is None:
        msg = (
            f"the model is of a method {about['name']!r} that this unseen {unseen.__version__} does not have"
        )
        raise InputError(msg)
    params: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in about["params"].items()
    }
    method: Method = cls(**params)
    for key, value in about["plain"].items():
        if key == "class_descriptions_":
            value = {k: [(str(word), float(much)) for word, much in words] for k, words in value.items()}
        setattr(method, key, value)
    for key, packed in about["halves"].items():
        inner = _unpack(packed, f"{prefix}{key}/", arrays)
        setattr(method, key, inner)
    encoders: dict[str, list[Array]] = {}
    for name, array in arrays.items():
        if not name.startswith(prefix) or name in ("about", "vectors", "ids", "ids_utf8", "ids_offsets"):
            continue
        key, _, number = name[len(prefix) :].partition("/")
        if ":" in key:  # one of several arrays by name
            key, _, number = name[len(prefix) :].partition(":")
            vars(method).setdefault(key, {})[number] = array
        elif number.isdecimal():
            encoders.setdefault(key, []).append(array)
        elif not number:
            setattr(method, key, array)
    for key, weights in encoders.items():
        from unseen.methods.neural.tensors import Encoder, pick_device

        setattr(method, key, Encoder(weights, pick_device("cpu" if params["device"] == "cpu" else "auto")))
    return method
