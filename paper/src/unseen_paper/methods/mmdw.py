"""MMDW: DeepWalk's factorisation, pulled towards a large margin between the seen classes.

Tu, Zhang, Liu and Sun, "Max-Margin DeepWalk: Discriminative Learning of Network Representation", IJCAI 2016.

Rounds of (1) a multi-class linear SVM on the vectors of the labelled nodes, (2) a biased step that moves each support
vector towards the weights of its own class and away from the others', u_i += sum_c a_ic y_ic w_c, in proportion to its
dual variables a_ic, (3) factorisation as in MFDW: H from the moved vectors, then U from H,

min ||M - U H||^2 + lam (||U||^2 + ||H||^2),  M = (Abar + Abar^2) / 2.

What differs from the authors' program: both factorisation steps are exact ridge solves on M as an operator; the SVM is
one versus rest with squared hinge loss, whose dual variables are 2 C max(0, 1 - y_ic (w_c u_i + b_c)); the step is
measured in lengths of a vector, so that its weight means the same on every graph; a round ends with the
factorisation, so that labelled and other nodes are placed by the same rule and the labels speak through H.
"""

from __future__ import annotations

import numpy as np
from sklearn.svm import LinearSVC

from unseen.engine.run import Run
from unseen.errors import logger
from unseen.graph import Graph
from unseen.ids import Array
from unseen.labels import Labels
from unseen.linalg.svd import gram
from unseen.linalg.walk import WalkMatrix
from unseen.methods.base import Method, Traits, Vectors
from unseen.methods.mfdw import MFDW
from unseen.methods.rsdne_solvers import ridge
from unseen.methods.vocabulary import Columns, LabelWeight, Regularisation, Rounds
from unseen.randomness import child_seed
from unseen_paper.methods.vocabulary import Slack

START_ROUNDS = 5
"""Rounds of MFDW before the labels come in; its start leaves few to do."""


class MMDW(Method):
    """Vectors of the walk matrix between whose seen classes a linear SVM finds a wide margin.

    `alpha` is the length of the biased step, in lengths of a labelled vector (root mean square of both); no round at
    all gives MFDW.

    Attributes
    ----------
    loss_history_ : list of float
        Mean loss of the SVM on a labelled node (sum over classes of the squared hinge) in every round.
    """

    reference = (
        "Tu et al., Max-Margin DeepWalk: Discriminative Learning of Network Representation, IJCAI 2016"
    )
    _traits = Traits(
        "mmdw", "the walk matrix factorised under a max-margin pull", uses_labels=True, multilabel=False
    )

    n_components: Columns = None
    alpha: LabelWeight = 0.1
    lam: Regularisation = 0.1
    C: Slack = 1.0
    max_iter: Rounds = 5

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        columns = self._components(self.n_components, graph.n_nodes, f"there are {graph.n_nodes} nodes")
        seed = child_seed(run.rng)
        start = MFDW(n_components=columns, lam=self.lam, max_iter=START_ROUNDS, random_state=seed)
        key = (MMDW, columns, self.lam, seed)
        U: Array = run.once(key, lambda: start._fit(graph, labels, run.with_seed(seed)))
        self.loss_history_ = []
        rows, (names, classes) = labels.labelled, np.unique(labels.indicator.indices, return_inverse=True)
        if len(names) < 2:
            logger.warning(
                "%s: a margin needs two labelled classes and there are %d, so this is mfdw",
                self._name,
                len(names),
            )
            return U
        walk = run.once(WalkMatrix, lambda: WalkMatrix(run.matrix(graph.adjacency, symmetric=True)))
        signs = np.where(classes[:, None] == np.arange(len(names)), 1.0, -1.0)
        seed = child_seed(run.rng)
        for _ in range(self.max_iter):
            loss, bias = margin_bias(U[rows], signs, self.C, seed)
            self.loss_history_.append(loss)
            moved = U.copy()
            moved[rows] += (self.alpha * bias).astype(U.dtype)
            Ht = ridge(walk.rmatmat(moved), gram(moved, run), self.lam, run)
            U = ridge(walk.matmat(Ht), gram(Ht, run), self.lam, run)
        return U


def margin_bias(vectors: Array, signs: Array, C: float, seed: int) -> tuple[float, Array]:
    """Fit a one-versus-rest SVM; return its mean loss and where its dual variables push every vector.

    Parameters
    ----------
    vectors : ndarray, shape (labelled nodes, d)
        What the SVM learns from.
    signs : ndarray, shape (labelled nodes, classes)
        1 for the class of a node, -1 for the others.
    C : float
        Weight of the slack.
    seed : int
        Of the solver.

    Returns
    -------
    loss : float
        Mean over nodes of the sum over classes of max(0, 1 - y f)^2.
    bias : ndarray like `vectors`
        sum_c a_ic y_ic w_c, scaled so that its root mean square length is that of the vectors.
    """
    length = np.sqrt(np.mean(np.sum(vectors.astype(np.float64) ** 2, axis=1)))
    if length == 0:
        return float(signs.shape[1]), np.zeros_like(vectors)
    scaled = vectors / length
    svm = LinearSVC(C=C, tol=1e-3, dual="auto", random_state=seed)
    weights, slack = np.empty((signs.shape[1], vectors.shape[1])), np.empty(signs.shape)
    for number, sign in enumerate(signs.T):
        svm.fit(scaled, sign)
        weights[number] = svm.coef_[0]
        slack[:, number] = np.maximum(0, 1 - sign * svm.decision_function(scaled))
    pushed = (2 * C * slack * signs) @ weights
    size = np.sqrt(np.mean(np.sum(pushed**2, axis=1)))
    return float(np.mean(np.sum(slack**2, axis=1))), pushed * (length / size if size > 0 else 0.0)
