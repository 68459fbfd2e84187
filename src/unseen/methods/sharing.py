"""Work that does not depend on the labels, done once for several fits on one graph.

Cross-validation and sweeps fit a method again and again on the same graph with other labels. Inside
:func:`shared_work` the parts that do not see labels (RECT's structure half, the SVD of the features, the
start of a factorisation) are computed once and handed out again; the results are the same bits. Outside of it
nothing is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from unseen.graph import Graph

T = TypeVar("T")
Store = dict[Hashable, tuple[Graph, Any]]
_STORE: ContextVar[Store | None] = ContextVar("unseen_shared_work", default=None)


@contextmanager
def shared_work(store: Store | None = None) -> Iterator[None]:
    """Share label-free work between the fits inside this block, and with other blocks of the same `store`.

    Examples
    --------
    >>> import unseen
    >>> graph = unseen.planted_partition(60, 3, random_state=0).graph
    >>> calls = []
    >>> with shared_work():
    ...     for _ in range(2):
    ...         value = shared(graph, "three", lambda: calls.append(1) or 3)
    >>> value, len(calls)
    (3, 1)
    """
    if store is None and _STORE.get() is not None:
        yield  # an outer block shares already
        return
    token = _STORE.set({} if store is None else store)
    try:
        yield
    finally:
        _STORE.reset(token)


def shared(graph: Graph, key: Hashable, compute: Callable[[], T]) -> T:
    """Return what `compute` returns, from the store where this graph and key were seen before.

    `key` has to name everything else that the result depends on, the seed included.
    """
    store = _STORE.get()
    if store is None:
        return compute()
    place = (id(graph), key)
    if place not in store:
        store[place] = (graph, compute())  # the graph is kept too, so that its id is not used again
    found: T = store[place][1]
    return found
