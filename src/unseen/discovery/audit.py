"""Which labels are probably wrong: every label against what all other labels say about its node.

Class scores of a ridge classifier, in which a node is judged without its own label, and the labels of its neighbours
give the probability of each class (softmax). A label is right with an unknown probability, and any other class
otherwise. That probability and the weights of scores and neighbours are those under which all labels are most likely.

Where labels cannot be predicted from the graph, right ones look wrong. So the audit is repeated with some labels
changed on purpose: which labels it lists then shows how many of its list to believe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import scipy.optimize
import scipy.sparse as sp
from scipy.special import log_softmax

from unseen.data.objects_plain import as_graph_and_labels
from unseen.discovery.discover import id_array, require_labels
from unseen.discovery.ranking import class_scores
from unseen.discovery.result import Node, texts_of
from unseen.discovery.vectors import Space, source_of, unit_vectors, uses_labels, vectors_of
from unseen.embedding import Embedding
from unseen.engine.run import libraries_on_one_thread
from unseen.errors import InputError, counted, logger
from unseen.graph import Graph
from unseen.ids import Floats, Ints, Mask, as_ids, id_order, match_ids
from unseen.labels import CONFIRMED, Labels
from unseen.methods.homophily import measure_homophily
from unseen.randomness import RandomState, as_generator, child_seed

if TYPE_CHECKING:
    from unseen.methods.base import Method

MAX_WRONG = 0.4
"""No more than this share of the labels is taken to be wrong; a class of which more are listed is not believed."""
TRUSTED = 0.5
"""Expected precision from which labels are listed."""


@dataclass(frozen=True, eq=False)
class LabelIssues:
    """The labels that are probably wrong, and how many of them to believe; used like the pyarrow table that it holds.

    Parameters
    ----------
    table : pyarrow.Table
        ``node``, ``label``, ``likely_class`` and ``probability``, the most suspicious first. Empty where the expected
        precision is below one half.
    expected_precision : float
        Share of the listed labels that are expected to be wrong, measured by changing known labels.
    n_labels : int
        Number of labels that were looked at.
    texts : mapping
        Texts of the listed nodes, where the graph has texts; for notebooks.

    Examples
    --------
    >>> issues = LabelIssues(pa.table({"node": ["a"], "label": ["red"]}), 0.8, 40)
    >>> issues.num_rows, issues.sentence
    (1, '1 of 40 labels is probably wrong; about 80 % of the listed labels are expected to be wrong.')
    """

    table: pa.Table
    expected_precision: float
    n_labels: int
    texts: Mapping[Node, str] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copies and pickles ask for these before there is a table
            raise AttributeError(name)
        return getattr(self.table, name)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, key: Any) -> Any:
        return self.table[key]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        listed = counted(self.table.num_rows, "label")
        return f"LabelIssues({listed} of {self.n_labels}, expected precision {self.expected_precision:.2f})"

    def __str__(self) -> str:
        return f"{self.sentence}\n{self.table.to_string() if len(self) else ''}".rstrip()

    @property
    def sentence(self) -> str:
        """What was found, and how far to trust it."""
        percent = f"{100 * self.expected_precision:.0f} %"
        if self.expected_precision < TRUSTED:
            return (
                f"No label is listed: a test with changed labels shows that only about {percent} of the labels that "
                "would be listed are wrong. The graph and the features do not predict these labels well enough."
            )
        verb = "is" if len(self) == 1 else "are"
        believed = f"; about {percent} of the listed labels are expected to be wrong"
        return f"{len(self)} of {counted(self.n_labels, 'label')} {verb} probably wrong{believed if len(self) else ''}."

    def _repr_html_(self) -> str:
        from unseen.notebook import html_table

        columns = {name: self.table.column(name).to_pylist() for name in self.table.column_names}
        texts = {"text": [self.texts.get(node) for node in columns["node"]]} if self.texts else {}
        return html_table(self.sentence, columns | texts)


@libraries_on_one_thread()
def audit(
    graph: Graph | Any,
    labels: Labels | Any,
    *,
    method: str | Method | Embedding | None = None,
    random_state: RandomState = None,
) -> LabelIssues:
    """Return the labels that are probably wrong, the most suspicious first.

    The audit tests itself: it changes a few per cent of the labels and looks how many of them it finds. Where less than
    half of its list would be wrong labels, it lists none.

    Parameters
    ----------
    graph, labels
        As for :func:`unseen.discover`; the labels to look at, of at least two classes.
    method : str, Method or Embedding, optional
        Where vectors come from, as for :func:`unseen.discover`; it must not learn from labels.
    random_state : None, int or Generator
        Seed of everything random.

    Returns
    -------
    LabelIssues
        A table with ``node``, ``label`` (as given), ``likely_class`` (what the other labels say) and ``probability``
        (that the label is wrong, above 0.5), and its `expected_precision`. A node with several labels has a row for
        each suspicious one. The label of a class that has no other is not judged, and labels that somebody confirmed
        (`Labels.answers`) are not listed.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.planted_partition(200, 3, random_state=0)
    >>> values = [data.labels.classes[code] for code in data.labels.codes]
    >>> values[7] = "c0" if values[7] == "c1" else "c1"
    >>> issues = unseen.audit(data.graph, unseen.Labels.from_values(values), random_state=0)
    >>> issues.column("node").to_pylist(), issues.expected_precision > 0.9
    ([7], True)
    """
    graph, given = as_graph_and_labels(graph, labels)
    labels = require_labels(graph, given)
    graph = graph.subgraph(id_order(graph.node_ids))
    labels = labels.align_to(graph)
    n_classes = int((labels.counts > 0).sum())
    if n_classes < 2:
        msg = f"an audit compares classes, and the labels have {n_classes}; label nodes of another class"
        raise InputError(msg)
    rng = as_generator(random_state)
    is_homophilous = measure_homophily(graph, labels).holds
    source = source_of(graph, method, child_seed(rng), is_homophilous=is_homophilous)
    if not isinstance(source, Embedding) and uses_labels(source):
        msg = f"{source._name} learns from the labels that are to be looked at; take a method that does not"
        raise InputError(msg)
    if single := [name for name, count in zip(labels.classes, labels.counts, strict=True) if count == 1]:
        logger.info("not judged, because these classes have one label each: %s", ", ".join(single))
    return _find_issues(graph, labels, vectors_of(graph, labels, source), rng)


def doubts_of(
    graph: Graph, labels: Labels, vectors: Embedding, random_state: RandomState = 0
) -> pa.Table | None:
    """Return the table of :func:`audit` for the nodes that have vectors; None where they have less than two classes."""
    order = id_order(graph.node_ids)
    graph = graph.subgraph(order[match_ids(graph.node_ids[order], vectors.node_ids) >= 0]).plain
    labels = labels.of_nodes(graph.node_ids)
    if (labels.counts > 0).sum() < 2:
        return None
    return _find_issues(graph, labels, vectors_of(graph, None, vectors), as_generator(random_state)).table


def _find_issues(graph: Graph, labels: Labels, vectors: Embedding, rng: np.random.Generator) -> LabelIssues:
    """Return the suspicious labels; nodes are in the order of their ids."""
    space = Space(unit_vectors(vectors.vectors, rng))
    columns = np.flatnonzero(labels.counts)
    indicator = labels.indicator[:, columns].toarray()
    keys, likely, wrong = _list_issues(space, graph, indicator)
    precision = _expected_precision(space, graph, indicator, keys, rng)
    order = np.argsort(-wrong, kind="stable") if precision >= TRUSTED else np.zeros(0, dtype=np.int64)
    confirmed = [node for node, answer in labels.answers.items() if answer == CONFIRMED]
    is_confirmed = np.isin(keys[order] // len(columns), match_ids(as_ids(confirmed), graph.node_ids))
    order = order[~is_confirmed]
    rows, given = np.divmod(keys[order], len(columns))
    names = np.array([labels.classes[k] for k in columns], dtype=object)
    table = pa.table(
        {
            "node": id_array(graph.node_ids[rows]),
            "label": pa.array(names[given], pa.string()),
            "likely_class": pa.array(names[likely[order]], pa.string()),
            "probability": pa.array(wrong[order], pa.float64()),
        },
        metadata={"unseen.expected_precision": f"{precision:.4f}"},
    )
    texts = texts_of(graph, table.column("node").to_pylist())
    return LabelIssues(table, precision, int(indicator.sum()), texts)


def _list_issues(space: Space, graph: Graph, indicator: Mask) -> tuple[Ints, Ints, Floats]:
    """Compare each label with what all others say: keys (row x classes + class), likely classes and probabilities."""
    is_labelled, keys = indicator.any(axis=1), np.flatnonzero(indicator)
    linked = sp.csr_array(graph.adjacency != 0).astype(np.float64)
    linked.setdiag(0)
    # the share of each class among the labelled neighbours, one more of which counts for none
    around = linked @ indicator.astype(np.float64) / (1 + linked @ is_labelled)[:, None]
    scores, around = class_scores(space, indicator)[is_labelled], around[is_labelled]
    own = indicator[is_labelled]

    def predict(x: Floats) -> Floats:  # the probability of every class for every node by all other labels
        return np.asarray(np.exp(log_softmax(x[0] * scores + x[1] * around, axis=1)))

    def likelihoods(x: Floats) -> tuple[Floats, Floats]:  # of each label as a right one and as a wrong one
        p = np.minimum(
            (own.sum(axis=1)[:, None] * predict(x))[own], 1.0
        )  # labels of a node share its probability
        share = float(x[2])
        return (1 - share) * p, share * (1 - p) / max(own.shape[1] - 1, 1)

    def loss(x: Floats) -> float:
        right, wrong = likelihoods(x)
        return -float(np.log(right + wrong + 1e-300).mean())

    # classes that are told well and some wrong labels, rather than vague classes
    start, bounds = np.array([20.0, 5.0, 0.1]), [(0, 60), (0, 60), (1e-3, MAX_WRONG)]
    x = scipy.optimize.minimize(loss, start, method="L-BFGS-B", bounds=bounds).x
    as_right, as_wrong = likelihoods(x)
    wrong = np.asarray(as_wrong / (as_right + as_wrong + 1e-300))
    likely = np.where(own, -1.0, predict(x))[np.nonzero(own)[0]].argmax(axis=1)
    single = indicator.sum(axis=0) == 1  # without its one label nothing speaks for such a class
    listed = (wrong > 0.5) & ~single[keys % indicator.shape[1]]
    return keys[listed], likely[listed], wrong[listed]


def _expected_precision(
    space: Space, graph: Graph, indicator: Mask, first: Ints, rng: np.random.Generator
) -> float:
    """Return the share of the list that is expected to be wrong, measured by changing labels that are not listed.

    It is a product of three shares: of changed labels among those that are listed in addition; of the list that is
    listed again (both the median of the repeats, since a search for weights may end elsewhere); and of the list that
    is of classes whose labels are mostly not listed. Without the last, a class that the graph does not predict at all
    would look as if all its labels were wrong.
    """
    n_classes = indicator.shape[1]
    shares, repeats = [], 5
    unlisted = np.setdiff1d(np.flatnonzero(indicator), first)
    unlisted = unlisted[~indicator[unlisted // n_classes].all(axis=1)]
    for _ in range(repeats):
        changed, wrong = indicator.copy(), []
        count = min(max(3, round(0.05 * len(unlisted))), len(unlisted))  # 5 % of the unlisted labels
        for key in rng.choice(unlisted, count, replace=False).tolist():
            row, given = divmod(key, n_classes)
            other = int(rng.choice(np.flatnonzero(~indicator[row])))
            if changed[:, given].sum() > 1 and not changed[row, other]:  # every class keeps a label
                changed[row, [given, other]] = False, True
                wrong.append(row * n_classes + other)
        keys = _list_issues(space, graph, changed)[0]
        if len(keys):  # else it says nothing of a list
            found, again = np.isin(keys, wrong).sum(), np.isin(keys, first).sum()
            # one more over all repeats: a few labels prove little
            precision = found / (len(keys) - again + 1 / repeats)
            shares.append(precision * (again / len(first) if len(first) else 1.0))
    if not shares:
        return 0.0
    given = first % n_classes
    believed = np.bincount(given, minlength=n_classes) <= MAX_WRONG * indicator.sum(axis=0)
    return float(np.median(shares) * (believed[given].mean() if len(first) else 1.0))
