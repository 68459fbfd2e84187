"""Exact micro and macro F1, and how scores become labels.

All functions take boolean arrays with one row per node and one column per class of the graph. A class
that no test node has and that nobody predicts counts with F1 0, as in scikit-learn
(``zero_division=0``), so that figures of different splits average over the same classes.
"""

from __future__ import annotations

import numpy as np

from unseen.ids import Array, Floats, Mask


def f1_per_class(truth: Mask, predicted: Mask) -> Floats:
    """Return 2 tp / (2 tp + fp + fn) of each class, 0 where a class neither occurs nor is predicted.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.array([[True, False, False], [True, False, False]])
    >>> predicted = np.array([[True, False, False], [False, True, False]])
    >>> f1_per_class(truth, predicted).round(3).tolist()
    [0.667, 0.0, 0.0]
    """
    hits = (truth & predicted).sum(axis=0)
    either = truth.sum(axis=0) + predicted.sum(axis=0)
    return np.asarray(2 * hits / np.maximum(either, 1), dtype=np.float64)


def micro_f1(truth: Mask, predicted: Mask) -> float:
    """Return the F1 of all decisions together; with one label per node this is the accuracy.

    Examples
    --------
    >>> import numpy as np
    >>> micro_f1(np.array([[True, False], [True, False]]), np.array([[True, False], [False, True]]))
    0.5
    """
    hits = int((truth & predicted).sum())
    return 2 * hits / max(int(truth.sum()) + int(predicted.sum()), 1)


def macro_f1(truth: Mask, predicted: Mask) -> float:
    """Return the mean of the F1 of all classes, those absent from the test set included.

    Examples
    --------
    >>> import numpy as np
    >>> macro_f1(np.array([[True, False], [True, False]]), np.array([[True, False], [True, False]]))
    0.5
    """
    return float(f1_per_class(truth, predicted).mean())


def best_labels(scores: Array, counts: Array) -> Mask:
    """Give each node as many labels as it is known to have, those with the best scores.

    With one label per node this is the class of the best score. With several, the number is an oracle:
    DeepWalk's rule, which the paper follows. A class with the score -inf is never given; of equal
    scores the earlier class wins.

    Examples
    --------
    >>> import numpy as np
    >>> best_labels(np.array([[0.1, 0.9, 0.5]]), np.array([2])).tolist()
    [[False, True, True]]
    """
    labels = np.zeros(scores.shape, dtype=bool)
    if (counts == 1).all():
        labels[np.arange(len(scores)), scores.argmax(axis=1)] = True
    else:
        order = np.argsort(-scores, axis=1, kind="stable")
        np.put_along_axis(labels, order, np.arange(scores.shape[1]) < counts[:, None], axis=1)
    labels &= scores > -np.inf
    return labels


def positive_labels(scores: Array) -> Mask:
    """Give each node the classes whose score is above 0, and at least the best one: no oracle.

    Examples
    --------
    >>> import numpy as np
    >>> positive_labels(np.array([[0.1, 0.9, -0.5], [-3.0, -2.0, -1.0]])).tolist()
    [[True, True, False], [False, False, True]]
    """
    labels = np.asarray(scores > 0)
    return labels | best_labels(scores, np.ones(len(scores), dtype=np.int64))
