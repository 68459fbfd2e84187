"""What the formats of embedding files share: metadata, the check of the numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError, logger
from unseen.ids import IdArray, default_ids


def made_by(stored: object, path: Path) -> tuple[str, dict[str, Any]]:
    """Return method and parameters out of stored metadata; unreadable ones are left out and a notice says so."""
    method = stored.get("method", "") if isinstance(stored, dict) else None
    params = stored.get("params", {}) if isinstance(stored, dict) else None
    if not isinstance(method, str) or not isinstance(params, dict):
        logger.warning(
            "%s: method and parameters in the file's metadata cannot be read and are left out", path
        )
        return "", {}
    return method, params


def finite_float32(values: npt.NDArray[Any], ids: IdArray, first_row: int = 0) -> npt.NDArray[np.float32]:
    """Return `values` as float32; NaN, infinity and overflow are errors that name the node."""
    with np.errstate(over="ignore"):
        numbers = values.astype(np.float32, copy=False)
    finite = np.isfinite(numbers).all(axis=1)
    if not finite.all():
        row = first_row + int(np.flatnonzero(~finite)[0])
        msg = (
            f"the vector of node {shown(ids[row])} (row {row + 1}) holds NaN, infinity or a number too large "
            "for float32; every entry must be a finite number"
        )
        raise InputError(msg)
    return numbers


def row_numbers(path: Path, n: int) -> IdArray:
    """Return the ids 0 ... n - 1 for a file that has none, and say so: its rows may be other nodes."""
    logger.warning("%s: the file has no ids; its rows are taken as the nodes 0 ... %d", path, n - 1)
    return default_ids(n)


def broken(path: Path, kind: str, error: Exception) -> InputError:
    """Return the error for a file that is cut off or of another kind."""
    reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    return InputError(f"{path}: this is not a whole {kind} file ({reason}); write or copy it again")


def shown(value: Any) -> str:
    """Return an id as a message shows it, without numpy's type around it."""
    return repr(value.item() if isinstance(value, np.generic) else value)
