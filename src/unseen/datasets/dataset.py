"""The value that every data set is handed out as, and the counts it must have."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.errors import DatasetError
from unseen.graph import Graph
from unseen.labels import Labels


@dataclass(frozen=True, eq=False)
class Dataset:
    """A graph and the labels of its nodes, under one name; frozen.

    Parameters
    ----------
    name : str
        What the data set is called in tables and files.
    graph : Graph
        Nodes, edges and, where there are any, features.
    labels : Labels
        Rows in the order of the graph's nodes.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.load_dataset("debian")
    >>> data.name, data.graph.n_nodes, len(data.labels.classes)
    ('debian', 4852, 12)
    """

    name: str
    graph: Graph
    labels: Labels

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {self.graph}, {self.labels})"


@dataclass(frozen=True)
class Counts:
    """What a data set has to count: nodes, edges as listed in its source, classes, feature columns."""

    nodes: int
    edges: int
    classes: int
    features: int

    def require(self, found: Counts, name: str, where: str) -> None:
        """Raise a `DatasetError` that says which counts of `found` differ from these."""
        wrong = [
            f"{getattr(found, f.name)} {f.name} in place of {getattr(self, f.name)}"
            for f in fields(self)
            if getattr(found, f.name) != getattr(self, f.name)
        ]
        if wrong:
            msg = (
                f"the data set {name!r} in {where} has {', '.join(wrong)}: it is damaged or another data set "
                "of that name; remove it, or put the right one in its place"
            )
            raise DatasetError(msg)


def unweighted_adjacency(src: npt.ArrayLike, dst: npt.ArrayLike, n: int) -> sp.csr_array:
    """Return the symmetric adjacency of the listed edges, every weight 1; repeats count once.

    Examples
    --------
    >>> unweighted_adjacency([0, 1, 1], [1, 0, 1], 3).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    rows = np.r_[np.asarray(src, dtype=np.int64), np.asarray(dst, dtype=np.int64)]
    columns = np.roll(rows, len(rows) // 2)
    adjacency = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n, n)).tocsr()
    adjacency.sum_duplicates()
    adjacency.data[:] = 1.0
    return adjacency
