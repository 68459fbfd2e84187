"""The embedding value: one vector per node, and which node that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.errors import InputError, UnknownNodeError, nearest_id, need_library
from unseen.ids import IdArray, Value, as_ids, check_matrix, check_row_ids, lock, match_ids

MOST_BYTES = 10**9
"""Sparse vectors become dense by themselves up to this size."""


@dataclass(frozen=True, eq=False)
class Embedding(Value):
    """Vectors of nodes; row i belongs to ``node_ids[i]``.

    Parameters
    ----------
    vectors : ndarray or scipy sparse array, shape (n, d)
        Finite numbers, kept as float32; sparse for raw features.
    node_ids : sequence of str or int, optional
        One unique id per row; 0 ... n - 1 when not given.
    method : str
        Registry name of the method that made them, or where they came from.
    params : mapping
        Its parameters, with the seed.

    Examples
    --------
    >>> import unseen
    >>> embedding = unseen.Embedding([[0.0, 1.0], [1.0, 0.0]], node_ids=["a", "b"])
    >>> embedding
    Embedding(2 nodes, 2 columns)
    >>> embedding["b"].tolist(), len(embedding), "c" in embedding
    ([1.0, 0.0], 2, False)
    """

    vectors: npt.NDArray[np.float32] | sp.csr_array
    node_ids: IdArray = None  # type: ignore[assignment]  # filled in by __post_init__
    method: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        vectors = check_matrix(self.vectors, "vectors", np.float32)
        n = vectors.shape[0]
        ids = check_row_ids(self.node_ids, n, f"there are {n} vectors")
        if not isinstance(self.params, Mapping):
            msg = f"`params` must be a mapping of names to values, got {self.params!r}"
            raise InputError(msg)
        lock(vectors)
        self.__dict__.update(vectors=vectors, node_ids=ids, params=MappingProxyType(dict(self.params)))

    def __repr__(self) -> str:
        by = f", by {self.method}" if self.method else ""
        return f"Embedding({self.vectors.shape[0]} nodes, {self.vectors.shape[1]} columns{by})"

    def rows(self, node_ids: IdArray) -> npt.NDArray[np.float32] | sp.csr_array:
        """Return the vectors of the given nodes, in their order; a node without one is an error."""
        ids = as_ids(node_ids)
        rows = match_ids(ids, self.node_ids)
        if (rows < 0).any():
            missing = np.flatnonzero(rows < 0)
            first = ids[missing[:1]].tolist()[0]
            count = "" if len(rows) == 1 else f" for {len(missing)} of {len(rows)} nodes, the first is"
            near = nearest_id(first, self.node_ids.tolist())
            hint = "" if near is None else f"; the nearest id is {near!r}"
            msg = f"the embedding has no vector{count or ' for the node'} {first!r}{hint}"
            raise UnknownNodeError(msg)
        return self.vectors[rows]

    def __len__(self) -> int:
        return int(self.vectors.shape[0])

    def __iter__(self) -> Iterator[str | int]:
        return iter(self.node_ids.tolist())

    def __contains__(self, node: object) -> bool:
        one = isinstance(node, (str, int, np.integer)) and not isinstance(node, bool)
        return one and bool(match_ids(as_ids([node]), self.node_ids)[0] >= 0)

    def __getitem__(self, node: Any) -> npt.NDArray[np.float32] | sp.csr_array:
        """Return the vector of a node, or the vectors of several, by their ids; an int is an id, not a row."""
        if isinstance(node, (slice, tuple, bool, float)) or node is Ellipsis:
            msg = f"an embedding is asked for node ids, got {node!r}; `embedding.vectors` has the rows by their numbers"
            raise InputError(msg)
        if isinstance(node, (str, int, np.integer)):
            row = self.rows(as_ids([node]))
            return np.asarray(row if isinstance(row, np.ndarray) else row.toarray())[0]
        return self.rows(node)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of nodes and of columns."""
        n, width = self.vectors.shape
        return int(n), int(width)

    @property
    def iloc(self) -> npt.NDArray[np.float32] | sp.csr_array:
        """The vectors by row number, as pandas calls it; scikit-learn cuts folds with it and with `take`."""
        return self.vectors

    def take(self, rows: npt.ArrayLike, axis: int = 0) -> npt.NDArray[np.float32] | sp.csr_array:
        """Return the vectors of these row numbers, or with ``axis=1`` these columns, as numpy's and pandas' `take`."""
        return self.vectors[:, rows] if axis else self.vectors[rows]  # type: ignore[index]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        vectors = self.vectors
        if not isinstance(vectors, np.ndarray):
            if copy is False:
                msg = "sparse vectors become an array by copying; leave out copy=False, or take `embedding.vectors`"
                raise ValueError(msg)
            return self._dense().astype(np.float32 if dtype is None else dtype, copy=False)
        return np.asarray(vectors, dtype=dtype) if copy is None else np.array(vectors, dtype=dtype, copy=copy)

    def _dense(self) -> npt.NDArray[np.float32]:
        if isinstance(self.vectors, np.ndarray):
            return self.vectors
        n, width = self.vectors.shape
        if 4 * n * width > MOST_BYTES:
            msg = (
                f"the {n} x {width} sparse vectors would take {4 * n * width / 1e9:.1f} GB as an array, and at most "
                "1 GB is taken unasked; use `embedding.vectors`, which is sparse, or fewer columns"
            )
            raise InputError(msg)
        return np.asarray(self.vectors.toarray(), dtype=np.float32)

    def to_arrow(self) -> Any:
        """Return an Arrow table with ``node`` and ``vector``, as `save` writes it to Parquet.

        Examples
        --------
        >>> import unseen
        >>> unseen.Embedding([[0.0, 1.0]], node_ids=["a"]).to_arrow().to_pylist()
        [{'node': 'a', 'vector': [0.0, 1.0]}]
        """
        import pyarrow as pa

        from unseen.data.writers import vector_batches

        self._dense()  # refuses what is too large
        schema, batches = vector_batches(self)
        return pa.Table.from_batches(batches, schema)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """Return a data frame with a row for each node, by its id, and a column for each number of its vector.

        Examples
        --------
        >>> import unseen
        >>> float(unseen.Embedding([[0.0, 1.0]], node_ids=["a"]).to_pandas().loc["a", 1])
        1.0
        """
        pandas = need_library("pandas", "to_pandas")
        return pandas.DataFrame(np.array(self), index=pandas.Index(self.node_ids, name="node"))

    def to_polars(self) -> Any:
        """Return a polars frame with ``node`` and ``vector``.

        Examples
        --------
        >>> import unseen
        >>> unseen.Embedding([[0.0, 1.0]], node_ids=["a"]).to_polars().columns
        ['node', 'vector']
        """
        return need_library("polars", "to_polars").from_arrow(self.to_arrow())

    def plot(self, colour: Any = None, *, ax: Any = None, random_state: Any = 0) -> Any:
        """Draw a map of the nodes by matplotlib, and return its axes.

        Parameters
        ----------
        colour : Labels, dict, pandas series, sequence or array of floats, optional
            A class for each node (by id, or one per node), or a number for each, shown on a scale.
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure if not given: ``axes.figure.savefig("map.pdf")``.
        random_state : None, int or Generator
            Seed of the map, which is laid out by t-SNE.

        Examples
        --------
        >>> import unseen
        >>> data = unseen.planted_partition(60, 3, random_state=0)
        >>> axes = unseen.SmoothFeats(n_components=8, random_state=0).fit_transform(data.graph).plot(data.labels)
        >>> [text.get_text() for text in axes.get_legend().get_texts()]
        ['c0', 'c1', 'c2']
        """
        from unseen.explorer.layout import plot_map

        return plot_map(self, colour, ax=ax, random_state=random_state)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the embedding, in the format its suffix names: .parquet, .npz, .w2v.txt or .tsv.

        The file is written whole or not at all. `.tsv` writes a projector pair, ``name.tsv`` with
        the vectors and ``name.metadata.tsv`` with the ids.

        Examples
        --------
        >>> import tempfile, pathlib, unseen
        >>> embedding = unseen.Embedding([[0.0, 1.0]], node_ids=["007"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "vectors.parquet"
        ...     embedding.save(path)
        ...     unseen.read_embedding(path).node_ids.tolist()
        ['007']
        """
        from unseen.data.write import write_part

        write_part(self, "vectors", path)
