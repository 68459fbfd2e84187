"""`unseen explore`: one HTML file that shows a graph, what its labels miss, and what to label next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from unseen.cli import options
from unseen.cli.inputs import GraphFiles, NewClasses, Search
from unseen.cli.output import print_json, progress
from unseen.data.files import STANDARD, refuse_overwriting, require_writable
from unseen.errors import OutputError, logger
from unseen.params import Limits

if TYPE_CHECKING:
    from unseen.explorer import Subject
    from unseen.graph import Graph
    from unseen.labels import Labels

OUTPUT = Path("explorer.html")
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

        table = None if self.attributes is None else read_attributes(self.attributes)
        if self.title_column is None:
            return {"attributes": table}
        paths = [path for path in (files.text, files.nodes, self.attributes) if path is not None]
        return {"attributes": table, "titles": read_titles(self.title_column, paths, files.node_column)}


@options.command
def explore(
    source: Annotated[
        str | None, "An edge file, or the name of a data set; not needed with --embedding."
    ] = None,
    *,
    output: Annotated[Path, "Page to write (.html); - writes to stdout."] = OUTPUT,
    budget: Annotated[int, Limits(0), "Number of nodes to suggest for labelling."] = BUDGET,
    title: Annotated[str | None, "Heading of the page."] = None,
    shown: PageOptions,
    new: NewClasses,
    search: Search,
) -> None:
    """Write an HTML page: a map of all nodes, the candidate classes, and which nodes to label next."""
    options.refuse_two_outputs(search.json, output)
    if output.suffix.lower() not in SUFFIXES and str(output) != STANDARD and not output.is_dir():
        msg = f"cannot write {output}: the page is HTML; name a file that ends in .html, e.g. {output.stem}.html"
        raise OutputError(msg)
    refuse_overwriting(output, [*search.paths(source), search.embedding, shown.attributes])
    require_writable(output, example=OUTPUT.name)
    extras = shown.read(search)
    name, subject = load_subject(search, source, budget, new)

    from unseen.explorer import write_explorer

    about = "map of the nodes" if subject.discovery is None else "what do the labels miss?"
    heading = title or f"{name}: {about}"
    with progress("drawing the map") as move:
        page = write_explorer(
            replace(subject, **extras),
            output,
            title=heading,
            max_nodes=shown.max_nodes,
            random_state=search.seed,
            on_progress=move,
        )
    if str(output) != STANDARD:
        logger.info("open it with a double click, or: xdg-open %s (open on a Mac, start on Windows)", page)
    if search.json:
        result = subject.discovery
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
    labels = search.hide_labels(data, search.seed)[0]
    graph = None if source is None else data.graph
    return data.name, find_subject(graph, labels, method, search.page_options(data, labels, budget, new))


def find_subject(
    graph: Graph | None, labels: Labels | None, method: Any, options: Mapping[str, Any]
) -> Subject:
    """Return what a page shows: the embedding and what the labels miss, with a progress bar."""
    from unseen.embedding import Embedding
    from unseen.explorer.subject import prepare

    given: dict[str, Any] = {"embedding" if isinstance(method, Embedding) else "method": method}
    with progress("looking for missing classes") as move:
        return prepare(graph, labels, on_step=move, **given, **options)
