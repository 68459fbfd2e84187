"""What a notebook shows of a value: a small table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

_MOST_ROWS = 50
_FACTS = {
    "Graph": ("n_nodes", "n_edges", "n_self_loops", "node_ids", "feature_names"),
    "Labels": ("n_nodes", "classes", "counts", "is_multilabel"),
    "Relation": ("name", "source_type", "target_type", "directed"),
    "Embedding": ("shape", "method", "params", "node_ids"),
    "Split": ("train", "test", "unseen", "seen_labels", "random_state"),
    "Data": ("graph", "labels"),
    "Dataset": ("graph", "labels"),
}
"""The attributes that are shown of a value; of others it is what they say to JSON."""


def as_html(value: Any) -> str:
    """Return a value as HTML, for ``_repr_html_``.

    Examples
    --------
    >>> import unseen
    >>> as_html(unseen.Labels.from_values(["red", None]))[:31]
    '<div class="unseen"><b>Labels(2'
    """
    names = next((_FACTS[kind.__name__] for kind in type(value).__mro__ if kind.__name__ in _FACTS), ())
    facts = {name: getattr(value, name) for name in names} or value.to_dict()
    rows = "".join(
        f"<tr><th>{escape(name.replace('_', ' '))}</th><td>{escape(_shorten(fact))}</td></tr>"
        for name, fact in facts.items()
        if fact is not None
    )
    return f'<div class="unseen"><b>{escape(_shorten(repr(value)))}</b><table>{rows}</table></div>'


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
        for row in rows[:_MOST_ROWS]
    )
    table = f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>" if rows else ""
    more = f"<p>{len(rows) - _MOST_ROWS} more</p>" if len(rows) > _MOST_ROWS else ""
    return f'<div class="unseen"><p>{escape(title)}</p>{table}{more}</div>'


def _shorten(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        value = [f"{key}={_shorten(each)}" for key, each in value.items()]
    if isinstance(value, Iterable) and not isinstance(value, str):
        listed = [str(each) for each in value]
        more = f", ... ({len(listed)} in all)" if len(listed) > 6 else ""
        return ", ".join(listed[:6]) + more
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."
