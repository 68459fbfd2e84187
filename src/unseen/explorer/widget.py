"""The map as an anywidget: the page in a frame, and messages between it and the kernel."""

from __future__ import annotations

from html import escape
from typing import Any

import anywidget
import numpy as np
import pyarrow as pa
import traitlets

from unseen.embedding import Embedding
from unseen.errors import UnseenError
from unseen.explorer.colours import PALETTE
from unseen.explorer.content import Content, as_json, unpack
from unseen.explorer.html import render_widget
from unseen.explorer.subject import Subject
from unseen.explorer.view import MapView

MOST_POINTS = 1000
"""Nodes in the picture that is saved in a notebook."""


class MapWidget(MapView, anywidget.AnyWidget):  # type: ignore[misc]
    """A view whose selection, questions and answers are those of the page on the screen.

    Attributes
    ----------
    selection : pyarrow.Table
        As for :class:`MapView`; `observe` it to hear of changes.
    revision : int
        Changes with every answer; `observe` it to hear of answers.
    """

    selection = traitlets.Any().tag(
        sync=True,
        to_json=lambda selection, _: [str(node) for node in selection["node"].to_pylist()],
        from_json=lambda ids, widget: widget.describe_nodes(ids),
    )
    revision = traitlets.Int(0).tag(sync=True)
    _content = traitlets.Unicode().tag(sync=True)

    def __init__(self, subject: Subject, vectors: Embedding | None, options: Content) -> None:
        MapView.__init__(self, subject, vectors, options)
        server = {"file": "", "answers": 0, "notebook": True}
        anywidget.AnyWidget.__init__(
            self, _esm=render_widget(), _content=as_json({**self._page, "server": server}), selection=()
        )
        self.on_msg(self._receive)

    __repr__ = MapView.__repr__

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Return the widget, and a picture for where there is no kernel, as in a notebook on a website."""
        bundle = super()._repr_mimebundle_(**options)
        if bundle is not None:
            bundle[0]["text/html"] = draw_svg(self._page)
        return bundle

    @traitlets.validate("selection")  # type: ignore[untyped-decorator]
    def _check_selection(self, proposal: dict[str, Any]) -> pa.Table:
        return self.describe_nodes(proposal["value"])

    def _receive(self, _: object, message: Content, __: object) -> None:
        """Do what the page asks for and reply with the state, or with the sentence of the error."""
        name, asked = message.get("name"), message.get("body") or {}
        reply: Content = {"id": message.get("id")}
        try:
            if name == "state":
                reply["state"] = self._session.state(asked.get("revision"), asked.get("findings"))
            else:
                reply["state"] = self._session.act(str(name), asked)
                if name == "update":
                    reply["state"] = self._state_after_update()
        except UnseenError as error:
            reply["error"] = str(error)
        self.send(reply)

    def _on_step(self, done: int, total: int) -> None:
        super()._on_step(done, total)
        self.send({"state": self._session.state(len(self._answers.changes))})

    def update(self) -> None:  # noqa: D102
        super().update()
        self.send({"state": self._state_after_update()})

    def _state_after_update(self) -> Content:
        """Return the state with what the last update found."""
        return self._session.state(len(self._answers.changes), self._updater.number - 1)


def draw_svg(page: Content) -> str:
    """Return a small picture of the map as it was at the start, with its heading."""
    side, shown = 480, np.linspace(0, len(page["ids"]) - 1, min(len(page["ids"]), MOST_POINTS)).astype(int)
    x, y = (unpack(page[name])[shown] / 65535 * (side - 16) + 8 for name in "xy")
    first, colours = page["colourings"][0], []
    for each in first["categories"]:
        scale, place = ("steps", each["step"]) if "step" in each else ("classes", each["colour"])
        colours.append(PALETTE["quiet"]["light"] if each["quiet"] else PALETTE[scale]["light"][place])
    dots = "".join(
        f'<circle cx="{a:.0f}" cy="{b:.0f}" r="2" fill="{colours[code]}"/>'
        for a, b, code in zip(x, y, unpack(first["codes"])[shown], strict=True)
    )
    heading = escape(f"{page['title']} ({page['subtitle']})")
    return (
        f"<p>{heading}</p>"
        f'<svg width="{side}" height="{side}" role="img" style="background:{PALETTE["map"]["light"]}">'
        f"{dots}</svg><p>Run the cell to select and label nodes on the map.</p>"
    )
