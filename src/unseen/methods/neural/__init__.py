"""Methods that need torch (the extra ``neural``): the RECT family and the graph neural networks.

Their modules take `torch` from here. It is imported when something of it is first used, so that methods can be listed,
described and made without it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from unseen.engine.run import hold_torch
from unseen.errors import UnsupportedError, install_hint

MISSING = f"this method needs torch, which is not installed; {install_hint('neural')}"


class _Lazy:
    """The module torch, which is imported when one of its names is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            value = getattr(importlib.import_module("torch"), name)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise UnsupportedError(MISSING) from None
        setattr(self, name, value)
        hold_torch()
        return value


if TYPE_CHECKING:
    import torch as torch
else:
    torch = _Lazy()
