"""The labels value: which classes each node is known to have; an empty row is an unlabelled node."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.errors import InputError, counted, logger, need_library, unknown_name
from unseen.graph import Graph
from unseen.ids import IdArray, Value, as_ids, check_row_ids, lock, match_ids

if TYPE_CHECKING:
    from unseen.certificate import Certificate

UNLABELLED = ("", "-1", "nan")
"""Texts that mean no label, in any case and with blanks around them."""
MISSING_WORDS = ("NA", "N/A", "<NA>", "None", "null", "NULL")
"""Words that other programs write for a missing value: they mean no label either, and a warning counts them."""
SEVERAL = (list, tuple, set, frozenset, np.ndarray)
SKIPPED, UNKNOWN, CONFIRMED = "skipped", "unknown", "confirmed"
STATUSES = (SKIPPED, UNKNOWN, CONFIRMED)
"""Answers that are not a class: the first two leave a node unlabelled, the last one confirms its label."""
RANDOM, SCORE, GROUP = "random", "score", "group"
DRAWN = (RANDOM, SCORE, GROUP)
"""How a node came to be labelled: by a question drawn at random or chosen by its score, or with its whole group."""


class Status(str):
    """The answer to a question about a node: a status or, where a class was named, an empty text or ``confirmed``.

    Parameters
    ----------
    status : str
        One of `STATUSES`, or empty.
    drawn : str
        ``random`` or ``score``.
    pool : int
        Number of nodes without a label or an answer when a random question was drawn.
    is_new : bool
        Whether the answer named a class that had no label before it.

    Examples
    --------
    >>> Status("skipped", drawn="random", pool=90) == "skipped"
    True
    """

    drawn: str
    pool: int
    is_new: bool

    def __new__(cls, status: str = "", *, drawn: str = "", pool: int = 0, is_new: bool = False) -> Status:
        """Make a text with attributes; it equals the text."""
        self = super().__new__(cls, status)
        self.__dict__.update(drawn=drawn, pool=pool, is_new=is_new)
        return self


@dataclass(frozen=True, eq=False)
class Labels(Value):
    """What is known about the classes of the nodes; frozen, arrays read-only.

    Parameters
    ----------
    indicator : boolean scipy sparse array, shape (n, c)
        True where a node has a class. A row without any True is an unlabelled node.
    classes : sequence of str
        One unique name per column.
    node_ids : sequence of str or int
        One id per row, in the order of the graph the labels belong to.
    answers : mapping of node id to str
        ``skipped`` or ``unknown`` for nodes that somebody looked at without naming a class, ``confirmed`` for nodes
        whose label somebody checked. :func:`unseen.suggest` does not ask about them again. Answers to its questions
        are a `Status`, in the order in which they were given; it is empty where a class was named. Read-only.
    guesses : collection of node ids
        Nodes whose label comes from accepting a group: nobody has looked at them.

    Examples
    --------
    >>> import unseen
    >>> labels = unseen.Labels.from_values(["red", None, "blue", ["red", "blue"]])
    >>> labels
    Labels(4 nodes, 3 labelled, 2 classes, multi-label)
    >>> labels.classes
    ('blue', 'red')
    """

    indicator: sp.csr_array
    classes: tuple[str, ...]
    node_ids: IdArray = None  # type: ignore[assignment]  # filled in by __post_init__
    answers: Mapping[Any, str] = field(default_factory=dict)
    guesses: Collection[Any] = frozenset()

    def __post_init__(self) -> None:
        try:
            indicator = sp.csr_array(self.indicator).astype(bool)
        except (TypeError, ValueError):
            msg = (
                "`indicator` must be a matrix of nodes and classes that is true where a node has a class, "
                f"got {type(self.indicator).__name__}; Labels.from_values takes one value per node"
            )
            raise InputError(msg) from None
        if indicator.ndim != 2:
            msg = f"`indicator` must have two dimensions, nodes and classes, got shape {indicator.shape}"
            raise InputError(msg)
        indicator.sum_duplicates()
        indicator.eliminate_zeros()
        if not isinstance(self.classes, Iterable):
            msg = f"`classes` must be a list of class names, one per column, got {self.classes!r}"
            raise InputError(msg)
        classes = tuple(str(name) for name in self.classes)
        if indicator.shape[1] != len(classes):
            msg = f"`indicator` has {indicator.shape[1]} columns but there are {len(classes)} class names"
            raise InputError(msg)
        if len(set(classes)) != len(classes):
            twice = next(name for name in classes if classes.count(name) > 1)
            msg = f"class names must be unique, {twice!r} occurs more than once"
            raise InputError(msg)
        n = indicator.shape[0]
        ids = check_row_ids(self.node_ids, n, f"the indicator has {n} rows")
        for node, answer in self.answers.items():
            if answer not in STATUSES and not getattr(answer, "drawn", ""):
                msg = f"the answer about node {node!r} is {answer!r}; it must be one of {', '.join(STATUSES)}"
                raise InputError(msg)
        lock(indicator)
        answers = MappingProxyType(dict(self.answers))
        self.__dict__.update(indicator=indicator, classes=classes, node_ids=ids, answers=answers)
        self.__dict__["guesses"] = frozenset(self.guesses)

    def __repr__(self) -> str:
        kind = "multi-label" if self.is_multilabel else "single-label"
        return f"Labels({self.n_nodes} nodes, {len(self.labelled)} labelled, {len(self.classes)} classes, {kind})"

    @property
    def n_nodes(self) -> int:
        """Number of rows, unlabelled nodes included."""
        return int(self.indicator.shape[0])

    @property
    def labelled(self) -> npt.NDArray[np.int64]:
        """Row numbers of the nodes that have at least one label."""
        return np.flatnonzero(np.diff(self.indicator.indptr)).astype(np.int64)

    @property
    def is_multilabel(self) -> bool:
        """Whether any node has more than one label."""
        return bool((np.diff(self.indicator.indptr) > 1).any())

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Number of labelled nodes of each class, in the order of `classes`."""
        return np.bincount(self.indicator.indices, minlength=len(self.classes)).astype(np.int64)

    @property
    def codes(self) -> npt.NDArray[np.int64]:
        """Class number of every node, -1 for unlabelled ones; an error if a node has several."""
        if self.is_multilabel:
            msg = "some nodes have several labels, so there is no single class number for each node"
            raise InputError(msg)
        codes = np.full(self.n_nodes, -1, dtype=np.int64)
        codes[self.labelled] = self.indicator.indices
        return codes

    @staticmethod
    def from_values(
        values: Iterable[Any] | Mapping[Any, Any],
        node_ids: Iterable[Any] | None = None,
        *,
        classes: Sequence[Any] | None = None,
    ) -> Labels:
        """Make labels from one value per node: a class, a list of classes, or nothing.

        Unlabelled nodes are None, NaN, "" or -1 (:func:`is_unlabelled`). Other values become class
        names by ``str``.

        Parameters
        ----------
        values : iterable or mapping
            One entry per node; or a mapping from ids among `node_ids`, where nodes that it lacks are unlabelled.
        node_ids : iterable of str or int, optional
            0 ... n - 1 when not given.
        classes : sequence, optional
            Order of the classes; when not given, numbers in their own order, anything else sorted as text.

        Examples
        --------
        >>> import unseen
        >>> unseen.Labels.from_values([2, -1, 10]).classes
        ('2', '10')
        >>> unseen.Labels.from_values({"b": "red"}, ["a", "b"]).codes.tolist()
        [-1, 0]
        """
        ids = None if node_ids is None else as_ids(node_ids)
        listed = (
            _list_by_id(values, ids)
            if isinstance(values, Mapping)
            else list_per_node(values, ids, what="values")
        )
        items = [list(_flatten(value)) for value in listed]
        texts = [item for row in items for item in row if isinstance(item, str)]
        warn_of_missing_words(sum(text.strip() in MISSING_WORDS for text in texts))
        items = [[item for item in row if not is_unlabelled(item)] for row in items]
        rows = [tuple(dict.fromkeys(map(_class_name, row))) for row in items]
        names = {name for row in rows for name in row}
        if classes is None:
            whole = all(_is_whole(item) for row in items for item in row)
            order = tuple(sorted(names, key=int if whole else None))  # 10 after 2
        else:
            order = tuple(str(name) for name in classes)
            for name in sorted(names - set(order)):
                raise unknown_name("class", name, order)
        column = {name: k for k, name in enumerate(order)}
        indices = [column[name] for row in rows for name in row]
        indptr = np.cumsum([0, *map(len, rows)])
        data = np.ones(len(indices), dtype=bool)
        indicator = sp.csr_array((data, indices, indptr), shape=(len(rows), len(order)))
        return Labels(indicator, order, ids)  # type: ignore[arg-type]

    def to_lists(self) -> dict[Any, list[str]]:
        """Return the classes of every node that has any, which :meth:`from_values` takes back.

        Examples
        --------
        >>> Labels.from_values(["x", None, ["x", "y"]]).to_lists()
        {0: ['x'], 2: ['x', 'y']}
        """
        ends, ids = self.indicator.indptr, self.node_ids.tolist()
        names = [self.classes[k] for k in self.indicator.indices]
        return {ids[row]: names[ends[row] : ends[row + 1]] for row in self.labelled.tolist()}

    def class_numbers(self, names: Iterable[str]) -> npt.NDArray[np.int64]:
        """Return the column numbers of the named classes; an unknown name is an error with a hint."""
        if isinstance(names, str) or not isinstance(names, Iterable):
            msg = f"expected a list of class names, got {names!r}; write [{names!r}] for a single one"
            raise InputError(msg)
        column = {name: k for k, name in enumerate(self.classes)}
        numbers = []
        for name in names:
            if str(name) not in column:
                raise unknown_name("class", name, self.classes)
            numbers.append(column[str(name)])
        return np.array(numbers, dtype=np.int64)

    def keep(self, rows: npt.NDArray[np.int64], without: Iterable[str] = ()) -> Labels:
        """Return labels of the given rows only, and none of the classes `without`, for the same nodes.

        The removed classes are removed from `classes` too, and so are answers about nodes that lost a label: what
        is not there cannot leak.
        """
        hidden = set(self.class_numbers(without).tolist())
        columns = [k for k in range(len(self.classes)) if k not in hidden]
        mask = np.zeros(self.n_nodes, dtype=bool)
        mask[rows] = True
        left = self.indicator.multiply(mask[:, None]).tocsr()[:, columns]
        left.eliminate_zeros()
        has_lost = np.diff(left.indptr) < np.diff(self.indicator.indptr)
        places = match_ids(as_ids(list(self.answers)), self.node_ids).tolist()
        answers = {
            node: answer
            for (node, answer), row in zip(self.answers.items(), places, strict=True)
            if row < 0 or not has_lost[row]
        }
        guesses = set(self.guesses).difference(self.node_ids[has_lost].tolist())
        return Labels(left, tuple(self.classes[k] for k in columns), self.node_ids, answers, guesses)

    def align_to(self, graph: Graph) -> Labels:
        """Return these labels in the row order of `graph`; a label for a node it does not have is an error."""
        mine, theirs = self.node_ids, graph.node_ids
        if mine is theirs or (mine.dtype == theirs.dtype and np.array_equal(mine, theirs)):
            return self
        places = match_ids(self.node_ids, graph.node_ids)
        strangers = self.labelled[places[self.labelled] < 0]
        if len(strangers):
            msg = (
                f"labels name {len(strangers)} nodes that the graph does not have, the first is "
                f"{self.node_ids[strangers[0]]!r}; add them to the graph (labels=... of read_graph) or remove them"
            )
            raise InputError(msg)
        return self.of_nodes(graph.node_ids)

    def of_nodes(self, node_ids: IdArray) -> Labels:
        """Return the labels of these nodes, in their order; nodes that have none here are unlabelled."""
        rows = match_ids(node_ids, self.node_ids)
        padded = sp.vstack([self.indicator, sp.csr_array((1, len(self.classes)), dtype=bool)], format="csr")
        places = match_ids(as_ids(list(self.answers)), node_ids).tolist()
        given = zip(places, self.answers.values(), strict=True)
        answers = {node_ids[row]: answer for row, answer in given if row >= 0}
        places = match_ids(as_ids(list(self.guesses)), node_ids)
        return Labels(padded[rows], self.classes, node_ids, answers, node_ids[places[places >= 0]].tolist())

    def with_answers(self, questions: Iterable[Any], values: Iterable[Any] | Mapping[Any, Any]) -> Labels:
        """Return the labels with the answers to questions of :func:`unseen.suggest`, in the order in which they came.

        Parameters
        ----------
        questions : iterable of Suggestion
            The questions.
        values : iterable or mapping
            For each a class, a list of classes, or None where it was skipped; or these by node, those of nodes that are
            not in it are skipped.

        Examples
        --------
        >>> import unseen
        >>> data = unseen.planted_partition(200, 4, random_state=0)
        >>> labels = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c3"], random_state=0)
        >>> labels = labels.seen_labels
        >>> questions = unseen.suggest(data.graph, labels, budget=1, random=1, random_state=0)
        >>> answers = labels.with_answers(questions, ["c3", None]).answers
        >>> [(answers[question.node], question.drawn, question.pool) for question in questions]
        [('', 'random', 158), ('skipped', 'score', None)]
        """
        from unseen.certificate import date_answers

        classes, asked = self.to_lists(), dict[Any, Status]()
        if isinstance(values, Mapping):
            questions = list(questions)
            values = [values.get(question.node) for question in questions]
        for question, value in zip(questions, values, strict=True):
            names = [_class_name(item) for item in _flatten(value) if not is_unlabelled(item)]
            status = CONFIRMED if names and question.replaces else "" if names else SKIPPED
            asked[question.node] = Status(status, drawn=question.drawn, pool=question.pool or 0)
            classes |= {question.node: names} if names else {}
        new = {name for names in classes.values() for name in names}.difference(self.classes)
        labels = Labels.from_values(classes, self.node_ids, classes=[*self.classes, *sorted(new)])
        before = {
            name for node, names in self.to_lists().items() if node not in self.guesses for name in names
        }
        answers = {**self.answers, **date_answers(asked, labels.to_lists(), before)}
        return Labels(
            labels.indicator, labels.classes, self.node_ids, answers, set(self.guesses).difference(asked)
        )

    def certificate(self, alpha: float = 0.05) -> Certificate:
        """Return how many nodes at most belong to classes without a label, proven by answers to random questions.

        Only answers to questions that :func:`unseen.suggest` drew at random count; nothing is assumed about how other
        labels came about, but answers have to be true. With probability 1 - `alpha` all certificates of a labelling
        project are right, however often one looks. A random question that was skipped counts as a class without a label
        until it is answered.

        Parameters
        ----------
        alpha : float
            Probability of a mistake.

        Examples
        --------
        >>> import unseen
        >>> unseen.Labels.from_values(["red", None]).certificate().at_most
        1
        """
        from unseen.certificate import certify

        return certify(self, alpha)

    def save(self, path: str | PathLike[str]) -> None:
        """Write ``node, label``, a row for each label, in the format the suffix names: .csv, .tsv, .parquet, ...

        Unlabelled nodes have no row; a ``group.txt`` is written as the authors do. The file is written whole or not
        at all.

        Examples
        --------
        >>> import tempfile, pathlib, unseen
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
        >>> unseen.Labels.from_values(["red", None], ["a", "b"]).save(path)
        >>> path.read_text().split()
        ['node,label', 'a,red']
        """
        from unseen.data.write import write_part

        write_part(self, "labels", path)

    def to_pandas(self) -> Any:
        """Return a pandas series by node id: a class, a list where some node has several, None for unlabelled nodes.

        Examples
        --------
        >>> import unseen
        >>> unseen.Labels.from_values(["red", None], ["a", "b"]).to_pandas().to_dict()
        {'a': 'red', 'b': None}
        """
        pandas = need_library("pandas", "to_pandas")
        lists, several = self.to_lists(), self.is_multilabel
        rows = [lists.get(node, [None]) for node in self.node_ids.tolist()]
        values = [row if several and row != [None] else row[0] for row in rows]
        index = pandas.Index(self.node_ids, name="node")
        return pandas.Series(values, index=index, name="label", dtype=object)


def is_unlabelled(value: Any) -> bool:
    """Return whether one entry means "no label": None, NaN, pandas' missing values, -1, or a text for it.

    Examples
    --------
    >>> [is_unlabelled(value) for value in (None, float("nan"), -1, "", "-1", "NaN", "NA")]
    [True, True, True, True, True, True, True]
    >>> [is_unlabelled(value) for value in (0, "0", False, "none")]
    [False, False, False, False]
    """
    if isinstance(value, str):
        return value.strip().lower() in UNLABELLED or value.strip() in MISSING_WORDS
    if isinstance(value, (int, float, np.integer, np.floating)):
        return bool(value == -1 or value != value)  # NaN alone differs from itself
    # pandas is recognised by name, without importing it
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def class_name_problem(name: str) -> str | None:
    """Return why a file with the class `name` would not be read back as it was, or None where it would.

    Examples
    --------
    >>> class_name_problem("mail"), class_name_problem("NA")[:39]
    (None, "the class name 'NA' would not be read b")
    """
    if "|" not in name and name == name.strip() and not is_unlabelled(name):
        return None
    words = ", ".join(map(repr, (*UNLABELLED, *MISSING_WORDS)))
    return (
        f"the class name {name!r} would not be read back: | separates classes, blanks at the ends are dropped, "
        f"and {words} mean no label; rename the class"
    )


def warn_of_missing_words(count: int) -> None:
    """Log how many labels are words such as ``NA``, which mean no label."""
    if count:
        logger.warning(
            "%s taken as missing, written %s or %s; rename a class that is really called so",
            counted(count, "label"),
            ", ".join(MISSING_WORDS[:-1]),
            MISSING_WORDS[-1],
        )


def list_per_node(values: Any, node_ids: IdArray | None, *, what: str) -> list[Any]:
    """Return `values` as a list with as many entries as there are ids, or say why it is none."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        msg = f"`{what}` must have one entry per node, got {values!r}"
        raise InputError(msg)
    listed = list(values)
    if node_ids is not None and len(listed) != len(node_ids):
        n, entries = len(node_ids), "1 entry" if len(listed) == 1 else f"{len(listed)} entries"
        owner = f"there are {n} node ids" if what == "values" else f"the graph has {n} nodes"
        msg = f"`{what}` has {entries} but {owner}"
        raise InputError(msg)
    return listed


def _list_by_id(values: Mapping[Any, Any], node_ids: IdArray | None) -> list[Any]:
    if node_ids is None:
        msg = "labels in a mapping need `node_ids`, which say what row each id has; or pass a list, one entry per node"
        raise InputError(msg)
    rows = match_ids(as_ids(values, what="ids of labels"), node_ids)
    entries: list[Any] = [None] * len(node_ids)
    for row, (node, value) in zip(rows.tolist(), values.items(), strict=True):
        if row < 0:
            msg = f"there is a label for {node!r}, which is not among the {len(node_ids)} node ids; add it or remove it"
            raise InputError(msg)
        entries[row] = value
    return entries


def _flatten(value: Any) -> Iterator[Any]:
    """Yield the entries of one node, those of lists in lists included."""
    if isinstance(value, SEVERAL):
        for item in value:
            yield from _flatten(item)
    else:
        yield value


def _class_name(value: Any) -> str:
    # a column of class numbers with gaps arrives as floats
    return str(int(value)) if _is_whole(value) else str(value)


def _is_whole(value: Any) -> bool:
    if isinstance(value, (float, np.floating)):
        return float(value).is_integer()
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
