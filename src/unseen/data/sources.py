"""Where data comes from: the table of formats, the options of reading, and files that are opened once.

A format is one entry of `FORMATS`. Its reader turns an opened `File` into batches: a `Table` of columns with
places, or a `Matrix`. What the columns mean is the business of :mod:`unseen.data.roles`.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, cast, get_args

from unseen.data.options import Options
from unseen.errors import InputError

if TYPE_CHECKING:
    from unseen.data.tables import Matrix, Table

Role = Literal["edges", "nodes", "features", "labels", "vectors"]
"""What a source is read as."""
Batches = Iterator["Table | Matrix"]
Reader = Callable[["File", Role, "Options", "int | None"], Batches]
"""From a file, its role, the options and the bytes of a batch (None: all at once) to batches in their order."""

GRAPH_FILE, GROUP_FILE, FEATURE_FILE = "graph.txt", "group.txt", "features.npz"
"""The files of a folder in the authors' format."""
_GZIP = b"\x1f\x8b"
_RATIO, _ALWAYS = 200, 256_000_000
LIMIT_VARIABLE = "UNSEEN_UNPACK_LIMIT"
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?)(I?)B?\s*", re.IGNORECASE)


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
    writers : mapping
        From the role that is written to the function that writes it, given in the same way.
    """

    name: str
    suffixes: tuple[str, ...]
    roles: tuple[Role, ...]
    reader: Reader | str
    writers: Mapping[str, Callable[..., Any] | str] = field(default_factory=dict)

    def suffix_of(self, path: Path) -> str | None:
        """Return the longest of the suffixes that the name of a file ends in, or None."""
        name = _bare_name(path)
        fitting = [
            suffix
            for suffix in self.suffixes
            if name == suffix
            or (name.endswith(suffix) if suffix.startswith(".") else suffix == Path(name).suffix)
        ]
        return max(fitting, key=len, default=None)

    def read(self, file: File, role: Role, options: Options, n_bytes: int | None = None) -> Batches:
        """Return the batches of a file."""
        return cast(Batches, resolve(self.reader)(file, role, options, n_bytes))


_TABLES: tuple[Role, ...] = ("edges", "nodes", "features", "labels")
_TEXT: Mapping[str, str] = dict.fromkeys(_TABLES, "writers:as_text")
_ARRAYS: tuple[Role, ...] = ("edges", "features", "vectors")
_WORD2VEC = "vectors:read_word2vec"
FORMATS: list[Format] = [
    Format("text", (".csv", ".tab"), get_args(Role), "text:read", _TEXT),
    Format("text", (".tsv", ".txt", ".edges", ".edgelist", ".edgelists", ""), _TABLES, "text:read", _TEXT),
    Format(
        "word2vec text", (".w2v.txt", ".w2v"), ("vectors",), _WORD2VEC, {"vectors": "writers:as_word2vec"}
    ),
    Format("word2vec text", (".txt", ".vec", ".emb", ".embeddings"), ("vectors",), _WORD2VEC),
    Format(
        "projector pair", (".tsv",), ("vectors",), "vectors:read_pair", {"vectors": "writers:as_projector"}
    ),
    Format(
        "the authors' groups",
        (GROUP_FILE,),
        ("labels", "nodes"),
        "text:read_groups",
        {"labels": "writers:as_groups"},
    ),
    Format(
        "Parquet",
        (".parquet", ".pq"),
        get_args(Role),
        "tables:read_parquet",
        dict.fromkeys(get_args(Role), "writers:as_parquet"),
    ),
    Format("numpy", (".npz",), _ARRAYS, "arrays:read_numpy", dict.fromkeys(_ARRAYS, "writers:as_npz")),
    Format("numpy", (".npy",), ("features", "vectors"), "arrays:read_numpy"),
    Format("Matlab", (".mat",), ("edges", "features", "labels"), "arrays:read_mat"),
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


def data_suffix(path: Path) -> str:
    """Return the last suffix in lower case, looking through ``.gz``: ``.csv`` of ``edges.CSV.gz``."""
    return Path(_bare_name(path)).suffix


def metadata_path(vectors: Path) -> Path:
    """Return the name of the projector's file of ids that goes with the file of vectors."""
    return vectors.with_suffix(".metadata.tsv")


def find_format(path: Path, role: str, *, written: bool = False) -> Format | None:
    """Return the format that the name of a file says for a role, or None; the longest suffix wins."""
    fitting = [
        (len(suffix), format_)
        for format_ in FORMATS
        if role in (format_.writers if written else format_.roles)
        and (suffix := format_.suffix_of(path)) is not None
    ]
    return max(fitting, key=lambda entry: entry[0])[1] if fitting else None


def format_of(path: Path, role: Role) -> Format:
    """Return the format of a file to be read, or raise the error that lists the suffixes `role` can have."""
    format_ = find_format(path, role)
    if format_ is None:
        suffixes = _suffixes(f for f in FORMATS if role in f.roles)
        msg = (
            f"{str(path)!r} has the suffix {data_suffix(path)!r}, which `{role}` cannot be read from; "
            f"known are {suffixes}, text also with .gz"
        )
        raise InputError(msg)
    return format_


def written_format(path: Path, role: Role) -> Format:
    """Return the format of a file to be written, or raise the error that lists the suffixes `role` can have."""
    format_ = find_format(path, role, written=True)
    what = "graphs" if role == "edges" else role
    if format_ is None:
        suffixes = _suffixes(f for f in FORMATS if role in f.writers)
        more = ", or a folder for graph.txt and group.txt" if role == "edges" else ""
        if role == "vectors" and data_suffix(path) == ".txt":
            more = f"; word2vec text: {path.name[: path.name.lower().rindex('.txt')]}.w2v.txt"
        msg = (
            f"{path}: {what} are not written with the suffix {data_suffix(path)!r}; use one of "
            f"{suffixes} (text also with .gz){more}"
        )
        raise InputError(msg)
    own = len(format_.suffix_of(path) or "")
    longer = [f for f in FORMATS if f.writers and len(f.suffix_of(path) or "") > own]
    if longer:  # a table called x.w2v.txt would be taken for vectors
        holds = ", ".join(longer[0].writers)
        msg = f"{path}: {longer[0].suffix_of(path)} is for {holds}, and {what} are none; use .csv or .parquet"
        raise InputError(msg)
    return format_


def _suffixes(formats: Iterable[Format]) -> str:
    return ", ".join(dict.fromkeys(suffix for format_ in formats for suffix in format_.suffixes if suffix))


def _bare_name(path: Path) -> str:
    return path.name.lower().removesuffix(".gz")


def is_path(source: Any) -> bool:
    """Return whether `source` names a file, rather than being the data itself."""
    return isinstance(source, (str, os.PathLike))


def existing(source: str | os.PathLike[str], what: str) -> Path:
    """Return the path of a file or folder that is there; `what` is the parameter that named it."""
    path = Path(source)
    try:
        there = path.exists()
    except (OSError, ValueError):  # a name no file system takes: too long, a zero byte
        there = False
    if not there:
        msg = f"there is no file {str(path)!r}; check the path given as `{what}`"
        raise InputError(msg)
    return path


class File:
    """One input file: opened once, unpacked if it is gzip, never more than the bound on what is unpacked.

    Pipes are read as they come (``<(command)`` in a shell); devices are refused.
    """

    def __init__(self, path: Path, what: str) -> None:
        self.path, self.name = path, repr(str(path))
        kind = path.stat()
        if stat.S_ISDIR(kind.st_mode):
            msg = f"{self.name} is a folder; `{what}` needs a file"
            raise InputError(msg)
        if str(path) in ("/dev/stdout", "/dev/stderr") or not (
            stat.S_ISREG(kind.st_mode) or stat.S_ISFIFO(kind.st_mode)
        ):
            msg = f"{self.name} is a device, not a file; `{what}` needs a file or a pipe"
            raise InputError(msg)
        self.size = kind.st_size

    @property
    def suffix(self) -> str:
        """The last suffix, in lower case and without ``.gz``."""
        return data_suffix(self.path)

    def chunks(self, n_bytes: int = 1 << 22) -> Iterator[bytes]:
        """Yield the content, unpacked (gzip is known by its first bytes, whatever the name), in pieces."""
        try:
            with self.path.open("rb") as raw:
                start = raw.peek(2)[:2]
                if start and _GZIP.startswith(start):
                    yield from self._unpacked(raw, n_bytes)
                    return
                if start and self.path.name.lower().endswith(".gz"):
                    msg = f"{self.name} is not a gzip file, though its name ends in .gz"
                    raise InputError(msg)
                while piece := raw.read(n_bytes):
                    yield piece
        except (EOFError, zlib.error, gzip.BadGzipFile):
            msg = f"{self.name} is a damaged or cut-off gzip file; copy or download it again"
            raise InputError(msg) from None
        except OSError as error:
            msg = f"{self.name} cannot be read: {error.strerror or error}"
            raise InputError(msg) from None

    def _unpacked(self, packed: IO[bytes], n_bytes: int) -> Iterator[bytes]:
        total, counted = 0, _Counted(packed)
        with gzip.GzipFile(fileobj=cast(IO[bytes], counted)) as file:
            while piece := file.read(n_bytes):
                total += len(piece)
                if total > _ALWAYS:
                    self.require_room(total, max(self.size, counted.n_bytes))
                yield piece

    def read(self) -> bytes:
        """Return the whole content, unpacked."""
        return b"".join(self.chunks(1 << 24))

    def require_room(self, n_bytes: int, packed: int | None = None) -> None:
        """Raise an `InputError` if the content takes `n_bytes` once unpacked, and that is too much to trust."""
        size = self.size if packed is None else packed
        bytes_allowed = os.environ.get(LIMIT_VARIABLE, "").strip()
        limit = parse_size(bytes_allowed, LIMIT_VARIABLE) if bytes_allowed else None
        if n_bytes <= (max(_ALWAYS, _RATIO * size) if limit is None else limit):
            return
        bound = f"{_RATIO} times its size"
        if limit is not None:
            bound = f"the {shown_bytes(limit)} of {LIMIT_VARIABLE}"
        msg = (
            f"{self.name} has {shown_bytes(size)} and unpacks to {shown_bytes(n_bytes)} or more, over {bound}; "
            f"if you trust it, allow more: {LIMIT_VARIABLE}={-(-2 * n_bytes // 10**9)}GB"
        )
        raise InputError(msg)

    def opened(self) -> IO[bytes]:
        """Return the content for readers that go to and fro in it: the file itself, or what a pipe held."""
        if self.path.is_file() and not self.path.name.lower().endswith(".gz"):
            return self.path.open("rb")
        return io.BytesIO(self.read())


class _Counted:
    """A file that counts what was read of it; pipes do not say how large they are."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.n_bytes = file, 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.n_bytes += len(data)
        return data


def parse_size(text: str, what: str = "--memory") -> int:
    """Return the bytes that a text like ``2GB`` or ``512MiB`` means.

    Examples
    --------
    >>> parse_size("2GB"), parse_size("1.5 MiB"), parse_size("1000")
    (2000000000, 1572864, 1000)
    """
    size = _SIZE.fullmatch(text)
    if size is None:
        msg = f"`{what}` takes a size such as 500MB or 2GB, got {text!r}"
        raise InputError(msg)
    number, unit, binary = size.groups()
    return int(float(number) * (1024 if binary else 1000) ** ["", *"KMGT"].index(unit.upper()))


def shown_bytes(n: float) -> str:
    """Return a number of bytes as people write it.

    Examples
    --------
    >>> shown_bytes(1300), shown_bytes(8.5e9)
    ('1.3 kB', '8.5 GB')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= size:
            return f"{n / size:.2g} {unit}" if n / size < 10 else f"{n / size:,.0f} {unit}"
    return f"{n:.0f} bytes"


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
        path = existing(source, role)
        self.files = _files_of(path, role)
        self.name = repr(str(self.files[0] if len(self.files) == 1 else path))
        self._inputs = [(File(file, role), format_of(file, role)) for file in self.files]
        beside = self.files[0].with_name(GROUP_FILE)
        if role == "edges" and self.files[0].name == GRAPH_FILE and beside.is_file():
            self.beside = beside

    def batches(self, n_bytes: int | None = None) -> Batches:
        """Yield the content in pieces of about `n_bytes` (None: each file at once), rows in their order."""
        if not self.files:
            from unseen.data.tables import read_object

            yield from read_object(self._object, self._role)
            return
        for file, format_ in self._inputs:
            yield from format_.read(file, self._role, self._options, n_bytes)


def _files_of(path: Path, role: Role) -> tuple[Path, ...]:
    """Return the files of a path: itself, one file of the authors' folder, or a folder's Parquet files."""
    if not path.is_dir():
        return (path,)
    own = {"edges": GRAPH_FILE, "labels": GROUP_FILE, "features": FEATURE_FILE}.get(role)
    if own is not None and (path / own).is_file():
        return (path / own,)
    parquet = next(f for f in FORMATS if f.name == "Parquet")
    files = tuple(
        sorted(p for p in path.rglob("*") if p.is_file() and p.name.lower().endswith(parquet.suffixes))
    )
    if not files:
        lack = f"without a {own} and without Parquet files" if own else "without Parquet files"
        msg = f"{str(path)!r} is a folder {lack}; `{role}` needs a file, or a folder that has one"
        raise InputError(msg)
    return files
