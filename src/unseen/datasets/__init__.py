"""Data sets: the bundled graph, the graphs of the paper (found or downloaded), and generators."""

from __future__ import annotations

from os import PathLike

from unseen.datasets.bundled import load_debian
from unseen.datasets.dataset import Dataset
from unseen.datasets.registry import PAPER_GRAPHS
from unseen.datasets.synthetic import planted_partition, random_graph
from unseen.errors import unknown_name

__all__ = ["Dataset", "dataset_names", "load_dataset", "planted_partition", "random_graph"]


def dataset_names() -> tuple[str, ...]:
    """Return the names `load_dataset` knows; ``debian`` is part of the package.

    Examples
    --------
    >>> import unseen
    >>> unseen.dataset_names()
    ('debian', 'citeseer', 'cora', 'wiki', 'ppi', 'blogcatalog')
    """
    return ("debian", *PAPER_GRAPHS)


def load_dataset(name: str, *, data_dir: str | PathLike[str] | None = None) -> Dataset:
    """Return a data set by its name.

    ``debian`` comes with the package. The five graphs of the paper are looked up in `data_dir` (or
    the folder that the environment variable ``UNSEEN_DATA`` names), then in the cache
    (``UNSEEN_CACHE``, or ``unseen`` in the user's cache folder), and else downloaded from their
    public sources, checked, and kept in the cache. Node ids are package names for ``debian`` and
    the numbers 0 ... n - 1 for the others.

    Parameters
    ----------
    name : str
        One of `dataset_names`.
    data_dir : path, optional
        Folder with a folder a data set, in the authors' format (``cora/graph.txt`` and so on).

    Returns
    -------
    Dataset
        Its counts have been compared with the known ones.

    Examples
    --------
    >>> import unseen
    >>> unseen.load_dataset("debian").graph
    Graph(4852 nodes, 6928 edges, 1659 features)
    >>> unseen.load_dataset("debain")
    Traceback (most recent call last):
        ...
    unseen.errors.InputError: unknown data set 'debain'; did you mean 'debian'? Known: debian, ...
    """
    if name == "debian":
        return load_debian()
    if name not in PAPER_GRAPHS:
        error = unknown_name("data set", name, dataset_names())
        raise error
    from unseen.datasets.store import load_paper_graph

    return load_paper_graph(PAPER_GRAPHS[name], data_dir)
