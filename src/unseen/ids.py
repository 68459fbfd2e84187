"""What values hold, checked and read-only: node ids (all strings or all int64, joined by string form), and matrices."""

from __future__ import annotations

import itertools
import mmap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.errors import InputError, unknown_type

IdArray = npt.NDArray[Any]
"""One-dimensional array of ids, dtype ``int64`` or ``object`` (holding ``str``)."""
Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Keys = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Place = Callable[[int], str]
"""From the number of an entry to where it stands: ``'edges.csv', line 3``."""
Features: TypeAlias = "sp.csr_array | npt.NDArray[Any]"
Stored = dict[str | None, tuple[Features, tuple[str, ...] | None]]
"""The features of each type that has some, and the names of their columns."""
Types = tuple[str | None, ...]


class Value:
    """Base of frozen values: a notebook shows them as a table, and what was pickled comes back read-only."""

    def _repr_html_(self) -> str:
        from unseen.notebook import as_html  # which a small job does without

        return as_html(self)

    def __getstate__(self) -> dict[str, Any]:
        parts = self.__dict__.items()
        return {name: _Pickled(part) if isinstance(part, MappingProxyType) else part for name, part in parts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, part in state.items():
            self.__dict__[name] = MappingProxyType(part) if isinstance(part, _Pickled) else part
            if isinstance(part, (np.ndarray, sp.csr_array)):
                lock(part)


class _Pickled(dict[Any, Any]):
    """A read-only mapping on its way through pickle, which takes no proxies."""


def as_ids(values: Iterable[Any], *, what: str = "node ids") -> IdArray:
    """Return `values` as a read-only id array, int64 if all are integers, else all strings.

    Strings stay exactly as they are (``007`` is not ``7``); a mix of strings and integers is an
    error, because the two would meet in no file.

    Examples
    --------
    >>> as_ids([3, 1]).dtype
    dtype('int64')
    >>> as_ids(["007", "ü"]).tolist()
    ['007', 'ü']
    """
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        msg = f"{what} must be a list of ids, one per row, got {values!r}"
        raise InputError(msg)
    array = values if isinstance(values, np.ndarray) else _object_array(list(values))
    if array.ndim != 1:
        msg = f"{what} must be one-dimensional, got an array of shape {array.shape}"
        raise InputError(msg)
    # Most come as texts, and there is nothing to look at one by one.
    if array.dtype == object and set(map(type, array)) <= {str}:
        ids = array.copy() if array.flags.writeable else array
    elif array.dtype.kind == "i":
        ids = array.astype(np.int64)
    else:
        listed = array.tolist()
        others = [v for v in listed if not isinstance(v, str)]
        neither = [v for v in others if not isinstance(v, (int, np.integer)) or isinstance(v, bool)]
        if neither or 0 < len(others) < len(listed):
            odd = (neither or others)[0]
            msg = f"{what} must be all strings or all integers, found {odd!r} of type {type(odd).__name__}"
            raise InputError(msg)
        try:
            ids = np.array(listed, dtype=np.int64) if others else _object_array([str(v) for v in listed])
        except OverflowError:
            msg = f"{what} do not fit into 64-bit integers; pass them as strings"
            raise InputError(msg) from None
    ids.setflags(write=False)
    return ids


def _object_array(values: list[Any]) -> IdArray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def default_ids(n: int) -> IdArray:
    """Return the ids 0 ... n - 1, for input that has none."""
    ids = np.arange(n, dtype=np.int64)
    ids.setflags(write=False)
    return ids


def require_unique(ids: IdArray, *, what: str = "node ids") -> None:
    """Raise an `InputError` that names the first id that occurs twice."""
    if ids.dtype == np.int64:
        order = np.sort(ids)
        repeated = order[1:][order[1:] == order[:-1]].tolist()
    else:
        is_unique = len(set(ids)) == len(ids)
        repeated = [] if is_unique else [value for value, n in Counter(ids.tolist()).items() if n > 1]
    if repeated:
        msg = f"{what} must be unique, {repeated[0]!r} occurs more than once"
        raise InputError(msg)


def check_row_ids(node_ids: Iterable[Any] | None, n: int, rows: str) -> IdArray:
    """Return one unique id per row, 0 ... n - 1 where None is given; `rows` says in words how many rows there are."""
    ids = default_ids(n) if node_ids is None else as_ids(node_ids)
    if len(ids) != n:
        msg = f"`node_ids` has {len(ids)} entries but {rows}"
        raise InputError(msg)
    require_unique(ids)
    return ids


def id_order(ids: IdArray) -> Ints:
    """Return the rows that sort the ids: what is computed in this order does not depend on the order of the input.

    Examples
    --------
    >>> id_order(as_ids(["b", "a", "c"])).tolist()
    [1, 0, 2]
    """
    return np.argsort(ids, kind="stable")


def match_ids(wanted: IdArray, listed: IdArray) -> Ints:
    """Return for each id of `wanted` its row in `listed`, or -1; compared by string form.

    Examples
    --------
    >>> match_ids(as_ids(["2", "9"]), as_ids([1, 2])).tolist()
    [1, -1]
    """
    if wanted.dtype == np.int64 and listed.dtype == np.int64:
        order = np.argsort(listed, kind="stable")
        position = np.searchsorted(listed, wanted, sorter=order).clip(max=max(len(listed) - 1, 0))
        if not len(listed):
            return np.full(len(wanted), -1, dtype=np.int64)
        rows = order[position]
        return np.where(listed[rows] == wanted, rows, -1).astype(np.int64)
    index = {str(v): i for i, v in enumerate(listed.tolist())}
    return np.fromiter((index.get(str(v), -1) for v in wanted.tolist()), np.int64, len(wanted))


def check_matrix(values: Any, what: str, dtype: type[np.floating[Any]] | None = None) -> Features:
    """Return a copy of a matrix of finite real numbers, in CSR where it is sparse.

    Without `dtype` numbers are kept as float32 where that is exact, else as float64. A dense matrix that is locked
    and has the type already, as methods hand it over, is not copied.
    """
    try:
        matrix = sp.csr_array(values) if sp.issparse(values) else np.asarray(values)
    except ValueError:
        msg = f"`{what}` must be a matrix, its rows have different lengths"
        raise InputError(msg) from None
    if matrix.ndim != 2:
        msg = f"`{what}` must have two dimensions, got shape {matrix.shape}"
        raise InputError(msg)
    if matrix.dtype.kind not in "fiub":
        msg = f"`{what}` must hold real numbers, got dtype {matrix.dtype}"
        raise InputError(msg)
    if dtype is None:
        is_exact = matrix.dtype.kind == "b" or matrix.dtype.itemsize <= 2 or matrix.dtype == np.float32
        dtype = np.float32 if is_exact else np.float64
    with np.errstate(over="ignore"):  # numbers beyond float32 become infinite, which is refused below
        if not isinstance(matrix, np.ndarray):
            matrix = narrow_indices(matrix.astype(dtype))
            matrix.sum_duplicates()
        elif matrix.flags.writeable or (matrix.base is not None and mapped_file(matrix) is None):
            matrix = np.array(matrix, dtype=dtype, order="C")
        else:
            matrix = np.ascontiguousarray(matrix, dtype=dtype)
    if not is_finite(numbers_of(matrix)):
        limit = " and fit into 32-bit floats" if dtype is np.float32 else ""
        msg = f"`{what}` must be finite{limit}, found NaN or infinity"
        raise InputError(msg)
    return matrix


def narrow_indices(matrix: sp.csr_array) -> sp.csr_array:
    """Return a sparse matrix with 32-bit indices where they suffice, which is two thirds of the memory."""
    if matrix.indices.dtype == np.int32 or max(*matrix.shape, matrix.nnz) >= 2**31:
        return matrix
    indices, indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return sp.csr_array((matrix.data, indices, indptr), shape=matrix.shape)


def mapped_file(array: Any) -> mmap.mmap | None:
    """Return the file that an array is mapped from; None for an array in memory."""
    while isinstance(array, np.ndarray):
        array = array.base
    if isinstance(array, memoryview):
        array = array.obj
    return array if isinstance(array, mmap.mmap) else None


def is_finite(values: Array) -> bool:
    """Whether no number is NaN or infinite; nothing of the size of the numbers is allocated.

    Examples
    --------
    >>> is_finite(np.array([[1.0, np.nan]])), is_finite(np.zeros((2, 0)))
    (False, True)
    """
    blocks: Iterable[Array] = [values]
    if mapped_file(values) is not None:
        from unseen.engine.scratch import blocks_of

        blocks = blocks_of(values)
    return all(np.isfinite([block.min(initial=0), block.max(initial=0)]).all() for block in blocks)


def numbers_of(matrix: Features) -> Array:
    """Return the numbers of a matrix; of a sparse one those that it stores."""
    return matrix if isinstance(matrix, np.ndarray) else matrix.data


def check_features(features: Any, names: Any, types: Types, codes: Ints | None, n: int) -> Stored:
    """Return the features of each type and the names of their columns; values for one type need no key."""
    by_type = []
    for values, what in ((features, "features"), (names, "feature_names")):
        if values is not None and len(types) > 1 and not isinstance(values, Mapping):
            msg = f"`{what}` must be a mapping from types to values, as there are {len(types)} types of nodes"
            raise InputError(msg)
        by_type.append(
            values if isinstance(values, Mapping) else {} if values is None else {types[0]: values}
        )
        for key in by_type[-1]:
            if key not in types:
                raise unknown_type(key, types)
    stored: Stored = {}
    for k, key in enumerate(types):
        matrix, own = (values.get(key) for values in by_type)
        width = 0
        if matrix is not None:
            matrix = check_matrix(matrix, "features")
            count, width = n if codes is None else int(np.count_nonzero(codes == k)), matrix.shape[1]
            if matrix.shape[0] != count:
                of_type = "" if key is None else f" of type {key!r}"
                msg = f"`features` has {matrix.shape[0]} rows but the graph has {count} nodes{of_type}"
                raise InputError(msg)
            if n and not width:
                msg = "`features` has no columns; pass features=None where nodes have no features"
                raise InputError(msg)
        own = None if own is None else tuple(map(str, own))
        if own is not None and len(own) != width:
            msg = f"`feature_names` has {len(own)} entries but there are {width} feature columns"
            raise InputError(msg)
        if matrix is not None:
            stored[key] = (matrix, own)
    return stored


def check_texts(texts: Iterable[Any] | None, n: int) -> Array | None:
    """Return one text per node as a read-only array, empty where it is None; None where there are no texts."""
    if texts is None:
        return None
    own = _object_array(["" if text is None else text for text in texts])
    odd = next((text for text in own if not isinstance(text, str)), None)
    if odd is not None or len(own) != n:
        found = (
            f"{len(own)} entries but the graph has {n} nodes"
            if odd is None
            else f"{odd!r}, which is not a text"
        )
        msg = f"`texts` has {found}; one str per node is needed"
        raise InputError(msg)
    lock(own)
    return own


def lock(*arrays: sp.csr_array | Array | None) -> None:
    """Lock arrays, and the three arrays of sparse ones, against writing."""
    for array in arrays:
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
        elif array is not None:
            lock(array.data, array.indices, array.indptr)


WIDEST = 256  # characters; numpy pads every string to the longest, so few long ones would cost gigabytes


def text_arrays(key: str, values: Any) -> dict[str, Array]:
    r"""Return arrays that hold ids or names without pickle: ``key``, or ``key_utf8`` and ``key_offsets``.

    numpy's strings have one width and lose zero characters at the end, so that very long values and those
    that end in one are stored as UTF-8 bytes.
    """
    if isinstance(values, np.ndarray) and values.dtype == np.int64:
        return {key: values}
    texts = list(values)
    longest, total = max(map(len, texts), default=0), sum(map(len, texts))
    pads = longest > WIDEST or longest * len(texts) > 4 * total + 2**22
    if not pads and not any(text.endswith("\0") for text in texts):
        return {key: np.array(texts, dtype=str) if texts else np.zeros(0, dtype="U1")}
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return {f"{key}_utf8": np.frombuffer(b"".join(encoded), dtype=np.uint8), f"{key}_offsets": offsets}


def texts_from_arrays(key: str, arrays: Mapping[str, Array], where: str) -> list[str] | None:
    r"""Return what `text_arrays` stored as bytes, or None where there is no such pair of arrays."""
    if f"{key}_utf8" not in arrays or f"{key}_offsets" not in arrays:
        return None
    content, offsets = arrays[f"{key}_utf8"].tobytes(), arrays[f"{key}_offsets"].tolist()
    try:
        return [content[a:b].decode() for a, b in itertools.pairwise(offsets)]
    except (TypeError, UnicodeDecodeError):
        msg = f"{where}: `{key}_utf8` and `{key}_offsets` do not make text; write the file again"
        raise InputError(msg) from None
