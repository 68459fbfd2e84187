"""The format of the paper's release: a folder with ``graph.txt`` and ``group.txt``, nodes and classes as numbers."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from unseen.errors import InputError
from unseen.graph import Graph, Symmetrize
from unseen.io.columns import edge_columns
from unseen.io.edge_sources import GRAPH_FILE, GROUP_FILE
from unseen.io.edges import graph_from_edges
from unseen.io.label_rows import group_rows
from unseen.io.sniff import BLANK, no_header
from unseen.io.sources import existing, existing_file
from unseen.io.text import read_text
from unseen.labels import Labels


def read_authors(folder: str | os.PathLike[str], *, symmetrize: Symmetrize = "max") -> tuple[Graph, Labels]:
    r"""Read a folder in the authors' format; ids are int64, nodes and classes in the order of their numbers.

    Unlike :func:`unseen.read_graph`, which keeps the ids of any text as strings, this takes node
    numbers for what they are: row i of a matrix beside the folder is node i.

    Parameters
    ----------
    folder : path
        Holds ``graph.txt`` (two node numbers a line) and ``group.txt`` (a node number, then the
        numbers of its classes).
    symmetrize : {"max", "sum", "error"}
        What becomes of a pair that is listed more than once.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "graph.txt").write_text("0\t2\n")
    >>> _ = (folder / "group.txt").write_text("0\t1\n1\t0 10\n2\t1\n")
    >>> graph, labels = read_authors(folder)
    >>> graph, labels.classes, graph.node_ids.tolist()
    (Graph(3 nodes, 1 edges, no features), ('0', '1', '10'), [0, 1, 2])
    """
    path = existing(folder, "folder")
    listed = read_text(existing_file(path / GRAPH_FILE, "folder"), no_header, delimiter=BLANK)
    edges = edge_columns(listed, drop_negative=False)
    groups = group_rows(existing_file(path / GROUP_FILE, "folder"))
    src, dst = (_numbers(column, repr(str(path / GRAPH_FILE)), "node") for column in (edges.src, edges.dst))
    nodes = _numbers(groups.ids, repr(str(path / GROUP_FILE)), "node")
    classes = _numbers(groups.names, repr(str(path / GROUP_FILE)), "class")
    everyone = np.unique(np.concatenate([nodes, src, dst]))
    graph, _ = graph_from_edges(src, dst, edges.weight, nodes=everyone, symmetrize=symmetrize)
    names, columns = np.unique(classes, return_inverse=True)
    rows = np.searchsorted(everyone, nodes[groups.rows])
    shape = (len(everyone), len(names))
    indicator = sp.coo_array((np.ones(len(columns), dtype=np.int64), (rows, columns)), shape=shape)
    return graph, Labels(indicator.tocsr(), tuple(str(name) for name in names.tolist()), graph.node_ids)


def _numbers(column: pa.Array, source: str, what: str) -> npt.NDArray[np.int64]:
    try:
        numbers = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid as error:
        msg = f"{source}: {what} numbers must be whole numbers ({error})"
        raise InputError(msg) from None
    return np.asarray(numbers, dtype=np.int64)
