"""How well plain k-means finds the classes in the vectors: a score without any classifier."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unseen.embedding import Embedding
from unseen.errors import UnsupportedError
from unseen.evaluation.protocol import check_inputs, joined_vectors
from unseen.labels import Labels
from unseen.randomness import RandomState, as_generator, child_seed
from unseen.splits import Split


@dataclass(frozen=True)
class ClusteringScore:
    """Agreement of k-means clusters with classes; 1 is perfect.

    Parameters
    ----------
    nmi : float
        Normalised mutual information (arithmetic mean of the entropies).
    ari : float
        Adjusted Rand index, 0 for a random partition.
    n_clusters : int
        As many as there are classes among the test nodes.
    n_test : int
        Number of test nodes.

    Examples
    --------
    >>> ClusteringScore(0.5, 0.4, 3, 90).to_dict()
    {'nmi': 0.5, 'ari': 0.4, 'n_clusters': 3, 'n_test': 90}
    """

    nmi: float
    ari: float
    n_clusters: int
    n_test: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        return asdict(self)


def clustering_scores(
    embedding: Embedding, labels: Labels, split: Split, *, random_state: RandomState = 0
) -> ClusteringScore:
    """Cluster the test nodes by k-means and compare the clusters with their classes.

    Parameters
    ----------
    embedding, labels, split
        As for :func:`unseen.evaluate`; the labels say how many clusters to look for and are otherwise
        used for the comparison only. One label per node.
    random_state : None, int or numpy Generator
        Seed of k-means, which starts ten times.

    Examples
    --------
    >>> import unseen
    >>> from unseen.evaluation import clustering_scores
    >>> labels = unseen.Labels.from_values(["a", "a", "b", "b", "a", "b"])
    >>> split = unseen.Split([4, 5], [0, 1, 2, 3], (), labels.keep([4, 5]))
    >>> clustering_scores(unseen.Embedding([[0], [0.1], [5], [5.1], [0], [5]]), labels, split).ari
    1.0
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    check_inputs(embedding, labels, split)
    if labels.is_multilabel:
        msg = "the clustering score compares clusters with classes, and some nodes have several labels; use evaluate"
        raise UnsupportedError(msg)
    truth = labels.codes[split.test]
    vectors = joined_vectors(embedding, labels, split.test)
    k = len(np.unique(truth))
    seed = child_seed(as_generator(random_state))
    with warnings.catch_warnings():
        # fewer different vectors than classes: fewer clusters, and the score says it all
        warnings.simplefilter("ignore", ConvergenceWarning)
        clusters = KMeans(k, n_init=10, random_state=seed).fit_predict(vectors)
    nmi = float(normalized_mutual_info_score(truth, clusters))
    return ClusteringScore(nmi, float(adjusted_rand_score(truth, clusters)), k, len(truth))
