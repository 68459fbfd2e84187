"""From the options of a command to a graph, its labels, and the labels an embedding may see."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from unseen.cli import options, skip_pandas
from unseen.cli.options import NAME, As
from unseen.cli.output import print_json, progress
from unseen.data.files import STANDARD
from unseen.data.sources import Options
from unseen.errors import InputError, UsageError, logger, unknown_name
from unseen.params import Limits

if TYPE_CHECKING:
    from unseen.discovery.result import Discovery
    from unseen.embedding import Embedding
    from unseen.graph import Graph
    from unseen.labels import Labels
    from unseen.methods.base import Method


class LoadedGraph(NamedTuple):
    """What a command works on: the graph, its labels if any, and the name to report."""

    name: str
    graph: Graph
    labels: Labels | None


@dataclass(frozen=True)
class GraphFiles:
    """How to read a graph and its labels; the same options in every command."""

    heading: ClassVar[str] = "Input"

    nodes: Annotated[
        Path | None, "File of node ids, also those without an edge: one per line, or node, type."
    ] = None
    features: Annotated[
        list[str] | None,
        As("[TYPE=]FILE"),
        "File of node features. TYPE=FILE gives those of one node type. Repeatable.",
    ] = None
    text: Annotated[Path | None, "File of texts (node, text), whose words become features."] = None
    labels: Annotated[list[Path] | None, "Label file (node, label). Repeat it to combine several files."] = (
        None
    )
    header: options.Header = None
    delimiter: options.Delimiter = None
    symmetrize: Annotated[str, As("max|sum|error"), "How to combine repeated edges."] = "max"
    drop_negative: Annotated[bool, "Drop edges with a negative weight."] = False
    strict: Annotated[bool, "Raise an error if a labelled node has no edge and no features."] = False
    directed: Annotated[bool, "Keep the direction of edges, from src to dst."] = False
    absolute: Annotated[bool, "Use the absolute value of negative weights."] = False
    src: Annotated[str | None, NAME, "Column of the edge file that holds the first node of an edge."] = None
    dst: Annotated[str | None, NAME, "Column that holds the second node of an edge."] = None
    weight: Annotated[str | None, NAME, "Column, or edge attribute, that holds the edge weight."] = None
    node_column: Annotated[
        str | None, NAME, "Column that holds the node id in the files of nodes, features, texts and labels."
    ] = None
    label_column: Annotated[str | None, NAME, "Column, or node attribute, that holds the label."] = None
    edges_table: Annotated[str | None, NAME, "Table of a database that holds the edges."] = None
    missing: Annotated[str, As("median|zero|error"), "What replaces missing numbers among the features."] = (
        "median"
    )
    max_memory: Annotated[
        str | None,
        As("SIZE"),
        "Memory that one file may take, such as 8GB; bounded by its size if not given.",
    ] = None

    def paths(self, source: str | None) -> list[Path]:
        """Return every file that is read, so that none of them is overwritten."""
        files = [source, self.nodes, *self.feature_files().values(), self.text, *(self.labels or [])]
        paths = [Path(path) for path in files if path is not None]
        if sum(str(path) == STANDARD for path in paths) > 1:
            msg = "the standard input (-) can be read only once; name files for the other inputs"
            raise UsageError(msg)
        return paths

    def feature_files(self) -> dict[str, Path]:
        """Return the files of features by node type; a file for all types has the type ""."""
        texts = self.features or []
        if len(texts) == 1 and ("=" not in texts[0] or Path(texts[0]).exists()):
            return {"": Path(texts[0])}
        files: dict[str, Path] = {}
        for text in texts:
            node_type, equals, path = text.partition("=")
            if not equals or not node_type or not path or node_type in files:
                msg = f"several --features must be given as TYPE=FILE, each type once, got {text!r}"
                raise UsageError(msg)
            files[node_type] = Path(path)
        return files

    def refuse(self, *flags: str, why: str) -> None:
        """Raise a `UsageError` if one of these options was given."""
        for flag in flags:
            if getattr(self, flag):
                msg = f"--{flag} needs an edge file; {why}"
                raise UsageError(msg)

    def sources(self) -> dict[str, Any]:
        """Return the files other than the edges, by the names that functions have for them."""
        files = self.feature_files()
        return {"nodes": self.nodes, "features": files.get("", files or None), "labels": self.labels or None}

    def reading(self) -> Options:
        """Return how files are read."""
        values = {each.name: getattr(self, each.name) for each in fields(Options)}
        return Options(**{**values, "delimiter": options.as_delimiter(self.delimiter)})

    def load(self, source: str) -> LoadedGraph:
        """Return the data set of that name, or the graph read from the named files."""
        skip_pandas()
        if is_dataset(source):
            from unseen.data.datasets import load_dataset

            why = f"{source!r} is a data set with its own features and labels"
            self.refuse("nodes", "features", "text", "labels", why=why)
            data = load_dataset(source)
            logger.info("%s: %s, %s", source, data.graph, data.labels)
            return LoadedGraph(data.name, data.graph, data.labels)
        from unseen.data.read import read

        with progress("reading"):
            files = read(Path(source), **self.sources(), text=self.text, **asdict(self.reading()))
        return LoadedGraph(Path(source).name, files.graph, files.labels)

    def load_without_graph(self, path: Path, embedding: Embedding) -> LoadedGraph:
        """Return the nodes of an embedding as a graph without edges, and their labels if there are any."""
        import scipy.sparse as sp

        from unseen.data.read import read_labels
        from unseen.graph import Graph

        self.refuse("nodes", "features", why="name one before --embedding")
        n, labels = len(embedding.node_ids), None
        nodes = Graph(sp.csr_array((n, n)), node_ids=embedding.node_ids)
        if self.labels:
            given: dict[str, Any] = {"header": self.header, "delimiter": options.as_delimiter(self.delimiter)}
            labels = read_labels(self.labels, nodes, **given, where="the embedding")
        return LoadedGraph(path.name, nodes, labels)


@dataclass(frozen=True)
class Hiding:
    """The options that hide labels of a fully labelled graph."""

    heading: ClassVar[str] = "Hiding labels, to test the result"

    unseen: Annotated[str | None, "Classes to hide, separated by commas."] = None
    label_rate: Annotated[
        float | None, "Share of the labels to keep; the others are left for a test. Default: all."
    ] = None

    @property
    def hides(self) -> bool:
        """Whether anything is hidden."""
        return self.unseen is not None or self.label_rate is not None

    def hide_labels(self, data: LoadedGraph, seed: int) -> tuple[Labels | None, dict[str, Any] | None]:
        """Return the labels that an embedding may see, and the record of the split they came from where there is one.

        A label rate draws a split, whose other labels are kept for the test. Without one, all labels of the
        classes that are not hidden stay.
        """
        if not self.hides:
            return data.labels, None
        if data.labels is None:
            msg = "--unseen and --label-rate hide labels, but there are none; give them with --labels"
            raise UsageError(msg)
        from unseen.splits import completely_imbalanced_split, describe_split

        hidden, record = options.split_names(self.unseen), None
        if self.label_rate is None:
            if set(data.labels.classes) <= set(hidden):
                msg = f"all {len(data.labels.classes)} classes are unseen; --unseen must leave at least one class"
                raise InputError(msg)
            visible = data.labels.keep(data.labels.labelled, without=hidden)
        else:
            rates: dict[str, Any] = {"label_rate": self.label_rate, "unseen": hidden}
            split = completely_imbalanced_split(data.labels, **rates, random_state=seed)
            visible, record = split.seen_labels, describe_split(split, self.label_rate)
        logger.info(
            "hidden classes: %s; %d of %d labelled nodes are used",
            ", ".join(hidden) or "none",
            len(visible.labelled),
            len(data.labels.labelled),
        )
        return visible, record


@dataclass(frozen=True)
class VectorSource:
    """The embedding that discovery works with: that of a method, or of a file."""

    heading: ClassVar[str] = "Embedding"

    method: Annotated[str | None, "Method of the embedding, see `unseen methods`. Default: smoothfeats."] = (
        None
    )
    embedding: Annotated[Path | None, "File of an embedding to use, of this or any other tool."] = None
    param: options.Param = None

    def choose_method(self, seed: int) -> Method | Embedding | None:
        """Return a method, the embedding of a file, or None for the default."""
        chosen = self.method is not None or bool(self.param)
        if self.embedding is not None:
            if chosen:
                msg = (
                    "--embedding cannot be combined with --method or --param; leave out --method and --param"
                )
                raise UsageError(msg)
            return load_embedding(self.embedding)
        if not chosen:
            return None
        from unseen.methods.registry import make_method

        method = self.method or "smoothfeats"
        return make_method(method, **options.parse_parameters(self.param, method), random_state=seed)


@dataclass(frozen=True)
class NewClasses:
    """What is known about the missing classes."""

    heading: ClassVar[str] = "Missing classes"
    classes: Annotated[int | None, Limits(0), "Number of candidate classes. Default: estimated."] = None
    name: Annotated[
        list[str] | None,
        As("NAME: DESCRIPTION"),
        "A missing class that is known by name, with words that describe it. Repeatable.",
    ] = None
    names: Annotated[Path | None, "File of such names: a csv with the columns name, description."] = None
    encoder: Annotated[
        Path | None,
        "File of word vectors, for names whose words no node has: a word and its numbers per line.",
    ] = None
    fdr: Annotated[
        float,
        Limits(0, 1),
        "False discovery rate: lists of selected nodes are on average at most this share false.",
    ] = 0.1
    rates: Annotated[
        Literal["same", "differ"],
        "same: classes were labelled at about the same rate. differ: labels were drawn at random within each class.",
    ] = "same"

    def arguments(self) -> dict[str, Any]:
        """Return the arguments that discovery takes."""
        from unseen.data.words import StaticEncoder

        names = parse_names(self.name or [], self.names)
        encoder = None if self.encoder is None else StaticEncoder.read(self.encoder)
        given = {"n_classes": self.classes, "fdr": self.fdr, "rates": self.rates}
        return {**given, "names": names, "encoder": encoder}


def parse_names(entries: Iterable[str], path: str | Path | None = None) -> dict[str, str]:
    """Return names and descriptions, of entries ``NAME: DESCRIPTION`` and of a csv file with these columns.

    A name given twice is an error.

    Examples
    --------
    >>> parse_names(["mail: read and compose e-mail", "sound"])
    {'mail': 'read and compose e-mail', 'sound': ''}
    """
    from unseen.data.opened import File
    from unseen.data.sources import find_file
    from unseen.data.text import plain

    pairs = [entry.partition(":")[::2] for entry in entries]
    if path is not None:
        file = File(find_file(path, "names"), "names")
        rows = csv.DictReader(io.StringIO(plain(file.read(), file.name).decode(), newline=""))
        columns = rows.fieldnames or ()
        if not {"name", "description"} <= set(columns):
            there = f"has the columns {', '.join(columns)}" if columns else "is empty"
            msg = f"{file.name} {there}; names are a csv file with the columns name,description"
            raise InputError(msg)
        pairs += [(row["name"] or "", row["description"] or "") for row in rows]
    names: dict[str, str] = {}
    for name, description in pairs:
        if name.strip() in names:
            msg = f"the name {name.strip()!r} is given twice; put all its words into one description"
            raise InputError(msg)
        names[name.strip()] = description.strip()
    return names


@dataclass(frozen=True)
class Settings(options.Common, VectorSource, Hiding, GraphFiles):
    """All options that the commands which look for missing classes share; a project file may hold them."""

    heading: ClassVar[str] = "Input"
    target: Annotated[str | None, "Type of nodes to look at. Default: the types that have labels."] = None


@dataclass(frozen=True)
class Search(Settings):
    """The same, from the command line or a project file."""

    project: options.Project = None

    def load_search(
        self, source: str, *outputs: Path | None, every_node: bool = False
    ) -> tuple[LoadedGraph, Labels | None, Method | Embedding | None]:
        """Return the data, the labels that may be seen, and the method, restricted to the node types of the search.

        Outputs are checked first; tables with a row for every node have more formats.
        """
        from unseen.discovery.targets import PREDICTIONS, SUFFIXES, check_target

        options.refuse_two_outputs(self.json, *outputs)
        for path in filter(None, outputs):
            inputs = [*self.paths(source), self.embedding]
            check_target(path, inputs, PREDICTIONS if every_node else SUFFIXES)
        method = self.choose_method(self.seed)
        data = self.load(source)
        labels, _ = self.hide_labels(data, self.seed)
        if data.graph.node_types is None and self.target is None:
            return data, labels, method
        from unseen.discovery.vectors import searched

        graph, part, embedding = searched(data.graph, labels, method, self.target, self.seed)
        truth = part if data.labels is None or labels is data.labels else data.labels.of_nodes(graph.node_ids)
        return LoadedGraph(data.name, graph, truth), part, embedding

    def find_classes(
        self, data: LoadedGraph, labels: Labels | None, method: Any, new: NewClasses
    ) -> Discovery:
        """Look for missing classes, with a progress bar."""
        if labels is None:
            msg = "there are no labels; give those of at least one class with --labels"
            raise InputError(msg)
        from unseen.discovery.discover import discover

        arguments = {"method": method, "random_state": self.seed, **new.arguments()}
        with progress("leaving out each class in turn") as move:
            return discover(data.graph, labels, on_step=move, **arguments)

    def print_report(self, data: LoadedGraph, content: Mapping[str, Any]) -> None:
        """Print the JSON report of a search."""
        print_json({"source": data.name, "seed": self.seed, **content})


def load_embedding(path: Path) -> Embedding:
    """Return the embedding in a file of this or any other tool."""
    skip_pandas()
    from unseen.data.vectors import read_embedding

    return read_embedding(path)


def is_dataset(source: str) -> bool:
    """Whether `source` names a data set and not a file; any other word is an error that names the nearest."""
    path = Path(source)
    if source == STANDARD or path.exists():
        return False
    from unseen.data.datasets import dataset_names, is_dataset_name

    known = is_dataset_name(source)
    if not known and path.suffix == "" and path.parent == Path():
        from unseen.data.sources import missing_file

        raise missing_file(path, str(unknown_name("data set", source, dataset_names())))
    return known
