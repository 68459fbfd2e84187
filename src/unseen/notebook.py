"""What a notebook shows of a value: a small table, and a picture of a few hundred bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

_MOST_ROWS, _MOST_LISTED, _MOST_POINTS = 12, 50, 300
_WIDTH, _HEIGHT = 260, 120


def as_html(value: Any) -> str:
    """Return a value as HTML, for ``_repr_html_``.

    Examples
    --------
    >>> import unseen
    >>> as_html(unseen.Labels.from_values(["red", None]))[:31]
    '<div class="unseen"><b>Labels(2'
    """
    shown = (_PARTS[kind.__name__] for kind in type(value).__mro__ if kind.__name__ in _PARTS)
    names, picture = next(shown, ((), lambda _: ""))
    facts = {name: getattr(value, name) for name in names} or value.to_dict()
    rows = "".join(
        f"<tr><th>{escape(name.replace('_', ' '))}</th><td>{escape(_shorten(fact))}</td></tr>"
        for name, fact in facts.items()
        if fact is not None
    )
    return f'<div class="unseen"><b>{escape(_shorten(repr(value)))}</b><table>{rows}</table>{picture(value)}</div>'


def html_table(title: str, columns: Mapping[str, Sequence[object]]) -> str:
    """Return columns as an HTML table below a title, the first fifty rows; long cells are shortened.

    Examples
    --------
    >>> html_table("Two", {"node": ["a", "<b>"], "score": [0.12345, None]})[-60:]
    '</td></tr><tr><td>&lt;b&gt;</td><td></td></tr></table></div>'
    """
    rows = list(zip(*columns.values(), strict=True))
    lines = ["".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in columns)]
    lines += (
        "".join(f"<td>{'' if cell is None else escape(_shorten(cell))}</td>" for cell in row)
        for row in rows[:_MOST_LISTED]
    )
    table = f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>" if rows else ""
    more = f"<p>{len(rows) - _MOST_LISTED} more</p>" if len(rows) > _MOST_LISTED else ""
    return f'<div class="unseen"><p>{escape(title)}</p>{table}{more}</div>'


def _draw_bars(heights: Mapping[str, float]) -> str:
    """Return a bar for each name, the first dozen, as SVG."""
    first = list(heights.items())[:_MOST_ROWS]
    most = max((height for _, height in first), default=0) or 1
    lines = "".join(
        f'<rect y="{14 * k}" width="{100 * height / most:.1f}" height="11" fill="#4477aa"/>'
        f'<text x="{100 * height / most + 4:.1f}" y="{14 * k + 10}" font-size="10">'
        f"{escape(_shorten(name))} {height:.4g}</text>"
        for k, (name, height) in enumerate(first)
    )
    return _svg(lines, 14 * len(first))


def _svg(content: str, height: int) -> str:
    return f'<svg width="{_WIDTH}" height="{height}" role="img">{content}</svg>' if content else ""


def _shorten(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        value = [f"{name}={each}" for name, each in value.items()]
    if isinstance(value, Iterable) and not isinstance(value, str):
        listed = [str(each) for each in value]
        more = f", ... ({len(listed)} in all)" if len(listed) > 6 else ""
        return ", ".join(listed[:6]) + more
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _draw_degrees(graph: Any) -> str:
    degrees = np.diff(graph.adjacency.indptr)
    top = int(degrees.max(initial=0)).bit_length()
    counts = np.histogram(degrees, [0, *(2**k for k in range(top + 1))])[0].tolist()
    names = ["degree 0", *(f"degree {2**k}" + (f" to {2 ** (k + 1) - 1}" if k else "") for k in range(top))]
    return _draw_bars(dict(zip(names, counts, strict=False)))


def _draw_classes(labels: Any) -> str:
    return (
        "" if labels is None else _draw_bars(dict(zip(labels.classes, labels.counts.tolist(), strict=True)))
    )


def _draw_points(embedding: Any) -> str:
    """Return some vectors in the plane in which they differ most."""
    n, width = embedding.shape
    if n < 2 or width < 2:
        return ""
    sample = embedding.vectors[np.linspace(0, n - 1, min(n, _MOST_POINTS)).astype(int)]
    dense = np.asarray(sample if isinstance(sample, np.ndarray) else sample.toarray(), dtype=np.float64)
    dense = dense - dense.mean(axis=0)
    # of rows by rows, since there may be far more columns
    points = np.linalg.eigh(dense @ dense.T)[1][:, :-3:-1]
    spread = np.ptp(points, axis=0)
    places = (points - points.min(axis=0)) / np.where(spread > 0, spread, 1) * [_WIDTH - 8, _HEIGHT - 8] + 4
    return _svg("".join(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="1.5"/>' for x, y in places), _HEIGHT)


_PARTS: dict[str, tuple[tuple[str, ...], Callable[[Any], str]]] = {
    "Graph": (("n_nodes", "n_edges", "n_self_loops", "node_ids", "feature_names"), _draw_degrees),
    "Labels": (("n_nodes", "classes", "is_multilabel"), _draw_classes),
    "Relation": (("name", "source_type", "target_type", "directed"), lambda _: ""),
    "Embedding": (("shape", "method", "params", "node_ids"), _draw_points),
    "Split": (("train", "test", "unseen", "seen_labels", "random_state"), lambda _: ""),
    "Data": (("graph", "labels"), lambda data: _draw_classes(data.labels)),
    "Dataset": (("graph", "labels"), lambda data: _draw_classes(data.labels)),
    "Score": ((), lambda score: _draw_bars(score.per_class)),
    "ScoreSummary": ((), lambda summary: _draw_bars(summary.per_class())),
}
"""The attributes that are shown of a value (of others: what they say to JSON), and its picture."""
