"""The labels value: which classes each node is known to have; an empty row is an unlabelled node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.errors import InputError, unknown_name
from unseen.graph import Graph, lock, read_only_csr
from unseen.ids import IdArray, as_ids, default_ids, match_ids, require_unique

if TYPE_CHECKING:
    from typing import Self


@dataclass(frozen=True, eq=False)
class Labels:
    """What is known about the classes of the nodes; frozen, arrays read-only.

    Parameters
    ----------
    indicator : boolean scipy sparse array, shape (n, c)
        True where a node has a class. A row without any True is an unlabelled node.
    classes : sequence of str
        One unique name a column.
    node_ids : sequence of str or int
        One id a row, in the order of the graph the labels belong to.

    Examples
    --------
    >>> import unseen
    >>> labels = unseen.Labels.from_values(["red", None, "blue", ["red", "blue"]])
    >>> labels
    Labels(4 nodes, 3 labelled, 2 classes, multi-label)
    >>> labels.classes
    ('blue', 'red')
    """

    indicator: sp.csr_array
    classes: tuple[str, ...]
    node_ids: IdArray = None  # type: ignore[assignment]  # filled in by __post_init__

    def __post_init__(self) -> None:
        indicator = sp.csr_array(self.indicator).astype(bool)
        if indicator.ndim != 2:
            msg = f"`indicator` must have two dimensions, nodes and classes, got shape {indicator.shape}"
            raise InputError(msg)
        indicator.sum_duplicates()
        indicator.eliminate_zeros()
        classes = tuple(str(name) for name in self.classes)
        if indicator.shape[1] != len(classes):
            msg = f"`indicator` has {indicator.shape[1]} columns but there are {len(classes)} class names"
            raise InputError(msg)
        if len(set(classes)) != len(classes):
            twice = next(name for name in classes if classes.count(name) > 1)
            msg = f"class names must be unique, {twice!r} occurs more than once"
            raise InputError(msg)
        ids = default_ids(indicator.shape[0]) if self.node_ids is None else as_ids(self.node_ids)
        if len(ids) != indicator.shape[0]:
            msg = f"`node_ids` has {len(ids)} entries but the indicator has {indicator.shape[0]} rows"
            raise InputError(msg)
        require_unique(ids)
        object.__setattr__(self, "indicator", read_only_csr(indicator))
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "node_ids", ids)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        lock(self.indicator, self.node_ids)  # pickled arrays come back unlocked

    def __repr__(self) -> str:
        kind = "multi-label" if self.is_multilabel else "single-label"
        return f"Labels({self.n_nodes} nodes, {len(self.labelled)} labelled, {len(self.classes)} classes, {kind})"

    @property
    def n_nodes(self) -> int:
        """Number of rows, unlabelled nodes included."""
        return int(self.indicator.shape[0])

    @property
    def labelled(self) -> npt.NDArray[np.int64]:
        """Row numbers of the nodes that have at least one label."""
        return np.flatnonzero(np.diff(self.indicator.indptr)).astype(np.int64)

    @property
    def is_multilabel(self) -> bool:
        """Whether any node has more than one label."""
        return bool((np.diff(self.indicator.indptr) > 1).any())

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Number of labelled nodes of each class, in the order of `classes`."""
        return np.bincount(self.indicator.indices, minlength=len(self.classes)).astype(np.int64)

    @property
    def codes(self) -> npt.NDArray[np.int64]:
        """Class number of every node, -1 for unlabelled ones; an error if a node has several."""
        if self.is_multilabel:
            msg = "some nodes have several labels, so there is no single class number for each node"
            raise InputError(msg)
        codes = np.full(self.n_nodes, -1, dtype=np.int64)
        codes[self.labelled] = self.indicator.indices
        return codes

    @classmethod
    def from_values(
        cls,
        values: Iterable[Any],
        node_ids: Iterable[Any] | None = None,
        *,
        classes: Sequence[Any] | None = None,
    ) -> Self:
        """Make labels from one value a node: a class, a list of classes, or nothing.

        Unlabelled nodes are None, NaN, "" or -1. Other values become class names by ``str``.

        Parameters
        ----------
        values : iterable
            One entry a node.
        node_ids : iterable of str or int, optional
            0 ... n - 1 when not given.
        classes : sequence, optional
            Order of the classes; sorted when not given.

        Examples
        --------
        >>> import unseen
        >>> unseen.Labels.from_values([2, -1, 10]).classes
        ('2', '10')
        """
        listed = list(values)
        rows = [_names(value) for value in listed]
        found = {name for row in rows for name in row}
        if classes is None:
            order = tuple(sorted(found, key=int) if _all_integers(listed) else sorted(found))
        else:
            order = tuple(str(name) for name in classes)
            for name in sorted(found - set(order)):
                raise unknown_name("class", name, order)
        column = {name: k for k, name in enumerate(order)}
        indices = [column[name] for row in rows for name in row]
        indptr = np.cumsum([0, *map(len, rows)])
        data = np.ones(len(indices), dtype=bool)
        indicator = sp.csr_array((data, indices, indptr), shape=(len(rows), len(order)))
        return cls(indicator, order, node_ids)  # type: ignore[arg-type]

    def class_numbers(self, names: Iterable[str]) -> npt.NDArray[np.int64]:
        """Return the column numbers of the named classes; an unknown name is an error with a hint."""
        column = {name: k for k, name in enumerate(self.classes)}
        numbers = []
        for name in names:
            if str(name) not in column:
                raise unknown_name("class", name, self.classes)
            numbers.append(column[str(name)])
        return np.array(numbers, dtype=np.int64)

    def keep(self, rows: npt.NDArray[np.int64], without: Iterable[str] = ()) -> Labels:
        """Return labels of the given rows only, and none of the classes `without`, for the same nodes.

        The removed classes are gone from `classes` too: what is not there cannot leak.
        """
        hidden = set(self.class_numbers(without).tolist())
        columns = [k for k in range(len(self.classes)) if k not in hidden]
        mask = np.zeros(self.n_nodes, dtype=bool)
        mask[rows] = True
        chosen = sp.diags_array(mask.astype(np.int8), format="csr", dtype=np.int8) @ self.indicator.astype(
            np.int8
        )
        return Labels(chosen[:, columns], tuple(self.classes[k] for k in columns), self.node_ids)

    def aligned(self, graph: Graph) -> Labels:
        """Return these labels in the row order of `graph`; a label for a node it does not have is an error."""
        if self.node_ids is graph.node_ids or (
            self.node_ids.dtype == graph.node_ids.dtype and np.array_equal(self.node_ids, graph.node_ids)
        ):
            return self
        rows = match_ids(graph.node_ids, self.node_ids)
        known = match_ids(self.node_ids, graph.node_ids)
        strangers = self.labelled[known[self.labelled] < 0]
        if len(strangers):
            msg = (
                f"labels name {len(strangers)} nodes that the graph does not have, the first is "
                f"{self.node_ids[strangers[0]]!r}; add them to the graph (labels=... of read_graph) or remove them"
            )
            raise InputError(msg)
        padded = sp.vstack([self.indicator, sp.csr_array((1, len(self.classes)), dtype=bool)], format="csr")
        return Labels(padded[rows], self.classes, graph.node_ids)


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        names = [name for item in value for name in _names(item)]
        return tuple(dict.fromkeys(names))
    if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)):
        return ()
    if isinstance(value, str):
        return (value,) if value else ()
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)) and value == -1:
        return ()
    if type(value).__name__ in ("NAType", "NaTType"):  # pandas' missing values, without importing pandas
        return ()
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return _names(int(value))  # a column of class numbers with gaps arrives as floats
    return (str(value),)


def _all_integers(values: list[Any]) -> bool:
    return all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in values)
