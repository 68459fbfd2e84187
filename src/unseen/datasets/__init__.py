"""Data sets: the bundled graph, the graphs of the paper (found or downloaded), and generators."""

from __future__ import annotations

from os import PathLike

from unseen.datasets.bundled import load_debian
from unseen.datasets.dataset import Dataset
from unseen.errors import unknown_name

__all__ = ["Dataset", "dataset_names", "load_dataset"]


def dataset_names() -> tuple[str, ...]:
    """Return the names `load_dataset` knows; ``debian`` is part of the package.

    Examples
    --------
    >>> import unseen
    >>> unseen.dataset_names()
    ('debian', 'citeseer', 'cora', 'wiki', 'ppi', 'blogcatalog')
    """
    return ("debian", "citeseer", "cora", "wiki", "ppi", "blogcatalog")


def load_dataset(name: str, *, data_dir: str | PathLike[str] | None = None) -> Dataset:
    """Return a data set by its name.

    Examples
    --------
    >>> import unseen
    >>> unseen.load_dataset("debian").graph
    Graph(4852 nodes, 6928 edges, 1659 features)
    """
    if name == "debian":
        return load_debian()
    error = unknown_name("data set", name, dataset_names())
    raise error
