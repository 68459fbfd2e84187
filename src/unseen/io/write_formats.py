"""The formats of graph, label and feature files, each as a check before and a writer of one file.

Every function here checks first what its format cannot hold, and returns a writer that fills a
temporary file; so that nothing is written at all unless everything can be.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from unseen.errors import UnsupportedError
from unseen.ids import IdArray, default_ids, match_ids
from unseen.io.columns import NODE
from unseen.io.sources import TEXT_SUFFIXES, data_suffix

Writer = Callable[[Path], None]

_PLAIN = r"^[\pL\pN_.:@/+\-]+$"  # what no reader could take for a delimiter, a comment or a quote
_BLOCK_CELLS = 2**20


def is_text(path: Path) -> bool:
    """Return whether `path` is, by its suffix, delimited text."""
    return data_suffix(path) in TEXT_SUFFIXES


def delimiter_of(path: Path) -> str:
    r"""Return the delimiter that text of this suffix gets.

    Examples
    --------
    >>> [delimiter_of(Path(name)) for name in ("a.csv", "a.tsv.gz", "a.txt")]
    [',', '\t', ' ']
    """
    return {".csv": ",", ".tsv": "\t", ".tab": "\t"}.get(data_suffix(path), " ")


def table_writer(columns: dict[str, pa.Array], path: Path, *, header: bool = True) -> Writer:
    """Return the writer of a table as Parquet or, by the suffix of `path`, as text."""
    if data_suffix(path) == ".parquet":
        import pyarrow.parquet as pq

        table = pa.table(columns)
        return lambda temporary: pq.write_table(table, temporary)
    for values in (pa.array(list(columns), pa.string()), *columns.values()):
        _require_text(values, path)
    quoted = [_quoted(values) for values in columns.values()]
    names = _quoted(pa.array(list(columns), pa.string())).to_pylist()
    if delimiter_of(path) == " " and names != list(columns):
        odd = next(name for name, cell in zip(columns, names, strict=True) if name != cell)
        msg = f"{path}: blank-separated text cannot hold the column name {odd!r}; use .csv, .parquet or .npz"
        raise UnsupportedError(msg)
    return _text_writer(quoted, names if header else None, path)


def id_array(ids: IdArray) -> pa.Array:
    """Return ids as an Arrow array of int64 or strings."""
    return pa.array(ids, pa.int64() if ids.dtype == np.int64 else pa.large_string())


def npz_writer(matrix: Any, ids: IdArray, path: Path, *, names: Sequence[str] | None = None) -> Writer:
    """Return the writer of a matrix with the ids of its rows; a sparse one is read by ``scipy.sparse.load_npz``."""
    arrays: dict[str, npt.NDArray[Any]] = {"ids": _fixed_width(ids, path)}
    if names is not None:
        arrays["feature_names"] = _fixed_width(np.array([*names, ""], dtype=object)[:-1], path)
    if sp.issparse(matrix):
        csr = sp.csr_array(matrix)
        arrays |= {
            "data": csr.data,
            "indices": csr.indices,
            "indptr": csr.indptr,
            "shape": np.array(csr.shape),
            "format": np.array(b"csr"),
            "_is_array": np.array(True),
        }
    else:
        arrays["data"] = np.asarray(matrix)

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # numpy's stub takes a key for its flag

    return write


def mat_writer(variables: dict[str, Any], ids: IdArray, path: Path) -> Writer:
    """Return the writer of a Matlab file; rows have no ids there."""
    require_numbered(ids, path)

    def write(temporary: Path) -> None:
        from scipy.io import savemat

        with temporary.open("wb") as file:
            savemat(file, variables, do_compression=True)

    return write


def svmlight_writer(matrix: Any, ids: IdArray, path: Path) -> Writer:
    """Return the writer of features as svmlight text: target 0, columns counted from 1."""
    require_numbered(ids, path)
    csr = sp.csr_array(matrix)
    csr.sort_indices()
    width = csr.shape[1]

    def lines() -> Any:
        for row in range(csr.shape[0]):
            part = slice(csr.indptr[row], csr.indptr[row + 1])
            cells = [
                f"{k + 1}:{v!r}"
                for k, v in zip(csr.indices[part].tolist(), csr.data[part].tolist(), strict=True)
            ]
            if row == 0 and width - 1 not in csr.indices[part]:
                cells.append(f"{width}:0")  # the last column must be named once, or the reader makes fewer
            yield " ".join(["0", *cells]) + "\n"

    def write(temporary: Path) -> None:
        _write_blocks(temporary, path, (line.encode() for line in lines()))

    return write


def require_ids(ids: IdArray, path: Path) -> None:
    """Refuse ids that no file gives back: empty ones, and text that is not Unicode."""
    if ids.dtype == np.int64:
        return
    for value in ids:
        try:
            encoded = value.encode()
        except UnicodeEncodeError:
            msg = f"{path}: the id {value!r} is not valid Unicode text, so no file can hold it; change the id"
            raise UnsupportedError(msg) from None
        if not encoded:
            msg = f"{path}: one node has an empty id, which no reader takes; give it a name"
            raise UnsupportedError(msg)


def require_numbered(ids: IdArray, path: Path) -> None:
    """Refuse ids other than 0 ... n - 1 in a format that has row numbers only."""
    if np.array_equal(match_ids(ids, default_ids(len(ids))), np.arange(len(ids))):
        return
    msg = (
        f"{path}: this format knows nodes by row number only, and the ids here are not 0 ... {len(ids) - 1} "
        f"(the first is {str(ids[0])!r}); use .parquet, .csv or .npz, which keep ids"
    )
    raise UnsupportedError(msg)


def require_bare(values: Sequence[str], path: Path, what: str) -> None:
    """Refuse what a line of blank-separated words without quotes cannot hold."""
    for value in values:
        if not value or re.search(r'[\s"\0]', value) or value.startswith(("#", "\ufeff")):
            msg = (
                f"{path}: the authors' format cannot hold the {what} {value!r} (no blanks, quotes or leading #); "
                "use .csv or .parquet instead"
            )
            raise UnsupportedError(msg)


def joined(columns: Sequence[Any], separator: str) -> pa.Array:
    """Return columns of text, row by row as one string.

    Examples
    --------
    >>> joined([pa.array(["a", "b"], pa.large_string()), pa.array(["c", "d"], pa.large_string())], "-").to_pylist()
    ['a-c', 'b-d']
    """
    return pc.binary_join_element_wise(*columns, pa.scalar(separator, pa.large_string()))


def lines_writer(lines: pa.Array, path: Path) -> Writer:
    """Return the writer of ready lines of text."""
    return _text_writer([lines], None, path)


def feature_columns(names: Sequence[str] | None, width: int, path: Path) -> list[str]:
    """Return one column name a feature; a name that would be taken for the ids is refused."""
    listed = [f"feature_{k}" for k in range(width)] if names is None else list(names)
    clash = next((name for name in listed if name.strip().lower() in NODE or listed.count(name) > 1), None)
    if clash is not None:
        msg = (
            f"{path}: a table cannot have a feature called {clash!r}, which is the name of the ids or of another "
            "feature; write the features as .npz instead"
        )
        raise UnsupportedError(msg)
    return listed


def _text_writer(columns: Sequence[pa.Array], names: Sequence[str] | None, path: Path) -> Writer:
    delimiter = delimiter_of(path)

    def blocks() -> Any:
        if names is not None:
            yield (delimiter.join(names) + "\n").encode()
        rows = max(1, _BLOCK_CELLS // len(columns))
        for start in range(0, len(columns[0]), rows):
            cells = [column.slice(start, rows) for column in columns]
            yield "\n".join([*joined(cells, delimiter).to_pylist(), ""]).encode()

    def write(temporary: Path) -> None:
        _write_blocks(temporary, path, blocks())

    return write


def _write_blocks(temporary: Path, path: Path, blocks: Any) -> None:
    with temporary.open("wb") as raw:
        if not path.name.lower().endswith(".gz"):
            raw.writelines(blocks)
            return
        # No name and no time in the gzip header: the same graph gives the same bytes.
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed:
            packed.writelines(blocks)


def _quoted(values: pa.Array) -> pa.Array:
    """Return cells as text, those that a reader could misunderstand between quotes."""
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return values.cast(pa.large_string())
    text = values.cast(pa.large_string())
    plain = pc.match_substring_regex(text, _PLAIN)
    if pc.all(plain, min_count=0).as_py():
        return text
    quote = pa.scalar('"', pa.large_string())
    quoted = joined([quote, pc.replace_substring(text, '"', '""'), quote], "")
    return pc.if_else(plain, text, quoted)


def _require_text(values: pa.Array, path: Path) -> None:
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return
    bad = pc.match_substring_regex(values, r"[\n\r\x00]|^$")
    if pc.any(bad, min_count=0).as_py():
        value = values.filter(bad)[0].as_py()
        why = f"{value[:40]!r}, which has a line break or a zero character" if value else "an empty name"
        msg = f"{path}: text cannot hold {why}; use .parquet instead"
        raise UnsupportedError(msg)


def _fixed_width(ids: IdArray, path: Path) -> npt.NDArray[Any]:
    if ids.dtype == np.int64:
        return np.asarray(ids)
    odd = next((value for value in ids if value.endswith("\0") or len(value) > 4096), None)
    if odd is not None:
        msg = f"{path}: .npz cannot hold {odd[:40]!r}, which ends in a zero character or is very long; use .parquet"
        raise UnsupportedError(msg)
    return ids.astype(str) if len(ids) else np.zeros(0, dtype="U1")
