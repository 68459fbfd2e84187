"""Every method by name: a method is one file in this package, and its name leads to it.

`rect-plus` and the class `RECTPlus` are in ``rect_plus.py``, `rsdne-light` and `RSDNELight` in ``rsdne.py``: in the
file with the longest name that theirs begins with. So one method is found without importing the others.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from unseen import methods
from unseen.errors import unknown_name

if TYPE_CHECKING:
    from unseen.methods.base import Method


def all_methods() -> dict[str, type[Method]]:
    """Import all methods and return their classes by registry name, in alphabetical order.

    Examples
    --------
    >>> all_methods()["mfdw"].__name__
    'MFDW'
    """
    classes = (cls for module in _modules() for cls in _classes(module))
    return {cls.name: cls for cls in sorted(classes, key=lambda cls: cls.name)}


def method_names() -> list[str]:
    """Return the registry names of all methods.

    Examples
    --------
    >>> import unseen
    >>> "smoothfeats" in unseen.method_names()
    True
    """
    return list(all_methods())


def find_method(name: str) -> type[Method] | None:
    """Return the method class that has `name` as its registry name or its own, None where there is none.

    Examples
    --------
    >>> find_method("rsdne-light").__name__, find_method("RSDNELight").name, find_method("nonsense")
    ('RSDNELight', 'rsdne-light', None)
    """
    # the module with the longest name, underscores apart, that the word begins with
    word = name.replace("-", "").lower()
    short = {module: module.rpartition(".")[2].replace("_", "") for module in _modules()}
    fitting = (module for module in short if word.startswith(short[module]))
    classes = _classes(max(fitting, key=lambda module: len(short[module]), default=""))
    return next((cls for cls in classes if name in (cls.name, cls.__name__)), None)


def method_class(name: str) -> type[Method]:
    """Return the class of a method by its registry name."""
    cls = find_method(str(name))
    if cls is None or cls.name != name:
        raise unknown_name("method", name, method_names())
    return cls


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
    return method_class(name)(**params)


def _modules() -> list[str]:
    """Return the names of all modules of the package and its folders, but for those that begin with ``_``."""
    folders = {"unseen.methods.": list(methods.__path__)}
    for module in pkgutil.iter_modules(methods.__path__):
        if module.ispkg:
            folders[f"unseen.methods.{module.name}."] = [f"{path}/{module.name}" for path in methods.__path__]
    modules = [info for prefix, paths in folders.items() for info in pkgutil.iter_modules(paths, prefix)]
    return [m.name for m in modules if not m.ispkg and not m.name.rpartition(".")[2].startswith("_")]


def _classes(module: str) -> list[type[Method]]:
    """Return the methods that a module defines: classes with a summary of their own."""
    if not module:
        return []
    from unseen.methods.base import Method

    values = vars(importlib.import_module(module)).values()
    classes = [value for value in values if isinstance(value, type) and issubclass(value, Method)]
    return [cls for cls in classes if cls.__module__ == module and "summary" in vars(cls)]
