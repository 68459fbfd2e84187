"""The protocol: train on L, test on the rest; the embedding has seen L' only.

Two sets of labels, and two parties. The embedding may see L', the labels of L without the unseen
classes. The classifier sees all of L, the unseen classes included: the question is whether the
vectors tell apart what they were never told about.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from unseen.embedding import Embedding
from unseen.engine.run import libraries_on_one_thread
from unseen.errors import InputError, UnsupportedError, unknown_name
from unseen.evaluation.classifier import train_linear, train_rbf
from unseen.evaluation.metrics import best_labels, f1_per_class, macro_f1, micro_f1, positive_labels
from unseen.evaluation.scores import ClusteringScore, Score, ScoreSummary
from unseen.ids import Ints, match_ids
from unseen.labels import Labels
from unseen.linalg.normalize import l2_rows
from unseen.randomness import RandomState, as_generator, child_seed
from unseen.splits import Split, check_labels

ClassifierName = Literal["linear", "rbf"]
CLASSIFIERS = ("linear", "rbf")


@libraries_on_one_thread()
def evaluate(
    embedding: Embedding,
    labels: Labels,
    split: Split,
    *,
    classifier: ClassifierName = "linear",
    C: float | None = None,
    scale: bool = False,
    random_state: RandomState = 0,
) -> Score:
    """Train a classifier on the vectors of L and score it on the test nodes.

    Parameters
    ----------
    embedding : Embedding
        From any source; joined to the labels by id, in any order. Nodes without labels do no harm.
    labels : Labels
        All labels, those of the test nodes and of the unseen classes included.
    split : Split
        Row numbers in `labels` of L and of the test nodes, and the classes to call unseen.
    classifier : {"linear", "rbf"}
        A linear SVM (squared hinge, one versus rest), as in the paper, or the released code's RBF SVM.
    C : float, optional
        When not given, the linear SVM's is chosen by cross-validation inside L, for the mean of
        micro and macro F1, from eleven values that follow the scale of the vectors; the RBF SVM's is 1, as released.
    scale : bool
        Scale every vector to length 1 first. By default they are used as they are.
    random_state : None, int or numpy Generator
        Seed of the folds.

    Returns
    -------
    Score

    Examples
    --------
    >>> import unseen
    >>> data = unseen.load_dataset("debian")
    >>> split = unseen.completely_imbalanced_split(data.labels, label_rate=0.1, unseen=["mail"], random_state=0)
    >>> score = unseen.evaluate(unseen.NodeFeats().fit_transform(data.graph), data.labels, split, random_state=0)
    >>> score.micro_f1 > 0.5
    True
    """
    if classifier not in CLASSIFIERS:
        raise unknown_name("classifier", classifier, CLASSIFIERS)
    check_inputs(embedding, labels, split)
    unseen = labels.class_numbers(split.unseen)
    vectors = select_vectors(embedding, labels, np.r_[split.train, split.test], scale=scale)
    n = len(split.train)
    known = vectors[:n], labels.indicator[split.train].toarray(), C
    trained = train_linear(*known, random_state) if classifier == "linear" else train_rbf(*known)
    scores = trained.scores(vectors[n:])
    truth = labels.indicator[split.test].toarray()
    predicted = best_labels(scores, truth.sum(axis=1))
    per_class = f1_per_class(truth, predicted)
    seen = np.delete(per_class, unseen)
    free = positive_labels(scores) if labels.is_multilabel else None
    return Score(
        micro_f1=micro_f1(truth, predicted),
        macro_f1=macro_f1(truth, predicted),
        per_class=dict(zip(labels.classes, per_class.tolist(), strict=True)),
        seen_f1=float(seen.mean()) if len(seen) else None,
        unseen_f1=float(per_class[unseen].mean()) if len(unseen) else None,
        C=trained.C,
        classifier=classifier,
        n_train=n,
        n_test=len(split.test),
        micro_f1_no_oracle=None if free is None else micro_f1(truth, free),
        macro_f1_no_oracle=None if free is None else macro_f1(truth, free),
    )


def evaluate_many(
    embedding: Embedding,
    labels: Labels,
    splits: Iterable[Split],
    *,
    random_state: RandomState = 0,
    **options: Any,
) -> ScoreSummary:
    """Evaluate the same vectors on several splits.

    Parameters
    ----------
    embedding, labels, random_state
        As for :func:`evaluate`.
    splits : iterable of Split
        At least one. Vectors that were learned from labels have to be tested on the split whose
        labels they saw, and no other.
    **options
        `classifier`, `C` and `scale` of :func:`evaluate`.

    Examples
    --------
    >>> import unseen
    >>> from unseen.evaluation import evaluate_many
    >>> data = unseen.load_dataset("debian")
    >>> splits = [unseen.balanced_split(data.labels, label_rate=0.1, random_state=seed) for seed in (0, 1)]
    >>> summary = evaluate_many(unseen.NodeFeats().fit_transform(data.graph), data.labels, splits)
    >>> summary.to_dict()["n_splits"]
    2
    """
    options["random_state"] = random_state
    return ScoreSummary(tuple(evaluate(embedding, labels, split, **options) for split in splits))


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
    vectors = select_vectors(embedding, labels, split.test)
    k = len(np.unique(truth))
    seed = child_seed(as_generator(random_state))
    with warnings.catch_warnings(), libraries_on_one_thread():
        # fewer different vectors than classes: fewer clusters, and the score says it all
        warnings.simplefilter("ignore", ConvergenceWarning)
        clusters = KMeans(k, n_init=10, random_state=seed).fit_predict(vectors)
    nmi = float(normalized_mutual_info_score(truth, clusters))
    return ClusteringScore(nmi, float(adjusted_rand_score(truth, clusters)), k, len(truth))


def check_inputs(embedding: Embedding, labels: Labels, split: Split) -> None:
    """Raise an `InputError` where the three do not fit together."""
    if not isinstance(embedding, Embedding):
        msg = (
            f"`embedding` must be an unseen.Embedding, got {type(embedding).__name__}; "
            "unseen.Embedding(vectors, node_ids) makes one of an array"
        )
        raise InputError(msg)
    check_labels_and_split(labels, split)
    labelled = np.diff(labels.indicator.indptr) > 0
    for name, rows in (("train", split.train), ("test", split.test)):
        if not len(rows):
            msg = f"`split.{name}` is empty; it needs at least one labelled node"
            raise InputError(msg)
        odd = np.setdiff1d(rows, np.flatnonzero(labelled))
        if len(odd):
            where = f"row {odd[0]}, which is not one of the {labelled.sum()} labelled nodes"
            msg = f"`split.{name}` names {where}; was it drawn from other labels?"
            raise InputError(msg)
    both = np.intersect1d(split.train, split.test)
    if len(both):
        msg = f"node {labels.node_ids[both[0]]!r} is in both `split.train` and `split.test`; no node may be in both"
        raise InputError(msg)


def check_labels_and_split(labels: Labels, split: Split) -> None:
    """Raise an `InputError` where one of the two is something else."""
    check_labels(labels)
    if not isinstance(split, Split):
        msg = f"`split` must be an unseen.Split, got {type(split).__name__}; completely_imbalanced_split draws one"
        raise InputError(msg)


def select_vectors(embedding: Embedding, labels: Labels, rows: Ints, *, scale: bool = False) -> Any:
    """Return the vectors of the nodes in the given rows of `labels`, found by id; of length 1 if `scale`."""
    ids = labels.node_ids[rows]
    places = match_ids(ids, embedding.node_ids)
    missing = np.flatnonzero(places < 0)
    if len(missing):
        msg = (
            f"the embedding has no vector for {len(missing)} of {len(ids)} labelled nodes, the first is "
            f"{ids[missing[0]]!r}; embed them too, or leave them out of the labels"
        )
        raise InputError(msg)
    vectors = embedding.vectors[places]
    return l2_rows(vectors) if scale else vectors
