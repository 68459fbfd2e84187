"""The embedding value: one vector per node, and which node that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.errors import InputError
from unseen.ids import IdArray, as_ids, is_finite, lock, match_ids, real_matrix, row_ids


@dataclass(frozen=True, eq=False)
class Embedding:
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
    """

    vectors: npt.NDArray[np.float32] | sp.csr_array
    node_ids: IdArray = None  # type: ignore[assignment]  # filled in by __post_init__
    method: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        vectors = _checked_vectors(self.vectors)
        n = vectors.shape[0]
        ids = row_ids(self.node_ids, n, f"there are {n} vectors")
        if not isinstance(self.params, Mapping):
            msg = f"`params` must be a mapping of names to values, got {self.params!r}"
            raise InputError(msg)
        lock(vectors)
        self.__dict__.update(vectors=vectors, node_ids=ids, params=MappingProxyType(dict(self.params)))

    def __repr__(self) -> str:
        by = f", by {self.method}" if self.method else ""
        return f"Embedding({self.vectors.shape[0]} nodes, {self.vectors.shape[1]} columns{by})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "params": dict(self.params)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def rows(self, node_ids: IdArray) -> npt.NDArray[np.float32] | sp.csr_array:
        """Return the vectors of the given nodes, in their order; a node without one is an error."""
        ids = as_ids(node_ids)
        rows = match_ids(ids, self.node_ids)
        if (rows < 0).any():
            missing = np.flatnonzero(rows < 0)
            msg = (
                f"the embedding has no vector for {len(missing)} of {len(rows)} nodes, "
                f"the first is {ids[missing[0]]!r}"
            )
            raise InputError(msg)
        return self.vectors[rows]

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


def _checked_vectors(vectors: Any) -> npt.NDArray[np.float32] | sp.csr_array:
    """Return the vectors as float32 of our own; what is locked already, as methods hand it over, is not copied."""
    locked = isinstance(vectors, np.ndarray) and vectors.base is None and not vectors.flags.writeable
    if not locked or vectors.dtype != np.float32 or not vectors.flags.c_contiguous or vectors.ndim != 2:
        vectors = real_matrix(vectors, "vectors", _float32)
    if not is_finite(vectors):
        msg = "vectors must be finite and fit into 32-bit floats, found NaN or infinity"
        raise InputError(msg)
    return vectors  # type: ignore[no-any-return]


def _float32(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    if dtype.kind not in "fiub":
        msg = f"`vectors` must be a matrix of real numbers, got dtype {dtype}"
        raise InputError(msg)
    return np.float32
