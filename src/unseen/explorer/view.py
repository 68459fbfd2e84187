"""The map in a notebook: what Python and the page know of each other; the widget itself is in `widget.py`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from unseen.data.files import AnyPath
from unseen.data.labels_file import QUESTION_COLUMNS
from unseen.data.tables import id_array
from unseen.embedding import Embedding
from unseen.errors import InputError, counted
from unseen.explorer.build import build_page, findings
from unseen.explorer.content import Content
from unseen.explorer.html import render_page, write_explorer
from unseen.explorer.label.answers import AnswerLog
from unseen.explorer.label.session import DirectUpdater, Session
from unseen.explorer.layout import Progress, graph_without_edges
from unseen.explorer.subject import Subject, UpdateJob, prepare
from unseen.graph import Graph
from unseen.ids import as_ids
from unseen.labels import Labels
from unseen.methods.base import Method
from unseen.randomness import RandomState

MAX_NODES = 100_000
"""Nodes of a map in a notebook, whose servers drop larger messages; of more, a random sample is drawn."""
ANSWER_COLUMNS = QUESTION_COLUMNS[:6]


def explore(
    graph: Graph | Any,
    labels: Labels | Any = None,
    *,
    embedding: Embedding | None = None,
    method: str | Method | None = None,
    truth: Labels | None = None,
    target: str | None = None,
    budget: int = 20,
    random: int = 0,
    n_classes: int | None = None,
    names: Mapping[str, str] | None = None,
    encoder: Any = None,
    fdr: float = 0.1,
    rates: Literal["same", "differ"] = "same",
    random_state: RandomState = 0,
    on_step: Progress = None,
) -> MapView:
    """Show the map of a graph in a notebook, with what the labels miss and which nodes to label next.

    With anywidget (the extra `notebook`), what is selected and answered on the map is known to Python at once.
    Without it, the notebook shows the page that `unseen explore` writes.

    Parameters
    ----------
    graph : Graph, anything that holds edges, or None
        None where there is an embedding alone.
    labels : Labels, dict, pandas series or list, optional
        What is known. Without labels, or with labels for all nodes, there is nothing to discover.
    embedding : Embedding, optional
        Vectors made by any tool, for the nodes that it has.
    method : str or Method, optional
        Method to make vectors with; the default of :func:`unseen.discover` if not given.
    truth : Labels, optional
        Labels that were hidden on purpose: shown to the reader, kept from everything else.
    target : str, optional
        Type of nodes to look at, as for :func:`unseen.discover`; the others can be shown on the page too.
    budget, random : int
        Number of nodes to suggest, and of random ones to add, as for :func:`unseen.suggest`.
    n_classes, names, encoder : optional
        Number and names of missing classes, and what their words mean, as for :func:`unseen.discover`.
    fdr, rates
        Error rate of the list of selected nodes, and how classes were labelled, as for :func:`unseen.discover`.
    random_state : None, int or Generator
        Seed.
    on_step : callable, optional
        Called with the progress of discovery.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.planted_partition(40, 2, random_state=0)
    >>> view = unseen.explore(data.graph, budget=3)
    >>> view.selection = [1, 2]
    >>> view.selection.column("node").to_pylist(), view.questions.num_rows, view.answers.num_rows
    ([1, 2], 3, 0)
    """
    options: Content = {"truth": truth, "target": target, "budget": budget, "random": random}
    options |= {"n_classes": n_classes, "names": names, "encoder": encoder, "fdr": fdr, "rates": rates}
    options["random_state"] = random_state
    subject = prepare(graph, labels, embedding=embedding, method=method, on_step=on_step, **options)
    fixed = subject.embedding if embedding is not None or method is not None else None
    if find_spec("anywidget") is None:
        return MapView(subject, fixed, options)
    from unseen.explorer.widget import MapWidget

    return MapWidget(subject, fixed, options)


class MapView:
    """The map of a graph, as :func:`unseen.explore` returns it; a notebook shows it.

    Attributes
    ----------
    subject : Subject
        The embedding, and what was found at the last update.
    selection : pyarrow.Table
        The selected nodes: ``node, label, status, likely_class, unseen_probability, group``. Assign node ids, or a
        table with a column `node`, to select them on the map.
    """

    def __init__(self, subject: Subject, vectors: Embedding | None, options: Content) -> None:
        self.subject, self._vectors, self._options = subject, vectors, options
        self._graph = subject.graph or graph_without_edges(subject.embedding.node_ids)
        self._ids = {str(node): node for node in self._graph.node_ids.tolist()}
        self._answers = AnswerLog(self._graph.node_ids.tolist(), subject.labels)
        questions = [{**each.to_dict(), "node": str(each.node)} for each in subject.suggestions or ()]
        self._updater = DirectUpdater(self._compute_update)
        self._session = Session(self._answers, self._updater, questions)
        self._selected: pa.Table | None = None
        self._read_findings()

    def __repr__(self) -> str:
        return f"<unseen.explore: {counted(len(self.subject.embedding), 'node')}>"

    def _repr_html_(self) -> str:
        """Return the page in a frame, which a notebook without anywidget shows."""
        page = escape(render_page(self._page))
        return f'<iframe srcdoc="{page}" width="100%" height="640" style="border:0"></iframe>'

    @property
    def selection(self) -> pa.Table:
        """The selected nodes; assign node ids to select them."""
        return self.describe_nodes(()) if self._selected is None else self._selected

    @selection.setter
    def selection(self, nodes: Any) -> None:
        self._selected = self.describe_nodes(nodes)

    @property
    def answers(self) -> pa.Table:
        """The answers given on the map, with the columns of a label file; :func:`unseen.read` takes it as labels."""
        rows: list[dict[str, Any]] = []
        changed = [node for entry in self._answers.changes for node, _ in entry]
        for node in reversed(dict.fromkeys(reversed(changed))):  # in the order of the last answers
            answer, replaced = self._answers.value(node), self._answers.replaced_labels(node)
            if answer == self._answers.start.get(node):
                continue
            names = answer.labels or ("",)
            for k in range(max(len(names), len(replaced))):
                row: dict[str, Any] = {"node": self._ids[node], "label": names[min(k, len(names) - 1)]}
                row["replaces"] = replaced[k] if k < len(replaced) else ""
                if k == 0:
                    row |= {"status": answer.status, "drawn": answer.drawn, "pool": answer.pool or None}
                rows.append(row)
        return self._as_table(rows, ANSWER_COLUMNS)

    @property
    def questions(self) -> pa.Table:
        """The questions of the last update, with the columns of `unseen suggest -o questions.csv`."""
        rows = [{**each, "node": self._ids[str(each["node"])]} for each in self._session.questions()]
        return self._as_table(rows, QUESTION_COLUMNS)

    @property
    def labels(self) -> Labels:
        """All labels: those of the start, and the answers."""
        return self._answers.labels().align_to(self._graph)

    @property
    def discovery(self) -> Any:
        """What :func:`unseen.discover` found at the last update; None where there was nothing to discover."""
        return self.subject.discovery

    def update(self) -> None:
        """Compute again what the labels miss, with all answers, and show it on the map."""
        self._session.act("update", {})

    def _compute_update(self, labels: Labels) -> Content:
        job = UpdateJob(self._graph, self._vectors, as_ids(self._page["ids"]), self._options)
        self.subject = job.run(labels, self._on_step)
        self._read_findings()
        self.selection = self.selection  # what is known about the same nodes now
        return findings(self.subject, job.ids)

    def save(self, path: AnyPath, *, title: str | None = None) -> Path:
        """Write the page, with all answers, to an HTML file."""
        subject, seed = replace(self.subject, labels=self.labels), self._options["random_state"]
        return write_explorer(subject, path, title=title or self._title, random_state=seed)

    def describe_nodes(self, nodes: Any) -> pa.Table:
        """Return a table of what is known about some nodes: ids, or a table with a column `node`."""
        if hasattr(nodes, "column_names") or hasattr(nodes, "columns"):
            nodes = nodes["node"]
        values = nodes.to_pylist() if hasattr(nodes, "to_pylist") else list(nodes)
        missing = next((node for node in values if str(node) not in self._ids), None)
        if missing is not None:
            msg = f"cannot select {missing!r}: the graph has no such node"
            raise InputError(msg)
        rows = []
        for node in dict.fromkeys(map(str, values)):
            answer = self._answers.value(node)
            row = {"node": self._ids[node], "label": "|".join(answer.labels), "status": answer.status}
            rows.append(row if answer.labels else {**self._found.get(node, {}), **row})
        return self._as_table(
            rows, ("node", "label", "status", "likely_class", "unseen_probability", "group")
        )

    def _read_findings(self) -> None:
        """Keep what was found about each node."""
        found = [] if self.discovery is None else self.discovery.nodes.to_pylist()
        self._found = {str(row["node"]): row for row in found}

    @property
    def _title(self) -> str:
        about = "map of the nodes" if self.discovery is None else "what do the labels miss?"
        return f"{counted(len(self.subject.embedding), 'node')}: {about}"

    @cached_property
    def _page(self) -> Content:
        """The page as it was at the start; an update changes what was found and nothing else."""
        seed = self._options["random_state"]
        return build_page(self.subject, title=self._title, max_nodes=MAX_NODES, random_state=seed)

    def _as_table(self, rows: list[dict[str, Any]], names: Iterable[str]) -> pa.Table:
        kinds = {"node": id_array(self._graph.node_ids[:0]).type, "pool": pa.int64()}
        kinds["unseen_probability"] = pa.float64()
        columns = {name: [row.get(name) for row in rows] for name in names}
        return pa.table({name: pa.array(v, kinds.get(name, pa.string())) for name, v in columns.items()})

    def _on_step(self, done: int, total: int) -> None:
        self._updater.progress |= {"done": done, "total": total}
