"""`unseen explore`: one HTML file that shows a graph, what its labels miss, and what to label next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from unseen.cli import options
from unseen.cli.inputs import GraphFiles, LoadedGraph, NewClasses, Search
from unseen.cli.output import print_json, progress
from unseen.data.files import STANDARD
from unseen.errors import OutputError, logger
from unseen.params import Limits

if TYPE_CHECKING:
    from unseen.explorer import Subject
    from unseen.labels import Labels

SUFFIXES = (".html", ".htm")
BUDGET = 20


@dataclass(frozen=True)
class PageOptions:
    """What a page shows in addition to the graph and the findings."""

    heading: ClassVar[str] = "Page"
    max_nodes: Annotated[int, Limits(1), "Draw a random sample if the graph has more nodes than this."] = (
        1_000_000
    )
    attributes: Annotated[
        Path | None, "Table with a column `node`; its other columns can colour the map."
    ] = None
    title_column: Annotated[
        str | None,
        options.NAME,
        "Column with the title of each node, in the file of nodes, texts or attributes.",
    ] = None

    def read(self, files: GraphFiles) -> dict[str, Any]:
        """Return attributes and titles as the page takes them."""
        from unseen.explorer.colours import read_attributes, read_titles

        paths = [path for path in (files.text, files.nodes, self.attributes) if path is not None]
        return {
            "attributes": None if self.attributes is None else read_attributes(self.attributes),
            "titles": None
            if self.title_column is None
            else read_titles(self.title_column, paths, files.node_column),
        }


@options.command
def explore(
    source: Annotated[
        str | None, "An edge file, or the name of a data set; not needed with --embedding."
    ] = None,
    *,
    output: Annotated[Path, "Page to write (.html); - writes to stdout."] = Path("explorer.html"),
    budget: Annotated[int, Limits(0), "Number of nodes to suggest for labelling."] = BUDGET,
    title: Annotated[str | None, "Heading of the page."] = None,
    shown: PageOptions,
    new: NewClasses,
    search: Search,
) -> None:
    """Write an HTML page: a map of all nodes, the candidate classes, and which nodes to label next."""
    if output.suffix.lower() not in SUFFIXES and str(output) != STANDARD and not output.is_dir():
        msg = f"cannot write {output}: the page is HTML; name a file that ends in .html, e.g. {output.stem}.html"
        raise OutputError(msg)
    inputs = [*search.paths(source), search.embedding, shown.attributes]
    options.check_outputs(search.json, inputs, output, example="explorer.html")
    extras = shown.read(search)
    name, subject = load_subject(search, source, budget, new)

    from unseen.explorer import write_explorer

    result = subject.discovery
    heading = title or f"{name}: {'map of the nodes' if result is None else 'what do the labels miss?'}"
    settings: dict[str, Any] = {"title": heading, "max_nodes": shown.max_nodes, "random_state": search.seed}
    with progress("drawing the map") as move:
        page = write_explorer(replace(subject, **extras), output, **settings, on_progress=move)
    if str(output) != STANDARD:
        logger.info("open it with a double click, or: xdg-open %s (open on a Mac, start on Windows)", page)
    if search.json:
        report = {
            "output": str(page),
            "bytes": page.stat().st_size,
            "nodes": len(subject.embedding.node_ids),
            "method": subject.embedding.method,
            "count": None if result is None else result.count.to_dict(),
            "classes": [] if result is None else [each.to_dict() for each in result.classes],
            "suggestions": [each.to_dict() for each in subject.suggestions or ()],
        }
        print_json(report)


def load_subject(search: Search, source: str | None, budget: int, new: NewClasses) -> tuple[str, Subject]:
    """Return the name of the data and what a page shows of them; without a source, of the embedding alone."""
    method: Any = search.choose_method(search.seed)
    path = cast(Path, search.embedding)  # there is one, or a source
    data = search.load_without_graph(path, method) if source is None else search.load(source)
    labels, arguments = page_arguments(search, data, budget, new)
    return data.name, find_subject(None if source is None else data, labels, method, arguments)


def page_arguments(
    search: Search, data: LoadedGraph, budget: int, new: NewClasses
) -> tuple[Labels | None, dict[str, Any]]:
    """Return the labels that may be seen, and the arguments of :func:`unseen.explore` that follow from options."""
    labels, _ = search.hide_labels(data, search.seed)
    truth = None if labels is data.labels else data.labels
    own = {"truth": truth, "target": search.target, "budget": budget, "random_state": search.seed}
    return labels, {**own, **new.arguments()}


def find_subject(
    data: LoadedGraph | None, labels: Labels | None, method: Any, arguments: dict[str, Any]
) -> Subject:
    """Return what a page shows: the embedding and what the labels miss, with a progress bar."""
    from unseen.embedding import Embedding
    from unseen.explorer.subject import prepare

    source = {"embedding" if isinstance(method, Embedding) else "method": method}
    with progress("looking for missing classes") as move:
        return prepare(None if data is None else data.graph, labels, on_step=move, **source, **arguments)
