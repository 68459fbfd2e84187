"""Every method by name: a method is one file in this package, and its name leads to it.

`rect-plus` and the class `RECTPlus` are in ``rect_plus.py``, `rsdne-light` and `RSDNELight` in ``rsdne.py``: in the
file with the longest name that theirs begins with. So one method is found without importing the others. Other
distributions add methods by entry points of the group ``unseen.methods``.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from unseen import methods
from unseen.errors import UnseenError, logger, unknown_name
from unseen.plugins import broken_plugin, find_plugins, load_plugin, owner_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from unseen.methods.base import Method


def all_methods() -> dict[str, type[Method]]:
    """Import all methods, those of plug-ins too, and return their classes by registry name, in alphabetical order.

    A plug-in that cannot be loaded is left out with a warning.

    Examples
    --------
    >>> all_methods()["mfdw"].__name__
    'MFDW'
    """
    classes = {cls._traits.name: cls for module in _modules() for cls in _classes(module)}
    for name, entry in find_plugins("method").items():
        if name in classes:
            logger.warning("the method %r of %s is ignored: unseen has one", name, owner_of(entry))
            continue
        try:
            classes[name] = _load_plugin(entry)
        except UnseenError as error:
            logger.warning("%s", error)
    return dict(sorted(classes.items()))


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
    >>> find_method("rsdne-light").__name__, find_method("RSDNELight").__name__, find_method("nonsense")
    ('RSDNELight', 'RSDNELight', None)
    """
    # the module with the longest name, underscores apart, that the word begins with
    word = name.replace("-", "").lower()
    short = {module: module.rpartition(".")[2].replace("_", "") for module in _modules()}
    fitting = (module for module in short if word.startswith(short[module]))
    classes = _classes(max(fitting, key=lambda module: len(short[module]), default=""))
    own = next((cls for cls in classes if name in (cls._traits.name, cls.__name__)), None)
    if own is not None:
        return own
    added = (entry for entry in find_plugins("method").values() if name in (entry.name, entry.attr))
    return next(map(_load_plugin, added), None)


def method_class(name: str) -> type[Method]:
    """Return the class of a method by its registry name."""
    cls = find_method(str(name))
    if cls is None or cls._traits.name != name:
        load_plugin("method", str(name))  # of the paper's methods the error says how to install them
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


def _load_plugin(entry: EntryPoint) -> type[Method]:
    """Import the method of another distribution, and check that it is one."""
    from unseen.methods.base import Method

    cls: type[Method] = load_plugin("method", entry.name)
    if not (isinstance(cls, type) and issubclass(cls, Method) and cls._traits.name == entry.name):
        raise broken_plugin("method", entry, f"it is not a subclass of Method with the name {entry.name!r}")
    return cls


def _modules() -> list[str]:
    """Return the names of all modules of the package and its folders, but for those that begin with ``_``."""
    modules = list(pkgutil.iter_modules(methods.__path__, "unseen.methods."))
    for name in [module.name for module in modules if module.ispkg]:  # without importing the folder
        paths = [f"{path}/{name.rpartition('.')[2]}" for path in methods.__path__]
        modules += pkgutil.iter_modules(paths, f"{name}.")
    return [m.name for m in modules if not m.ispkg and not m.name.rpartition(".")[2].startswith("_")]


def _classes(module: str) -> list[type[Method]]:
    """Return the methods that a module defines: classes with a name and a summary of their own."""
    from unseen.methods.base import Method

    values = vars(importlib.import_module(module)).values() if module else ()
    own = [each for each in values if isinstance(each, type) and each.__module__ == module]
    return [c for c in own if issubclass(c, Method) and "_traits" in vars(c) and c._traits.summary]
