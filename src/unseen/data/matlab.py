"""Matlab files of version 5 to 7: real matrices, dense or sparse, every length checked before it is used.

A reader of our own: scipy's ``loadmat`` crashed the process in 35 of 40 rounds of 250 damaged files (scipy 1.17). It
knows numeric arrays only, which is all a graph, its labels or its features can be.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_SPARSE_CLASS = 5
_NUMERIC_CLASSES = range(6, 16)
_COMPLEX = 0x0800

Variables = Mapping[str, sp.csc_array | npt.NDArray[Any] | None]
"""Matrices by name; None for what is no real matrix (text, cells, structures)."""


class MatlabError(ValueError):
    """A file that does not hold what its lengths promise; the reader of files makes a sentence of it."""


def _refuse(wrong: bool, sentence: str) -> None:
    if wrong:
        raise MatlabError(sentence)


def parse_mat(data: bytes, require_room: Callable[..., None] = lambda *_: None) -> Variables:
    """Return the variables of a Matlab file; a damaged one raises `MatlabError`.

    `require_room` takes the bytes that are unpacked so far and a number of rows, and raises where that is too much.
    """
    mark = data[126:128]
    _refuse(
        len(data) < _HEADER or mark not in (b"IM", b"MI"),
        "it has no header of a Matlab file of version 5 to 7",
    )
    order = "<" if mark == b"IM" else ">"
    (version,) = struct.unpack(order + "H", data[124:126])
    _refuse(version >> 8 != 1, "it is of version 7.3 or unknown, save it with `save -v7`")
    variables: dict[str, sp.csc_array | npt.NDArray[Any] | None] = {}
    total = 0
    for kind, body in _iterate_elements(data[_HEADER:], order):
        if kind == _COMPRESSED:
            unpacker, parts = zlib.decompressobj(), list[bytes]()
            try:
                while body and not unpacker.eof:
                    parts.append(unpacker.decompress(body, 1 << 24))
                    total += len(parts[-1])
                    require_room(total)
                    body = unpacker.unconsumed_tail
            except zlib.error:
                parts = []
            _refuse(not unpacker.eof, "a compressed element cannot be unpacked")
            kind, body = next(_iterate_elements(b"".join(parts), order), (0, b""))
        if kind == _MATRIX:
            name, value = _read_matrix(body, order, require_room)
            variables[name] = value
    return variables


def _iterate_elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Yield type and content of each element; short ones keep their content within the tag."""
    at = 0
    while at < len(data):
        tag = data[at : at + 8]
        _refuse(len(tag) < 8, "it ends within an element")
        kind, size = struct.unpack(order + "II", tag)
        if kind >> 16:
            kind, size = kind & 0xFFFF, kind >> 16
            _refuse(size > 4, f"a short element claims {size} bytes")
            yield kind, tag[4 : 4 + size]
            at += 8
        else:
            at += 8 + size
            _refuse(at > len(data), "it ends within an element")
            yield kind, data[at - size : at]
            if kind != _COMPRESSED:
                at += -size % 8


def _read_matrix(
    body: bytes, order: str, require_room: Callable[..., None]
) -> tuple[str, sp.csc_array | npt.NDArray[Any] | None]:
    parts = _iterate_elements(body, order)
    try:
        flags, shape, name = (next(parts) for _ in range(3))
    except (StopIteration, RuntimeError):
        msg = "a matrix has no dimensions or no name"
        raise MatlabError(msg) from None
    kind = int(_read_numbers(flags, order)[:1].sum())
    title = name[1].decode("latin-1")
    class_ = kind & 0xFF
    if kind & _COMPLEX or not (class_ == _SPARSE_CLASS or class_ in _NUMERIC_CLASSES):
        return title, None
    size = tuple(int(n) for n in _read_numbers(shape, order))
    _refuse(len(size) != 2 or min(size) < 0, f"the matrix {title!r} has the shape {size}")
    if class_ == _SPARSE_CLASS:
        require_room(0, sum(size))  # rows and columns cost memory even where they are empty
    values = [_read_numbers(part, order) for part in parts]
    misfit = f"the matrix {title!r} does not have as many numbers as its shape {size} says"
    if class_ == _SPARSE_CLASS:
        if len(values) == 2:  # all zero: Matlab may leave the numbers out
            values = [*values, np.zeros(0)]
        _refuse(len(values) != 3 or len(values[1]) != size[1] + 1, misfit)
        rows, starts, numbers = values[0].astype(np.int64), values[1].astype(np.int64), values[2]
        count = int(starts[-1])
        _refuse(not 0 <= count <= min(len(rows), len(numbers)), misfit)
        matrix = sp.csc_array((numbers[:count], rows[:count], starts), shape=size)
        matrix.check_format(full_check=True)
        return title, matrix
    _refuse(len(values) != 1 or len(values[0]) != size[0] * size[1], misfit)
    return title, values[0].reshape(size, order="F")


def _read_numbers(element: tuple[int, bytes], order: str) -> npt.NDArray[Any]:
    kind, content = element
    _refuse(kind not in _NUMBERS, f"an element of type {kind} stands where numbers should")
    dtype = np.dtype(order + _NUMBERS[kind])
    _refuse(len(content) % dtype.itemsize > 0, "an element ends within a number")
    return np.frombuffer(content, dtype=dtype).astype(dtype.newbyteorder("="))
