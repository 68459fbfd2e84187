"""What a page carries, as its script reads it: one JSON object whose arrays are base64 of short integers."""

from __future__ import annotations

import base64
import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import counted
from unseen.ids import Array, Floats, IdArray, Ints, match_ids

Content = dict[str, Any]

NONE = 65535
"""A probability that is not there; those that are run from 0 to 10,000."""
MAX_TEXT_BYTES = 20_000_000
"""Bytes of text in a page; where there are more, long texts are shortened."""


def pack(values: npt.ArrayLike, kind: str | None = None) -> str:
    """Return an array as the kind of its numbers and their base64.

    Where no kind is given, numbers are rounded and take the smallest one that holds them.

    Examples
    --------
    >>> pack([0, 1, 255]), pack([0, 1, 256])[:2]
    ('u1AAH/', 'u2')
    """
    array = np.asarray(values)
    if kind is None:
        array = np.rint(array)
        kind = next(each for each in ("u1", "u2", "u4") if array.max(initial=0) <= np.iinfo(each).max)
    return kind + base64.b64encode(np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()).decode("ascii")


def unpack(text: str) -> npt.NDArray[Any]:
    """Return the array that :func:`pack` wrote.

    Examples
    --------
    >>> unpack(pack([0, 256])).tolist()
    [0, 256]
    """
    return np.frombuffer(base64.b64decode(text[2:]), dtype=f"<{text[:2]}")


def pack_lists(counts: Ints, values: Ints, names: Sequence[str] = ()) -> Content:
    """Return lists of different lengths, one per node: how long each is, all entries, and what these are called."""
    return {"counts": pack(counts), "values": pack(values), "names": names}


def pack_probabilities(probability: Floats) -> str:
    """Return probabilities as whole numbers, NaN as :data:`NONE`."""
    return pack(np.where(np.isnan(probability), NONE, np.clip(probability, 0, 1) * 10000))


def pack_map(positions: Floats) -> Content:
    """Put the map into a square of 65,536 steps a side, in the middle, without stretching it."""
    if len(positions):
        low, high = positions.min(axis=0), positions.max(axis=0)
        side = max(float((high - low).max()), np.finfo(float).tiny)
        positions = ((positions - (low + high) / 2) / side + 0.5) * 65535
    x, y = positions.T
    return {"x": pack(x), "y": pack(y)}


def shorten_texts(texts: Array | None, notes: list[str]) -> list[str] | None:
    """Return the text of each node, or None where no node has one.

    Texts of more than `MAX_TEXT_BYTES` are shortened to the largest length at which all of them fit, with a note.

    Examples
    --------
    >>> shorten_texts(np.array(["red wine ", ""], dtype=object), [])
    ['red wine', '']
    """
    shown = [] if texts is None else [text.strip() for text in texts]
    if not any(shown):
        return None
    lengths = np.array([len(text) for text in shown])
    # the page holds letters beyond ASCII as \uXXXX
    width = np.array([len(json.dumps(text)) for text in shown]) / np.maximum(lengths, 1)
    sizes = range(1, int(lengths.max()) + 1)
    most = bisect_right(sizes, MAX_TEXT_BYTES, key=lambda size: int(np.minimum(lengths, size) @ width))
    if most == len(sizes):
        return shown
    notes.append(
        f"The texts are too long for a page: it shows the first {counted(most, 'character')} of each."
    )
    return [text if len(text) <= most else f"{text[:most]}…" for text in shown]


def find_rows(nodes: Sequence[object], ids: IdArray) -> Ints:
    """Return the row of each node among `ids`, -1 where it is not there."""
    return match_ids(np.array([str(node) for node in nodes], dtype=object), ids)


def as_content(value: Any) -> Any:
    """Return a result, or a dictionary of results, with short numbers; one that is not finite is None."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {key: as_content(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_content(each) for each in value]
    if isinstance(value, float):
        return round(float(value), 4) if np.isfinite(value) else None
    return value


def as_json(content: Content) -> str:
    r"""Return the JSON of a page, harmless inside a script element: no ``<``, ``>`` or ``&`` is left in it.

    Examples
    --------
    >>> as_json({"ids": ["<b>"]})
    '{"ids":["\\u003cb\\u003e"]}'
    """
    # Signs beyond ASCII leave as \uXXXX, line separators and halves of surrogate pairs among them.
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
