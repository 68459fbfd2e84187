"""From a page's values to the one JSON text it carries: numbers as base64 of short integers, which keeps it small."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.explorer import palette
from unseen.explorer.content import Lists, Page, Words

NONE = 65535
"""A probability that is not there; those that are run from 0 to 10,000."""


def payload(page: Page) -> str:
    r"""Return the JSON of a page, harmless inside a script element: no ``<``, ``>`` or ``&`` is left in it.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.explorer.content import Category, Colouring
    >>> every = Colouring("node", "Node", (Category("a node"),), np.zeros(1, int))
    >>> text = payload(Page("</script>", "", ["<b>"], np.zeros((1, 2)), [every]))
    >>> "<" in text, json.loads(text)["ids"]
    (False, ['<b>'])
    """
    x, y = _squared(page.positions).T
    content = {
        "title": page.title,
        "subtitle": page.subtitle,
        "notes": list(page.notes),
        "ids": list(page.node_ids),
        "x": _packed(x, "<u2"),
        "y": _packed(y, "<u2"),
        "start": page.colourings[0].key,
        "colourings": [
            {
                "key": each.key,
                "name": each.name,
                "categories": [category.to_dict() for category in each.categories],
                "codes": _packed(each.codes, "<u2"),
            }
            for each in page.colourings
        ],
        "edges": _lists(page.edges),
        "labels": _lists(page.labels),
        "truth": _lists(page.truth),
        "features": None if page.features is None else _words(page.features),
        "probability": None if page.probability is None else _probabilities(page.probability),
        "evidence": None
        if page.evidence is None
        else {
            "parts": [{"strong": strong, "weak": weak} for strong, weak in page.evidence.sentences],
            "ranks": _packed(np.where(np.isnan(page.evidence.ranks), 255, page.evidence.ranks * 254), "<u1"),
        },
        "found": page.found,
        "audit": page.audit,
        "selfTest": page.self_test,
        "suggestions": None if page.suggestions is None else list(page.suggestions),
        "palette": {
            "classes": palette.CLASSES,
            "steps": palette.STEPS,
            "quiet": palette.QUIET,
            "map": palette.MAP,
        },
        "shapes": palette.SHAPES,
    }
    # Signs beyond ASCII leave as \uXXXX, line separators and halves of surrogate pairs among them.
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _squared(positions: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Put the map into a square of 65,536 steps a side, in the middle, without stretching it."""
    if not len(positions):
        return positions
    low, high = positions.min(axis=0), positions.max(axis=0)
    side = max(float((high - low).max()), np.finfo(float).tiny)
    centred = (positions - (low + high) / 2) / side + 0.5
    return np.asarray(centred * 65535)


def _packed(values: npt.NDArray[Any], kind: str) -> str:
    array = np.asarray(values)
    if np.dtype(kind).kind == "u":
        array = np.rint(array)
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode("ascii")


def _lists(lists: Lists | None) -> dict[str, Any] | None:
    if lists is None:
        return None
    return {
        "counts": _packed(lists.counts, "<u4"),
        "values": _packed(lists.values, "<u4"),
        "names": lists.names,
    }


def _words(words: Words) -> dict[str, Any]:
    return {
        **(_lists(words.lists) or {}),
        "title": words.title,
        "total": _packed(words.total, "<u4"),
        "numbers": None if words.numbers is None else _packed(words.numbers, "<f4"),
        "means": None if words.means is None else [float(f"{mean:.3g}") for mean in words.means],
    }


def _probabilities(probability: npt.NDArray[np.float64]) -> str:
    return _packed(np.where(np.isnan(probability), NONE, np.clip(probability, 0, 1) * 10000), "<u2")
