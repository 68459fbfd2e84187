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
from unseen.data.opened import File
from unseen.embedding import Embedding
from unseen.errors import InputError, UnsupportedError, logger
from unseen.ids import Array, text_arrays
from unseen.methods.base import Method
from unseen.methods.registry import find_method
from unseen.randomness import seed_of

FORMAT = "unseen-model"
VERSION = 2
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
    about["fitted"] = _pack(method, arrays)
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
    try:
        ids = ids_from_arrays(arrays, file)
        method = _unpack_method(about["fitted"], arrays)
        method.embedding_ = Embedding(arrays["vectors"], ids, method._traits.name, about["reported"])  # type: ignore[arg-type]
    except InputError:
        raise
    except (KeyError, TypeError, AttributeError, IndexError, RuntimeError, ValueError) as error:
        msg = (
            f"{path}: the model file lacks a part or has one of a wrong kind ({error}); save the model again"
        )
        raise InputError(msg) from error
    return method


def _pack(value: Any, arrays: Arrays) -> Any:
    """Return a value for JSON: arrays are moved to `arrays`, and what JSON does not have is named by its kind."""
    if isinstance(value, np.ndarray):
        name = str(len(arrays))
        arrays[name] = value
        return {"array": name}
    if isinstance(value, tuple):
        return {"tuple": _pack([*value], arrays)}
    if isinstance(value, list):
        return [_pack(each, arrays) for each in value]
    if isinstance(value, dict):
        return {"dict": {key: _pack(each, arrays) for key, each in value.items()}}
    if hasattr(value, "weights"):
        return {"encoder": [_pack(weight.detach().cpu().numpy(), arrays) for weight in value.weights]}
    if not isinstance(value, Method):
        return value
    learnt = {key: each for key, each in vars(value).items() if key.endswith("_") and key != "embedding_"}
    plain_types = (str, int, float, bool, tuple, list, type(None), np.integer, np.floating)
    params = {key: each for key, each in value.get_params().items() if isinstance(each, plain_types)}
    left_out = sorted(set(value._parameters) - set(params) - {"random_state", "callbacks"})
    if left_out:
        logger.warning("%s: %s is a function and is not saved", value._traits.name, ", ".join(left_out))
    params["random_state"] = seed_of(value.random_state)
    if "callbacks" in params:
        params["callbacks"] = None
    return {"method": value._traits.name, "params": _pack(params, arrays), "learnt": _pack(learnt, arrays)}


def _unpack(packed: Any, arrays: Arrays, device: str = "auto") -> Any:
    """Return what :func:`_pack` was given; weights are put on the device, if that is there."""
    if isinstance(packed, list):
        return [_unpack(each, arrays, device) for each in packed]
    if not isinstance(packed, dict):
        return packed
    if "method" in packed:
        return _unpack_method(packed, arrays)
    ((kind, value),) = packed.items()
    if kind == "array":
        return arrays[value]
    if kind == "dict":
        return {key: _unpack(each, arrays, device) for key, each in value.items()}
    entries = [_unpack(each, arrays, device) for each in value]
    if kind == "tuple":
        return tuple(entries)
    from unseen.methods.neural.tensors import Encoder, pick_device

    return Encoder(entries, pick_device("cpu" if device == "cpu" else "auto"))


def _unpack_method(packed: dict[str, Any], arrays: Arrays) -> Method:
    name, params = packed["method"], _unpack(packed["params"], arrays)
    cls = find_method(name)
    if name == "rect-n-dw":  # half of a method, which is not in the registry
        cls = importlib.import_module("unseen.methods.neural.rect_dw").RECTNDW
    if cls is None:
        msg = f"the model is of a method {name!r} that this unseen {unseen.__version__} does not have"
        raise InputError(msg)
    method: Method = cls(**params)
    vars(method).update(_unpack(packed["learnt"], arrays, params.get("device", "auto")))
    return method
