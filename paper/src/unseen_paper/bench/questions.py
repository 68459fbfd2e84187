"""How many nodes must be labelled until every class has a label: a study with answers from the true labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unseen.data.datasets import Dataset
from unseen.discovery.discover import discover
from unseen.discovery.evidence import Mask, gather
from unseen.discovery.space import Space, make_space
from unseen.discovery.suggest import suggest_from
from unseen.embedding import Embedding
from unseen.ids import as_ids, match_ids
from unseen.labels import Labels
from unseen.methods.registry import make_method
from unseen.splits import completely_imbalanced_split, random_unseen_sets

STRATEGIES = ("suggest", "random", "uncertainty")
BATCH = 5
"""Questions asked before the answers are looked at."""


@dataclass(frozen=True)
class Questions:
    """What one run took: questions until every class had a label, and the share of them found after 20."""

    count: int
    after_20: float
    finished: bool


def questions(data: Dataset, strategy: str, hidden: int, rate: float, most: int, seed: int) -> Questions:
    """Ask for labels, `BATCH` at a time, until no class is missing or `most` questions were asked.

    Parameters
    ----------
    data : Dataset
        Gives the answers: all labels of the node asked for.
    strategy : str
        One of `STRATEGIES`; uncertainty takes the nodes whose best two class scores are nearest to each other.
    hidden : int
        Number of classes without any label at the start.
    rate : float
        Share of the nodes that is labelled at the start.
    most, seed : int
        Where to give up, and the seed of the draw.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.planted_partition(200, 4, random_state=0)
    >>> questions(data, "random", 1, 0.1, 50, 0).finished
    True
    """
    names = random_unseen_sets(data.labels, hidden, 1, random_state=seed)[0]
    split = completely_imbalanced_split(data.labels, label_rate=rate, unseen=names, random_state=seed)
    truth = data.labels.indicator.toarray()
    labelled = split.seen_labels.labelled
    columns = data.labels.class_numbers(names)
    answered = np.zeros_like(truth)
    answered[labelled] = truth[labelled]
    answered[:, columns] = False
    rng = np.random.default_rng(seed)
    vectors = make_method("smoothfeats", random_state=0).fit_transform(data.graph)
    space = make_space(vectors, rng)
    count, n_found = 0, []
    while count < most:
        for row in _next(data, vectors, space, answered, strategy, rng):
            count += 1
            answered[row] = truth[row]
            n_found.append(int(answered[:, columns].any(axis=0).sum()))
            if n_found[-1] == hidden or count == most:
                return Questions(count, n_found[min(20, count) - 1] / hidden, n_found[-1] == hidden)
    return Questions(count, n_found[19] / hidden, False)


def _next(
    data: Dataset, vectors: Embedding, space: Space, answered: Mask, strategy: str, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    open_rows = np.flatnonzero(~answered.any(axis=1))
    if strategy == "random":
        return rng.choice(open_rows, min(BATCH, len(open_rows)), replace=False)
    if strategy == "uncertainty":
        scores = np.sort(gather(space, answered[:, answered.any(axis=0)]).scores[open_rows], axis=1)
        margin = scores[:, -1] - scores[:, -2] if scores.shape[1] > 1 else scores[:, -1]
        return open_rows[np.argsort(margin, kind="stable")[:BATCH]]
    labels = Labels(answered, data.labels.classes, data.graph.node_ids)  # type: ignore[arg-type]
    suggestions = suggest_from(discover(data.graph, labels, method=vectors, random_state=rng), BATCH)
    return match_ids(as_ids([one.node for one in suggestions]), data.graph.node_ids)
