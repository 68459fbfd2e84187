"""Formulas as MathML, which browsers draw themselves: no script, and nothing from the network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def _formula(writer: Any, node: nodes.Element, display: str) -> None:
    writer.body.append(convert(node.astext(), display=display))
    raise nodes.SkipNode


def _inline(writer: Any, node: nodes.math) -> None:
    _formula(writer, node, "inline")


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    writer.body.append(convert(node.astext(), display="block"))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Add the renderer."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
