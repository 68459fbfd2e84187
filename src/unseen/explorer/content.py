"""What a page carries, as its script reads it: one JSON object whose arrays are base64 of short integers, to be small.

Whatever is None is left out of the page.
"""

from __future__ import annotations

import base64
import json
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import counted
from unseen.explorer.palette import CLASSES, SAFE, SHAPES
from unseen.ids import Array, Floats, Ints

Content = dict[str, Any]

NONE = 65535
"""A probability that is not there; those that are run from 0 to 10,000."""
MAX_TEXT_BYTES = 20_000_000
"""Bytes of text in a page; where there are more, long texts are shortened."""


def category(
    name: str,
    number: int = 0,
    *,
    caption: str = "",
    quiet: bool = False,
    hollow: bool = False,
    step: int | None = None,
    group: int | None = None,
) -> Content:
    """Return one entry of a legend.

    Parameters
    ----------
    name : str
        What the legend says.
    number : int
        Which colour and shape it takes; equal numbers look alike in every colouring.
    caption : str
        What is added to the name of a found class.
    quiet : bool
        Whether its nodes stay in the background.
    hollow : bool
        Whether its nodes are rings, where the first step of a scale looks much like the background.
    step : int or None
        Its place on the scale of probabilities, which has colours of its own.
    group : int or None
        Which of the found groups it is; these take colours that classes take last.

    Examples
    --------
    >>> category("mail", 8)["shape"]
    1
    """
    hues = len(CLASSES["light"])
    colour = (number if group is None else -1 - group) % hues
    shape = number // SAFE if group is None else group // hues
    shape = 0 if quiet or step is not None else shape % len(SHAPES)
    shape = SHAPES.index("ring") if hollow else shape
    entry = {"name": name, "caption": caption, "quiet": quiet, "colour": colour, "shape": shape}
    entry |= {} if step is None else {"step": step}
    return entry if group is None else {**entry, "group": True}


def colouring(key: str, name: str, categories: Iterable[Content], codes: Ints) -> Content:
    """Return one way to colour the map: a category for every node, by its number."""
    return {"key": key, "name": name, "categories": list(categories), "codes": pack(codes)}


def pack_lists(counts: Ints, values: Ints, names: Sequence[str] = ()) -> Content:
    """Return lists of different lengths, one per node: how long each is, all entries, and what these are called."""
    return {"counts": pack(counts), "values": pack(values), "names": names}


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
