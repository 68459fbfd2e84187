"""Which labels are probably wrong: every label against what all other labels say about its node.

Class scores of a ridge classifier, in which a node is judged without its own label, and the labels of its neighbours
give the probability of each class (softmax). A label is right with an unknown probability, and any other class
otherwise. That probability and the weights of scores and neighbours are those under which all labels are most likely.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.optimize
import scipy.sparse as sp
from scipy.special import log_softmax

from unseen.data.objects_plain import as_graph, as_labels
from unseen.discovery.discover import check_graph, id_array, source_of, vectors_of
from unseen.discovery.evidence import Mask, class_scores
from unseen.discovery.space import Floats, principal_axes, unit_vectors
from unseen.embedding import Embedding
from unseen.engine.run import libraries_on_one_thread
from unseen.errors import InputError, logger
from unseen.graph import Graph
from unseen.ids import as_ids, id_order, match_ids
from unseen.labels import CONFIRMED, Labels, measure_homophily
from unseen.randomness import RandomState, as_generator, child_seed

if TYPE_CHECKING:
    from unseen.methods.base import Method

DOUBTFUL = 0.5
"""Labels are listed from this probability of being wrong on."""
SHARP = [20.0, 5.0, 0.1]
"""Where the search for weights begins: classes that are told well and some wrong labels, rather than vague classes."""
MAX_WRONG = 0.4
"""No more than this share of the labels is taken to be wrong."""


@libraries_on_one_thread()
def audit(
    graph: Graph | Any,
    labels: Labels | Any,
    *,
    method: str | Method | Embedding | None = None,
    random_state: RandomState = None,
) -> pa.Table:
    """Return the labels that are probably wrong, the most doubtful first.

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
    pyarrow.Table
        ``node``, ``label`` (as given), ``likely_class`` (what the other labels say) and ``probability`` (that the
        label is wrong, above 0.5). A node with several labels has a row for each that is doubtful. The label of a class
        that has no other is not judged, and labels that somebody confirmed (`Labels.answers`) are not listed.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.planted_partition(200, 3, random_state=0)
    >>> values = [data.labels.classes[code] for code in data.labels.codes]
    >>> values[7] = "c0" if values[7] == "c1" else "c1"
    >>> doubts = unseen.audit(data.graph, unseen.Labels.from_values(values), random_state=0)
    >>> doubts.column("node").to_pylist()
    [7]
    """
    graph = as_graph(graph)
    labels = as_labels(labels, graph)
    check_graph(graph, labels)
    order = id_order(graph.node_ids)
    graph = graph.subgraph(order)
    labels = labels.aligned(graph)
    columns = np.flatnonzero(labels.counts)
    if len(columns) < 2:
        msg = f"an audit compares classes, and the labels have {len(columns)}; label nodes of another class"
        raise InputError(msg)
    rng = as_generator(random_state)
    source = source_of(graph, method, child_seed(rng), homophilous=measure_homophily(graph, labels).holds)
    if getattr(source, "uses_labels", False):
        msg = f"{source.name} learns from the labels that are to be looked at; take a method that does not"  # type: ignore[union-attr]
        raise InputError(msg)
    doubts, alone = _judged(graph, labels, vectors_of(graph, labels, source)[0], rng)
    if alone:
        logger.info("not judged, because these classes have one label each: %s", ", ".join(alone))
    return doubts


def doubts_of(
    graph: Graph, labels: Labels, vectors: Embedding, random_state: RandomState = 0
) -> pa.Table | None:
    """Return what :func:`audit` does, for the nodes that have vectors; None where they are of less than two classes."""
    order = id_order(graph.node_ids)
    graph = graph.subgraph(order[match_ids(graph.node_ids[order], vectors.node_ids) >= 0]).plain
    labels = labels.of_nodes(graph.node_ids)
    if (labels.counts > 0).sum() < 2:
        return None
    rows = Embedding(vectors.rows(graph.node_ids), graph.node_ids, vectors.method, vectors.params)
    return _judged(graph, labels, rows, as_generator(random_state))[0]


def _judged(
    graph: Graph, labels: Labels, vectors: Embedding, rng: np.random.Generator
) -> tuple[pa.Table, list[str]]:
    """Return the doubtful labels, and the classes whose one label is not judged; nodes are in order of their ids."""
    axes = principal_axes(unit_vectors(vectors.vectors, rng))
    columns = np.flatnonzero(labels.counts)
    indicator = labels.indicator[:, columns].toarray()
    rows = np.flatnonzero(indicator.any(axis=1))
    scores, around = class_scores(axes, indicator)[rows], _around(graph, indicator)[rows]
    node, given, likely, wrong = _doubts(*_predict(scores, around, indicator[rows]), indicator[rows])
    alone = indicator.sum(axis=0) == 1  # without its one label nothing speaks for such a class
    confirmed = [node for node, answer in labels.answers.items() if answer == CONFIRMED]
    checked = np.isin(rows, match_ids(as_ids(confirmed), graph.node_ids))
    doubtful = np.flatnonzero((wrong > DOUBTFUL) & ~alone[given] & ~checked[node])
    doubtful = doubtful[np.argsort(-wrong[doubtful], kind="stable")]
    names = [labels.classes[k] for k in columns]
    doubts = pa.table(
        {
            "node": id_array(graph.node_ids[rows[node[doubtful]]]),
            "label": pa.array([names[k] for k in given[doubtful]], pa.string()),
            "likely_class": pa.array([names[k] for k in likely[doubtful]], pa.string()),
            "probability": pa.array(wrong[doubtful], pa.float64()),
        }
    )
    return doubts, [names[k] for k in np.flatnonzero(alone)]


def _around(graph: Graph, indicator: Mask) -> Floats:
    """Return the share of each class among a node's labelled neighbours, one more neighbour counting for none."""
    linked = sp.csr_array(graph.adjacency != 0).astype(np.float64)
    linked.setdiag(0)
    counts = linked @ indicator.astype(np.float64)
    return np.asarray(counts / (1 + linked @ indicator.any(axis=1))[:, None])


def _predict(scores: Floats, around: Floats, indicator: Mask) -> tuple[Floats, float]:
    """Return the probability of every class for every node by all other labels, and the share of wrong labels."""

    def log_probabilities(x: Floats) -> Floats:
        return np.asarray(log_softmax(x[0] * scores + x[1] * around, axis=1))

    def loss(x: Floats) -> float:
        right, wrong = _likelihoods(np.exp(log_probabilities(x)), float(x[2]), indicator)
        return -float(np.log(right + wrong + 1e-300).mean())

    bounds = [(0, 60), (0, 60), (1e-3, MAX_WRONG)]
    x = scipy.optimize.minimize(loss, np.array(SHARP), method="L-BFGS-B", bounds=bounds).x
    return np.exp(log_probabilities(x)), float(x[2])


def _likelihoods(p: Floats, share: float, indicator: Mask) -> tuple[Floats, Floats]:
    """Return how likely each label is as a right one and as a wrong one; labels of a node share its probability."""
    own = np.minimum((indicator.sum(axis=1)[:, None] * p)[indicator], 1.0)
    return (1 - share) * own, share * (1 - own) / max(indicator.shape[1] - 1, 1)


def _doubts(
    p: Floats, share: float, indicator: Mask
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]:
    """Return row, given class and likely class of every label, and the probability that it is wrong."""
    node, given = (np.asarray(part, dtype=np.int64) for part in np.nonzero(indicator))
    right, wrong = _likelihoods(p, share, indicator)
    likely = np.where(indicator, -1.0, p)[node].argmax(axis=1)
    return node, given, likely, np.asarray(wrong / (right + wrong + 1e-300))
