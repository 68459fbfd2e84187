"""Node embeddings for graphs whose labels miss whole classes.

Names are imported when first used, so that ``import unseen`` stays fast.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

__version__ = "0.2.0"

_STUB = Path(__file__).with_suffix(".pyi").read_text("utf-8")
_HOME = {name: module for module, name in re.findall(r"(?m)^from (\S+) import (\w+) as", _STUB)}
"""Where public names live. They stand once, in the file that type checkers read; other methods are found too."""


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name == "__all__":
        registry = importlib.import_module("unseen.methods.registry")
        methods = (
            cls.__name__ for cls in registry.all_methods().values() if cls.__module__.startswith("unseen.")
        )
        value = ["__version__", *dict.fromkeys([*_HOME, *methods])]
    else:
        registry = importlib.import_module("unseen.methods.registry")
        cls = registry.find_method(name) if name[0].isupper() else None
        value = cls if cls is not None and cls.__name__ == name else None
    if value is None:
        msg = f"module 'unseen' has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__getattr__("__all__"))
