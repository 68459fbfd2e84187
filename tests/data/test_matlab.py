"""Matlab files: what scipy writes is read back exactly."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from unseen.data.matlab import parse_mat


def saved(compress: bool = False, **variables: Any) -> bytes:
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, variables, do_compression=compress)
    return buffer.getvalue()


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
def test_what_scipy_writes(dtype: str, compress: bool) -> None:
    dense = np.array([[0, 1, 0], [2, 0, 3]], dtype=dtype)
    sparse = sp.csc_array(dense.astype(float))
    found = parse_mat(saved(compress, dense=dense, sparse=sparse, empty=sp.csc_array((2, 4)), flag=dense > 0))
    assert found["dense"].tolist() == dense.tolist()  # type: ignore[union-attr]
    for name, matrix in (("sparse", sparse), ("empty", sp.csc_array((2, 4)))):
        value = found[name]
        assert isinstance(value, sp.csc_array)
        assert value.toarray().tolist() == matrix.toarray().tolist()
    assert found["flag"].tolist() == (dense > 0).tolist()  # type: ignore[union-attr]


def test_what_is_no_real_matrix_is_none() -> None:
    found = parse_mat(
        saved(text="hello", struct={"a": 1}, cells=np.array([1, "a"], dtype=object), c=np.eye(2) * 1j)
    )
    assert found == {"text": None, "struct": None, "cells": None, "c": None}


def test_the_other_byte_order() -> None:
    values = np.array([[1.5, 2.5]])
    name = b"x".ljust(8, b"\0")
    parts = struct.pack(">IIII", 6, 8, 6, 0) + struct.pack(">IIii", 5, 8, 1, 2)
    parts += struct.pack(">II", 1, 1) + name + struct.pack(">II", 9, 16) + values.astype(">f8").tobytes()
    data = (
        b"MATLAB 5.0".ljust(124)
        + struct.pack(">H", 0x0100)
        + b"MI"
        + struct.pack(">II", 14, len(parts))
        + parts
    )
    assert parse_mat(data)["x"].tolist() == values.tolist()  # type: ignore[union-attr]
