"""Embeddings as text: word2vec's format, the projector's pair of files, and tables of other tools."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pa_csv

from unseen.embedding import Embedding
from unseen.errors import InputError, logger
from unseen.ids import IdArray, as_ids, require_unique
from unseen.io.columns import id_position, is_node_header
from unseen.io.embeddings_common import finite_float32
from unseen.io.sniff import sniff_delimiter
from unseen.io.sources import data_suffix

BLOCK_VALUES = 2**20
_SAMPLE = 200


def metadata_path(vectors: Path) -> Path:
    """Return the name of the projector's file of ids that goes with the file of vectors.

    Examples
    --------
    >>> metadata_path(Path("out/cora.tsv")).name
    'cora.metadata.tsv'
    """
    return vectors.with_name(vectors.name[: -len(".tsv")] + ".metadata.tsv")


def read_word2vec(path: Path) -> Embedding:
    """Read word2vec text, with or without its first line of two sizes."""
    with _lines_of(path) as lines:
        head = [
            line.split() for _, line in zip(range(2), (line for line in lines if line.strip()), strict=False)
        ]
    if not head:
        msg = f"{path}: the file holds no vectors"
        raise InputError(msg)
    sizes = len(head[0]) == 2 and all(field.isdecimal() for field in head[0])
    # Where the second line has two fields as well, the first is a node unless it says "one number a node".
    sized = sizes and (len(head) < 2 or len(head[1]) != 2 or head[0][1] == "1")
    if sized and len(head) < 2:
        msg = f"{path}: line 1 announces {head[0][0]} vectors and none follow; the file is cut off"
        raise InputError(msg)
    width = int(head[0][1]) if sized else len(head[0]) - 1
    layout = _Layout(path, " ", skip=int(sized), id_column=0, names=[f"number {k}" for k in range(width + 1)])
    ids, vectors = _read_numbers(layout)
    if sized and len(ids) != int(head[0][0]):
        msg = f"{path}: line 1 announces {head[0][0]} vectors and {len(ids)} follow; is it cut off?"
        raise InputError(msg)
    return _checked(ids, vectors)


def read_table(path: Path) -> Embedding:
    """Read a projector pair, or a .csv or .tsv file with an id column beside columns of numbers."""
    pair = _find_metadata(path)
    separator = "\t" if pair is not None else _separator(path)
    first = _first_fields(path, separator)
    if pair is not None:
        layout = _Layout(path, separator, 0, None, [f"number {k + 1}" for k in range(len(first))])
        _, vectors = _read_numbers(layout)
        return _checked(_read_metadata(pair, len(vectors)), vectors)
    if len(first) < 2:
        msg = (
            f"{path}: line 1 has one column; needed are an id and numbers, separated by {_spoken(separator)}"
        )
        raise InputError(msg)
    header = not all(_is_number(field) for field in first[1:])
    named = id_position(first) if header else 0
    if named is None:
        logger.info("%s: the first column, %r, is taken as the ids", path, first[0])
    id_column = named or 0
    names = first if header else ["id", *(f"number {k}" for k in range(1, len(first)))]
    ids, vectors = _read_numbers(_Layout(path, separator, int(header), id_column, names, quoted=True))
    if not header and all(re.fullmatch(r"-?\d*\.\d+(e[-+]?\d+)?|-?\d+e[-+]?\d+", value) for value in ids):
        msg = (
            f"{path}: the first column must hold ids, not fractions such as {ids[0]}; add a column `node` "
            "or put the ids of a projector file beside it (name.metadata.tsv)"
        )
        raise InputError(msg)
    return _checked(ids, vectors)


@dataclass(frozen=True)
class _Layout:
    """Where ids and numbers stand in a text file."""

    path: Path
    separator: str
    skip: int
    id_column: int | None
    names: Sequence[str]
    quoted: bool = False


def _read_numbers(layout: _Layout) -> tuple[IdArray, npt.NDArray[np.float32]]:
    """Return ids and numbers; on any fault the file is read again, slowly, to name line and column."""
    width = len(layout.names)
    spare = _has_trailing_separator(layout)
    columns = [f"c{k}" for k in range(width + spare)]
    kinds = {name: pa.float32() for name in columns[:width]}
    if layout.id_column is not None:
        kinds[columns[layout.id_column]] = pa.large_string()
    if spare:
        kinds[columns[-1]] = pa.string()
    try:
        with _binary(layout.path) as file:
            table = pa_csv.read_csv(
                file,
                pa_csv.ReadOptions(
                    column_names=columns, skip_rows=layout.skip, block_size=max(2**23, 64 * width)
                ),
                pa_csv.ParseOptions(
                    delimiter=layout.separator,
                    quote_char='"' if layout.quoted else False,
                    newlines_in_values=layout.quoted,
                ),
                pa_csv.ConvertOptions(column_types=kinds, null_values=[], strings_can_be_null=False),
            )
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        _explain(layout, spare)
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        msg = f"{layout.path}: the file cannot be read as text with numbers ({reason})"
        raise InputError(msg) from error
    ids = np.empty(0, dtype=object)
    if layout.id_column is not None:
        ids = as_ids(table.column(layout.id_column).combine_chunks().to_numpy(zero_copy_only=False))
    numbers = [k for k in range(width) if k != layout.id_column]
    vectors = np.empty((len(table), len(numbers)), dtype=np.float32)
    start = 0
    for batch in table.to_batches():
        for column, k in enumerate(numbers):
            vectors[start : start + len(batch), column] = batch.column(k).to_numpy(zero_copy_only=False)
        start += len(batch)
    return ids, vectors


def _has_trailing_separator(layout: _Layout) -> int:
    """Return 1 where lines end in a separator, as those of the first word2vec program do."""
    if layout.separator != " ":
        return 0
    with _lines_of(layout.path) as lines:
        for number, line in enumerate(lines):
            if number >= layout.skip and line.strip():
                return int(line.rstrip("\r\n").endswith(" "))
    return 0


def _explain(layout: _Layout, spare: int) -> None:
    """Raise the error that names the first faulty line, if one can be found."""
    width = len(layout.names)
    with _lines_of(layout.path, newline="" if layout.quoted else "\n") as lines:
        reader = csv.reader(lines, delimiter=layout.separator) if layout.quoted else None
        rows: Iterator[list[str]] = reader or (line.rstrip("\r\n").split(layout.separator) for line in lines)
        for number, fields in enumerate(rows, start=1):
            line = reader.line_num if reader else number
            if number <= layout.skip or not any(fields):
                continue
            found = fields[: -1 if spare and not fields[-1] else None]
            if len(found) != width:
                msg = f"{layout.path}, line {line}: {len(found)} columns where every line must have {width}"
                raise InputError(msg)
            for k, field in enumerate(found):
                if k != layout.id_column and not _is_number(field):
                    hint = "; decimals need a point" if "," in field else ""
                    msg = f"{layout.path}, line {line}: {field!r} in column {layout.names[k]!r} is not a number{hint}"
                    raise InputError(msg)


def _checked(ids: IdArray, vectors: npt.NDArray[Any]) -> Embedding:
    require_unique(ids)
    return Embedding(finite_float32(vectors, ids), ids)


def _find_metadata(path: Path) -> Path | None:
    """Return the ids' file of a projector pair, by our name for it or those of other tools."""
    if not path.name.lower().endswith(".tsv"):
        return None
    candidates = [metadata_path(path)]
    if path.name in ("vectors.tsv", "tensors.tsv", "tensor.tsv"):
        candidates.append(path.with_name("metadata.tsv"))
    if path.name.endswith("_tensor.tsv"):
        candidates.append(path.with_name(path.name.removesuffix("_tensor.tsv") + "_metadata.tsv"))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _read_metadata(path: Path, n: int) -> IdArray:
    with _lines_of(path) as file:
        lines = [line.rstrip("\r\n") for line in file]
    column = 0
    if lines and "\t" in lines[0]:  # several columns, and only then a header
        column = id_position(lines.pop(0).split("\t")) or 0
        lines = [line.split("\t")[column] if line.count("\t") >= column else "" for line in lines]
    elif len(lines) == n + 1:
        lines.pop(0)
    if len(lines) != n:
        msg = f"{path}: {len(lines)} ids for {n} vectors; the two files do not belong together"
        raise InputError(msg)
    return as_ids(lines)


def _separator(path: Path) -> str:
    with _lines_of(path) as lines:
        full = (line.rstrip("\r\n").removeprefix("\ufeff") for line in lines)
        head = [
            line for _, line in zip(range(_SAMPLE), (line for line in full if line.strip()), strict=False)
        ]
    suffix = data_suffix(path)
    own = "\t" if suffix == ".tsv" else ","
    if not head:
        return own
    return sniff_delimiter(head, is_node_header, suffix=suffix, blanks=False, source=repr(str(path))) or own


def _first_fields(path: Path, separator: str) -> list[str]:
    with _lines_of(path, newline="") as lines:
        first = next(csv.reader(lines, delimiter=separator), [])
    return [first[0].removeprefix("\ufeff"), *first[1:]] if first else []


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


def _spoken(separator: str) -> str:
    return {"\t": "tabs", ",": "commas", ";": "semicolons", " ": "blanks"}[separator]


@contextmanager
def _binary(path: Path) -> Iterator[IO[bytes]]:
    if path.name.lower().endswith(".gz"):
        with gzip.open(path, "rb") as file:
            yield cast(IO[bytes], file)
    else:
        with path.open("rb") as file:
            yield file


@contextmanager
def _lines_of(path: Path, newline: str = "\n") -> Iterator[Iterator[str]]:
    """Give the lines of a text file; what is not text, or not a whole gzip file, is an error."""
    try:
        with _binary(path) as file:
            # Only a line feed ends a line: ids may hold any other sign that Python would break at.
            yield io.TextIOWrapper(file, encoding="utf-8", newline=newline)
    except UnicodeDecodeError as error:
        msg = f"{path}: this is not UTF-8 text ({error.reason}); save it as UTF-8, or give it its true suffix"
        raise InputError(msg) from None
    except csv.Error as error:
        msg = f"{path}: the file cannot be read as a table ({error})"
        raise InputError(msg) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        msg = f"{path}: this is not a whole gzip file ({error}); write or copy it again"
        raise InputError(msg) from error
