"""Where data comes from: the table of formats, and sources that are read once.

A format is one entry of `FORMATS`. Its reader turns an opened `File` into batches: a `Table` of columns with
places, or a `MatrixBatch`. What the columns mean is the business of :mod:`unseen.data.roles`.
"""

from __future__ import annotations

import codecs
import difflib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast, get_args

from unseen.data.files import STANDARD
from unseen.data.opened import File, bare_name, data_suffix
from unseen.errors import InputError, logger

if TYPE_CHECKING:
    from unseen.data.tables import MatrixBatch, Table
    from unseen.weights import Symmetrize

Role = Literal["edges", "nodes", "features", "labels", "vectors"]
"""What a source is read as."""
Batches = Iterator["Table | MatrixBatch"]
Reader = Callable[["File", Role, "Options", "int | None"], Batches]
"""From a file, its role, the options and the bytes of a batch (None: all at once) to batches in their order."""

GRAPH_FILE, GROUP_FILE, FEATURE_FILE = "graph.txt", "group.txt", "features.npz"
"""The files of a folder in the authors' format."""

JSON_LINES = (".jsonl", ".ndjson")

_ADVICE = {
    **dict.fromkeys(
        (".xlsx", ".xls", ".ods"),
        'save the sheet as .csv, or run: python -c "import pandas; '
        "pandas.read_excel('{}').to_csv('{}.csv', index=False)\"",
    ),
    **dict.fromkeys((".pkl", ".pickle"), "a pickle may run any code: write a .parquet where it was made"),
    **dict.fromkeys((".pt", ".pth"), "Graph.from_pyg takes a PyTorch Geometric object"),
    **dict.fromkeys((".rds", ".rda", ".rdata"), "in R: write.csv, or arrow::write_parquet"),
    **dict.fromkeys((".h5", ".hdf5"), "AnnData is .h5ad; other arrays go as .npz"),
    **dict.fromkeys((".dot", ".gv"), "networkx reads it with pydot, and writes .graphml"),
}
"""Suffixes of other tools, and the way from there."""


Missing = Literal["median", "zero", "error"]
"""What to put in place of missing numbers among the features."""


class OptionNames(TypedDict, total=False):
    """The options as keyword arguments, for functions that hand them on."""

    header: bool | None
    delimiter: str | None
    symmetrize: Symmetrize
    drop_negative: bool
    strict: bool
    directed: bool
    absolute: bool
    src: str | None
    dst: str | None
    weight: str | None
    node_column: str | None
    label_column: str | None
    edges_table: str | None
    missing: Missing
    max_memory: int | str | None


@dataclass(frozen=True)
class Options:
    """How sources are read; :func:`unseen.read` says what each option means."""

    header: bool | None = None
    delimiter: str | None = None
    symmetrize: Symmetrize = "max"
    drop_negative: bool = False
    strict: bool = False
    directed: bool = False
    absolute: bool = False
    src: str | None = None
    dst: str | None = None
    weight: str | None = None
    node_column: str | None = None
    label_column: str | None = None
    edges_table: str | None = None
    missing: Missing = "median"
    max_memory: int | str | None = None

    def column_names(self, role: str) -> dict[str, str]:
        """Return the names that were given for columns of a role, by what they stand for."""
        given = {"src": self.src, "dst": self.dst, "weight": self.weight}
        if role != "edges":
            given = {"node": self.node_column, "label": self.label_column if role == "labels" else None}
        return {usual: name for usual, name in given.items() if name}

    @property
    def label_names(self) -> set[str]:
        """The names of columns that hold labels in any table, in lower case."""
        return {"label", *([self.label_column.strip().lower()] if self.label_column else [])}

    def __post_init__(self) -> None:
        from unseen.weights import check_symmetrize

        check_symmetrize(self.symmetrize)
        if self.missing not in get_args(Missing):
            msg = f"`missing` (--missing) must be 'median', 'zero' or 'error', got {self.missing!r}"
            raise InputError(msg)
        if self.drop_negative and self.absolute:
            msg = "`drop_negative` (--drop-negative) and `absolute` (--absolute) do not go together; give one"
            raise InputError(msg)
        character = self.delimiter
        if character is None:
            return
        usable = isinstance(character, str) and len(character) == 1 and character.isascii()
        if not usable or character in '"\n\r\0#':
            msg = f"`delimiter` must be one character such as ',', ';', ' ' or a tab, got {character!r}"
            raise InputError(msg)


@dataclass(frozen=True)
class Format:
    """One entry of `FORMATS`.

    Attributes
    ----------
    name : str
        What messages call the format.
    suffixes : tuple of str
        Ends of file names in lower case, ``.gz`` aside; a whole name such as ``group.txt`` counts, too.
    roles : tuple of str
        What it can be read as.
    reader : callable or str
        A `Reader`, or where it stands as ``module:function`` (imported when it is needed; a module without dots
        is one of this package).
    writers : mapping or str
        From the role that is written to the function that writes it, given in the same way; one text is for all roles.
    graph : bool
        Whether a file of it is a graph, whatever else can be read from it; `convert` need not look then.
    """

    name: str
    suffixes: tuple[str, ...]
    roles: tuple[Role, ...]
    reader: Reader | str
    writers: Any = field(default_factory=dict[str, Callable[..., Any] | str])
    graph: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.writers, str):
            self.__dict__["writers"] = dict.fromkeys(self.roles, self.writers)

    def read(self, file: File, role: Role, options: Options, n_bytes: int | None = None) -> Batches:
        """Return the batches of a file."""
        return cast(Batches, resolve(self.reader)(file, role, options, n_bytes))


_ALL: tuple[Role, ...] = get_args(Role)
_TABLES: tuple[Role, ...] = ("edges", "nodes", "features", "labels")
_ARRAYS: tuple[Role, ...] = ("edges", "features", "vectors")
_LISTS: tuple[Role, ...] = ("edges", "nodes")
_VECTORS: tuple[Role, ...] = ("vectors",)
_WORD2VEC = "vectors:read_word2vec"
_TEXT = {**dict.fromkeys(_TABLES, "writers:as_text"), "vectors": "writers:as_columns"}
_NETWORK = "networks:read", {"edges": "networks:write"}
FORMATS: list[Format] = [
    Format("text", (".csv", ".tab"), _ALL, "text:read", _TEXT),
    Format(
        "text",
        (".tsv", ".txt", ".edges", ".edgelist", ".edgelists", ""),
        _TABLES,
        "text:read",
        "writers:as_text",
    ),
    Format("word2vec text", (".w2v.txt", ".w2v"), _VECTORS, _WORD2VEC, {"vectors": "writers:as_word2vec"}),
    Format("word2vec text", (".txt", ".vec", ".emb", ".embeddings", ""), _VECTORS, _WORD2VEC),
    Format("projector pair", (".tsv",), _VECTORS, "vectors:read_pair", {"vectors": "writers:as_projector"}),
    Format("groups", (GROUP_FILE,), ("labels", "nodes"), "text:read_groups", {"labels": "writers:as_groups"}),
    Format("Parquet", (".parquet", ".pq"), _ALL, "arrow:read_parquet", "writers:as_parquet"),
    Format("numpy", (".npz",), _ARRAYS, "arrays:read_numpy", "writers:as_npz"),
    Format("numpy", (".npy",), ("features", "vectors"), "arrays:read_numpy"),
    Format("Matlab", (".mat",), ("edges", "features", "labels"), "arrays:read_mat", graph=True),
    Format("Matrix Market", (".mtx",), _ARRAYS[:2], "arrays:read_mtx", "writers:as_mtx", True),
    Format("Feather", (".feather", ".arrow", ".ipc"), _ALL, "arrow:read_arrow", "writers:as_arrow"),
    Format("JSON lines", JSON_LINES, _TABLES, "arrow:read_arrow", "writers:as_arrow"),
    Format("GraphML", (".graphml",), _TABLES, *_NETWORK, graph=True),
    Format("GEXF", (".gexf",), _TABLES, *_NETWORK, graph=True),
    Format("GML", (".gml",), _TABLES, *_NETWORK, graph=True),
    Format("Pajek", (".net", ".pajek"), _TABLES, *_NETWORK, graph=True),
    Format("node-link JSON", (".json",), _TABLES, *_NETWORK, graph=True),
    Format("adjacency list", (".adjlist", ".multiline_adjlist"), _LISTS, _NETWORK[0], graph=True),
    Format("LEDA", (".lgr",), _LISTS, _NETWORK[0], graph=True),
    Format("graph6", (".g6", ".s6"), _LISTS, _NETWORK[0], graph=True),
    Format("database", (".sqlite", ".sqlite3", ".db", ".duckdb"), _TABLES, "databases:read", graph=True),
    Format("AnnData", (".h5ad",), _TABLES, "arrays:read_h5ad", graph=True),
    Format("svmlight", (".svmlight", ".svm", ".libsvm"), ("features",), "arrays:read_svmlight"),
]
"""Every format, once. A new one is a new entry (`FORMATS.append(...)`): all commands then read it."""


def resolve(function: Callable[..., Any] | str) -> Callable[..., Any]:
    """Return a function that an entry of `FORMATS` names."""
    if not isinstance(function, str):
        return function
    module, _, name = function.partition(":")
    module = module if "." in module else f".{module}"
    return cast(Callable[..., Any], getattr(import_module(module, "unseen.data"), name))


def metadata_path(vectors: Path) -> Path:
    """Return the name of the projector's file of ids that goes with the file of vectors."""
    return vectors.with_suffix(".metadata.tsv")


def match_formats(path: Path) -> list[tuple[str, Format]]:
    """Return the formats that the name of a file fits, each with its suffix there; the longest suffix comes first."""
    name = bare_name(path)
    ends = (name, Path(name).suffix)
    fitting = [
        (suffix, each)
        for each in FORMATS
        for suffix in each.suffixes
        if suffix in ends or (suffix.startswith(".") and name.endswith(suffix))
    ]
    return sorted(fitting, key=lambda entry: -len(entry[0]))


def find_format(path: Path, role: str) -> Format | None:
    """Return the format that the name of a file to be read says for a role, or None."""
    return next((each for _, each in match_formats(path) if role in each.roles), None)


def format_of(path: Path, role: Role) -> Format:
    """Return the format of a file to be read, or raise the error that lists the suffixes `role` can have."""
    format_ = find_format(path, role)
    if format_ is not None:
        return format_
    suffix = data_suffix(path)
    is_known = suffix in _ADVICE or any(each for each, _ in match_formats(path))
    if role != "vectors" and not is_known and path.is_file():
        start = next(File(path, role).chunks(1 << 16), b"")
        with suppress(UnicodeDecodeError):
            codecs.getincrementaldecoder("utf-8")().decode(start)
            if b"\0" not in start:
                logger.info("%r: the suffix %r is not known; read as text", str(path), suffix)
                return FORMATS[0]
    near, suffixes = _suffixes(suffix, (each for each in FORMATS if role in each.roles))
    way = _ADVICE.get(suffix, f"{near}known are {suffixes}, text also with .gz and .zst")
    advice = way.format(path, path.stem)
    msg = f"{str(path)!r} has the suffix {suffix!r}, which `{role}` cannot be read from; {advice}"
    raise InputError(msg)


def written_format(path: Path, role: Role) -> Format:
    """Return the format of a file to be written, or raise the error that lists the suffixes `role` can have."""
    if str(path) == STANDARD:
        path = Path("stdout.w2v.txt" if role == "vectors" else "stdout.csv")
    fitting = [(suffix, each) for suffix, each in match_formats(path) if each.writers]
    own = next((entry for entry in fitting if role in entry[1].writers), None)
    what = "graphs" if role == "edges" else role
    if own is None:
        near, suffixes = _suffixes(data_suffix(path), (f for f in FORMATS if role in f.writers))
        more = ", or a folder for graph.txt and group.txt" if role == "edges" else ""
        if role == "vectors" and data_suffix(path) == ".txt":
            more = f"; word2vec text: {path.name[: path.name.lower().rindex('.txt')]}.w2v.txt"
        msg = (
            f"{path}: {what} are not written with the suffix {data_suffix(path)!r}; {near}use one of "
            f"{suffixes} (text also with .gz){more}"
        )
        raise InputError(msg)
    suffix, longest = fitting[0]
    if len(suffix) > len(own[0]):  # a table called x.w2v.txt would be taken for vectors
        msg = (
            f"{path}: the suffix {suffix} is reserved for {', '.join(longest.writers)}; "
            f"use .csv or .parquet for {what}"
        )
        raise InputError(msg)
    return own[1]


def _suffixes(suffix: str, formats: Iterable[Format]) -> tuple[str, str]:
    """Return a question where a suffix is nearly one of those of formats, and a list of these."""
    known = list(dict.fromkeys(each for format_ in formats for each in format_.suffixes if each))
    near = difflib.get_close_matches(suffix, known, n=1, cutoff=0.7)
    return f"is it {near[0]}? " if near else "", ", ".join(known)


def is_path(source: Any) -> bool:
    """Return whether `source` names a file, rather than being the data itself."""
    return isinstance(source, (str, os.PathLike))


def as_path(source: str | os.PathLike[str]) -> Path:
    """Return the path of a source; ``-`` is the standard input."""
    return Path("/dev/stdin" if str(source) == STANDARD else source)


def is_pattern(source: str | os.PathLike[str]) -> bool:
    """Return whether a path is a pattern of names such as ``parts/*.csv``, rather than the name of a file."""
    return any(sign in str(source) for sign in "*?[") and not Path(source).exists()


def find_file(source: str | os.PathLike[str], what: str) -> Path:
    """Return the path of a file or folder that is there; `what` is the parameter that named it."""
    path = as_path(source)
    if not os.path.exists(path):  # noqa: PTH110  # False, too, of a name no file system takes
        raise missing_file(path, f"check the path given as `{what}`")
    return path


def is_pyg(source: Any) -> bool:
    """Return whether an object is a ``Data`` or ``HeteroData`` of PyTorch Geometric, without importing it."""
    return any(base.__module__.startswith("torch_geometric.data") for base in type(source).__mro__)


def as_list(labels: Any) -> list[Any]:
    """Return sources of labels as a list, given none, one or several."""
    if labels is None:
        return []
    listed = isinstance(labels, (list, tuple)) and all(
        is_path(one) or hasattr(one, "columns") for one in labels
    )
    return list(labels) if listed and labels else [labels]


def is_same_source(one: Any, other: Any) -> bool:
    """Return whether two sources are one file, or one object."""
    if is_path(one) and is_path(other):
        return os.path.realpath(as_path(one)) == os.path.realpath(as_path(other))
    return one is other


def missing_file(path: Path, remedy: str) -> InputError:
    """Return the error for a file that does not exist, with the nearest name in its folder."""
    if not os.path.isdir(path.parent):  # noqa: PTH112  # False, too, of a name no file system takes
        return InputError(f"there is no file {str(path)!r}, and no folder {str(path.parent)!r}; {remedy}")
    names = sorted((each.name for each in path.parent.iterdir()), reverse=True)
    # the suffix says nothing about how similar two names are
    stems = {name.lower().partition(".")[0]: name for name in names}
    near = difflib.get_close_matches(path.name.lower().partition(".")[0], stems, n=1)
    hint = f"the nearest name in that folder is {stems[near[0]]!r}; " if near else ""
    return InputError(f"there is no file {str(path)!r}; {hint}{remedy}")


class Source:
    """Data to be read once, from a path (a file, or a folder) or an object; looked at, not yet read.

    Attributes
    ----------
    name : str
        What messages call it: a quoted path, or a parameter in backticks.
    files : tuple of Path
        What is read; none for an object.
    beside : Path or None
        A file that names nodes of these edges: the ``group.txt`` beside a ``graph.txt``.
    """

    def __init__(self, source: Any, role: Role, options: Options | None = None) -> None:
        self.name, self.files = f"`{role}`", tuple[Path, ...]()
        self.beside: Path | None = None
        self._object, self._role = source, role
        self._options = Options() if options is None else options
        if not is_path(source):
            return
        self.files = (as_path(source),)
        if not os.path.isfile(self.files[0]):  # noqa: PTH113  # see `existing`
            from unseen.data.folders import files_of

            self.files = files_of(source, role)
        self.name = repr(str(self.files[0] if len(self.files) == 1 else source))
        self._inputs = [(File(f, role, self._options.max_memory), format_of(f, role)) for f in self.files]
        beside = self.files[0].with_name(GROUP_FILE)
        if role == "edges" and self.files[0].name == GRAPH_FILE and beside.is_file():
            self.beside = beside

    def batches(self, n_bytes: int | None = None) -> Batches:
        """Yield the content in pieces of about `n_bytes` (None: each file at once), rows in their order."""
        if not self.files:
            from unseen.data.objects_plain import read_object

            yield read_object(self._object, self._role, self._options)
            return
        files = [format_.read(file, self._role, self._options, n_bytes) for file, format_ in self._inputs]
        if len(files) > 1:
            from unseen.data.folders import with_one_header

            files = [with_one_header(files)]
        yield from files[0]
