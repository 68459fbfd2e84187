"""Node embeddings for graphs whose labels miss whole classes.

Names are imported when first used, so that ``import unseen`` stays fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0.dev0"

_NAMES = {
    "graph": ("Graph",),
    "labels": ("Labels",),
    "splits": ("Split", "completely_imbalanced_split", "balanced_split", "unseen_sets", "random_unseen_sets"),
    "embedding": ("Embedding",),
    "data.datasets": ("Dataset", "load_dataset", "dataset_names"),
    "data.generators": ("planted_partition", "random_graph"),
    "data.read": ("Data", "read", "read_graph", "read_labels"),
    "data.vectors": ("read_embedding",),
    "evaluation": (
        "evaluate",
        "evaluate_method",
        "evaluate_many",
        "clustering_scores",
        "Score",
        "ScoreSummary",
    ),
    "discovery.discover": ("discover",),
    "discovery.suggest": ("suggest", "Suggestion"),
    "discovery.result": ("Discovery",),
    "methods.saving": ("load_method",),
    "methods.registry": ("make_method", "method_names"),
    "errors": ("UnseenError", "InputError", "DatasetError", "OutputError", "UnsupportedError"),
}
"""Where public names live; classes of methods are found by the registry."""
_HOME = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"unseen.{_HOME[name]}"), name)
    elif name == "__all__":
        registry = importlib.import_module("unseen.methods.registry")
        value = ["__version__", *_HOME, *(cls.__name__ for cls in registry.all_methods().values())]
    else:
        value = _method(name) if name[0].isupper() else None
    if value is None:
        msg = f"module 'unseen' has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = value
    return value


def _method(name: str) -> Any:
    cls = importlib.import_module("unseen.methods.registry").find_method(name)
    return cls if cls is not None and cls.__name__ == name else None


def __dir__() -> list[str]:
    return sorted(__getattr__("__all__"))


if TYPE_CHECKING:
    from unseen.data.datasets import Dataset as Dataset
    from unseen.data.datasets import dataset_names as dataset_names
    from unseen.data.datasets import load_dataset as load_dataset
    from unseen.data.generators import planted_partition as planted_partition
    from unseen.data.generators import random_graph as random_graph
    from unseen.data.read import Data as Data
    from unseen.data.read import read as read
    from unseen.data.read import read_graph as read_graph
    from unseen.data.read import read_labels as read_labels
    from unseen.data.vectors import read_embedding as read_embedding
    from unseen.discovery.discover import discover as discover
    from unseen.discovery.result import Discovery as Discovery
    from unseen.discovery.suggest import Suggestion as Suggestion
    from unseen.discovery.suggest import suggest as suggest
    from unseen.embedding import Embedding as Embedding
    from unseen.errors import DatasetError as DatasetError
    from unseen.errors import InputError as InputError
    from unseen.errors import OutputError as OutputError
    from unseen.errors import UnseenError as UnseenError
    from unseen.errors import UnsupportedError as UnsupportedError
    from unseen.evaluation import Score as Score
    from unseen.evaluation import ScoreSummary as ScoreSummary
    from unseen.evaluation import clustering_scores as clustering_scores
    from unseen.evaluation import evaluate as evaluate
    from unseen.evaluation import evaluate_many as evaluate_many
    from unseen.evaluation import evaluate_method as evaluate_method
    from unseen.graph import Graph as Graph
    from unseen.labels import Labels as Labels
    from unseen.methods.lde import LDE as LDE
    from unseen.methods.line import LINE as LINE
    from unseen.methods.lshm import LSHM as LSHM
    from unseen.methods.mfdw import MFDW as MFDW
    from unseen.methods.mmdw import MMDW as MMDW
    from unseen.methods.neural.appnp import APPNP as APPNP
    from unseen.methods.neural.dgi import DGI as DGI
    from unseen.methods.neural.gcn import GCN as GCN
    from unseen.methods.neural.rect import RECT as RECT
    from unseen.methods.neural.rect_dw import RECTDW as RECTDW
    from unseen.methods.neural.rect_joint import RECTJoint as RECTJoint
    from unseen.methods.neural.rect_l import RECTL as RECTL
    from unseen.methods.neural.rect_n import RECTN as RECTN
    from unseen.methods.nodefeats import NodeFeats as NodeFeats
    from unseen.methods.rect_plus import RECTPlus as RECTPlus
    from unseen.methods.registry import make_method as make_method
    from unseen.methods.registry import method_names as method_names
    from unseen.methods.rsdne import RSDNE as RSDNE
    from unseen.methods.rsdne import RSDNELight as RSDNELight
    from unseen.methods.saving import load_method as load_method
    from unseen.methods.smoothfeats import SmoothFeats as SmoothFeats
    from unseen.methods.tadw import TADW as TADW
    from unseen.splits import Split as Split
    from unseen.splits import balanced_split as balanced_split
    from unseen.splits import completely_imbalanced_split as completely_imbalanced_split
    from unseen.splits import random_unseen_sets as random_unseen_sets
    from unseen.splits import unseen_sets as unseen_sets
