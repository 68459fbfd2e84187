"""Every method by name. Adding one means one file and one line here; classes are imported when asked for."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unseen.errors import InputError, unknown_name

if TYPE_CHECKING:
    from unseen.methods.base import Method


@dataclass(frozen=True)
class Entry:
    """Where a method lives and what to say of it without importing it."""

    module: str
    class_name: str
    summary: str
    features: bool = False
    """Whether the vectors depend on the node features, where there are any."""
    labels: bool = False
    """Whether they depend on the labels."""


METHODS: dict[str, Entry] = {
    "nodefeats": Entry("nodefeats", "NodeFeats", "the node features as they are", features=True),
    "smoothfeats": Entry(
        "smoothfeats", "SmoothFeats", "features smoothed over the graph, no training", features=True
    ),
    "mfdw": Entry("mfdw", "MFDW", "DeepWalk as a matrix factorisation, no labels"),
    "line": Entry("line", "LINE", "first-order and second-order proximity by negative sampling"),
    "lshm": Entry("lshm", "LSHM", "smooth vectors learned together with a linear classifier", labels=True),
    "lde": Entry("lde", "LDE", "links and class vectors by negative sampling", labels=True),
    "mmdw": Entry("mmdw", "MMDW", "the walk matrix factorised under a max-margin pull", labels=True),
    "tadw": Entry("tadw", "TADW", "the walk matrix factorised through the features", features=True),
    "dgi": Entry(
        "neural.dgi",
        "DGI",
        "graph convolution that tells the graph from a shuffled one, no labels",
        features=True,
    ),
    "gcn": Entry(
        "neural.gcn",
        "GCN",
        "hidden layer of a graph convolutional network trained on the seen classes",
        features=True,
        labels=True,
    ),
    "appnp": Entry(
        "neural.appnp",
        "APPNP",
        "hidden layer of a network whose predictions are spread over the graph",
        features=True,
        labels=True,
    ),
    "rsdne": Entry(
        "rsdne", "RSDNE", "factorisation with label terms that cope with missing classes", labels=True
    ),
    "rsdne-light": Entry(
        "rsdne", "RSDNELight", "RSDNE with candidates drawn once, for large graphs", labels=True
    ),
    "rect-n": Entry(
        "neural.rect_n", "RECTN", "graph convolution that rebuilds the walk matrix, no labels", features=True
    ),
    "rect-l": Entry(
        "neural.rect_l",
        "RECTL",
        "graph convolution that predicts class-semantic descriptions",
        features=True,
        labels=True,
    ),
    "rect": Entry(
        "neural.rect",
        "RECT",
        "rect-l and rect-n side by side, the paper's neural method",
        features=True,
        labels=True,
    ),
    "rect-dw": Entry(
        "neural.rect_dw",
        "RECTDW",
        "rect with DeepWalk's objective for the structure of the graph",
        features=True,
        labels=True,
    ),
    "rect-joint": Entry(
        "neural.rect_joint",
        "RECTJoint",
        "one encoder trained on both losses of rect at once",
        features=True,
        labels=True,
    ),
    "rect-plus": Entry(
        "rect_plus",
        "RECTPlus",
        "views chosen inside the seen labels, near their class descriptions; recommended",
        features=True,
        labels=True,
    ),
}


def method_names() -> list[str]:
    """Return the registry names of all methods.

    Examples
    --------
    >>> import unseen
    >>> "smoothfeats" in unseen.method_names()
    True
    """
    return list(METHODS)


def method_class(name: str) -> type[Method]:
    """Return the class of a method by its registry name."""
    if name not in METHODS:
        raise unknown_name("method", name, METHODS)
    entry = METHODS[name]
    found: type[Method] = getattr(importlib.import_module(f"unseen.methods.{entry.module}"), entry.class_name)
    return found


def make_method(name: str, **params: Any) -> Method:
    """Make a method by its registry name.

    Parameters
    ----------
    name : str
        One of :func:`method_names`.
    **params
        Keyword arguments of its class.

    Examples
    --------
    >>> import unseen
    >>> unseen.make_method("smoothfeats", random_state=0)
    SmoothFeats(random_state=0)
    """
    cls = method_class(name)
    allowed = list(inspect.signature(cls).parameters)
    for given in params:
        if given not in allowed:
            error = unknown_name(f"parameter of {name}", given, allowed)
            raise InputError(str(error))
    return cls(**params)
