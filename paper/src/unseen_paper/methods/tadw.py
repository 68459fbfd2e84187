"""TADW: DeepWalk's matrix factorised through the node features.

Yang, Liu, Zhao, Sun and Chang, "Network Representation Learning with Rich Text Information", IJCAI 2015.

J = ||M - W' H T||^2 + lam / 2 (||W||^2 + ||H||^2),  M = (Abar + Abar^2) / 2

T holds the features of the nodes, reduced to 200 dimensions by SVD; W is k x n, H is k x 200. The vectors are
[W', (H T)'], each half l2-normalised. What differs from the authors' program: M is an operator and only M T' is ever
needed, once; both steps of the alternation are solved exactly (a ridge and a Sylvester equation of 200 x 200 size)
in place of conjugate gradients; the start is the best factorisation without regularisation, in place of a random one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy.linalg

from unseen.engine.run import Run
from unseen.graph import Graph
from unseen.ids import Array
from unseen.labels import Labels
from unseen.linalg.normalize import l2_rows
from unseen.linalg.svd import eigh, truncated_svd
from unseen.linalg.walk import WalkMatrix
from unseen.methods.base import Method, Traits, Vectors, rows_and_columns, warn_no_edges
from unseen.methods.vocabulary import Columns, Regularisation, Rounds, RoundTolerance
from unseen.params import Limits
from unseen_paper.methods.vocabulary import NormalizeFeatures

FEATURE_DIMENSIONS = 200


class TADW(Method):
    """Vectors whose products with each other, through the features, give the chances of a short walk.

    Half of the columns (one more, if their number is odd) are for W.

    Attributes
    ----------
    loss_history_ : list of float
        J after every round, without the constant ||M||^2.
    """

    reference = "Yang et al., Network Representation Learning with Rich Text Information, IJCAI 2015"
    _traits = Traits("tadw", "the walk matrix factorised through the features", uses_features=True)

    n_components: Annotated[Columns, Limits(2)] = None
    lam: Regularisation = 0.2
    normalize_features: NormalizeFeatures = False
    max_iter: Annotated[Rounds, Limits(1)] = 20
    tol: RoundTolerance = 1e-4

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:  # noqa: ARG002
        features = graph.adjacency if graph.features is None else graph.features
        width = min(FEATURE_DIMENSIONS, *features.shape)
        why = rows_and_columns(graph)
        if width == FEATURE_DIMENSIONS:
            why = f"features are reduced to {FEATURE_DIMENSIONS} dimensions, for each half"
        columns = self._components(self.n_components, 2 * width, why)
        if graph.isolated.all():
            warn_no_edges(self._name)
        reduced: Array = truncated_svd(features, width, run.rng, run)[0].astype(np.float64)
        if self.normalize_features:
            reduced = l2_rows(reduced)
        problem = TADWProblem.of(WalkMatrix(run.matrix(graph.adjacency, symmetric=True)), reduced, self.lam)
        H = problem.start(columns - columns // 2)
        self.loss_history_ = []
        for _ in range(self.max_iter):
            W = problem.best_w(H)
            H = problem.best_h(W)
            self.loss_history_.append(problem.cost(W, H))
            if len(self.loss_history_) > 1:
                before, now = self.loss_history_[-2:]
                if before - now <= self.tol * abs(now):
                    break
        # The second half holds the leading columns of (H T)', so that an odd number can be split.
        return np.hstack([l2_rows(W), l2_rows(problem.features @ H.T[:, : columns // 2])])


@dataclass(frozen=True)
class TADWProblem:
    """J for given features; W and T are kept transposed, with one row per node.

    Parameters
    ----------
    features : ndarray, shape (n, f)
        T', turned so that its Gram matrix is diagonal; J does not see that.
    lengths : ndarray, shape (f,)
        Diagonal of that Gram matrix.
    walked : ndarray, shape (n, f)
        M T'.
    lam : float
        As in J.
    """

    features: Array
    lengths: Array
    walked: Array
    lam: float

    @classmethod
    def of(cls, walk: WalkMatrix, features: Array, lam: float) -> TADWProblem:
        """Turn the features and multiply them with M, the only time that M is used."""
        lengths, axes = eigh(features.T @ features)
        turned = features @ axes
        return cls(turned, np.maximum(lengths, 0.0), walk.matmat(turned), lam)

    def start(self, k: int) -> Array:
        """Return H of the best rank-k factorisation without regularisation: an SVD of M on the span of T."""
        whole = self.lengths > 1e-10 * max(float(self.lengths.max(initial=0.0)), 1e-300)
        inverse = np.where(whole, 1 / np.sqrt(np.where(whole, self.lengths, 1)), 0)
        projected = self.walked * inverse
        squares, axes = eigh(projected.T @ projected)
        squares, axes = squares[::-1][:k], axes[:, ::-1][:, :k]
        return np.asarray((axes * np.maximum(squares, 0) ** 0.25).T * inverse)

    def best_w(self, H: Array) -> Array:
        """Return W' that minimises J for this H: a ridge solve."""
        gram = (H * self.lengths) @ H.T + self.lam / 2 * np.eye(len(H))
        return np.asarray(scipy.linalg.solve(gram, H @ self.walked.T, assume_a="pos").T)

    def best_h(self, W: Array) -> Array:
        """Return H that minimises J for this W': (W W') H (T T') + lam/2 H = W M T', in the axes of W W'."""
        values, axes = eigh(W.T @ W)
        right = axes.T @ (W.T @ self.walked)
        return np.asarray(axes @ (right / (np.maximum(values, 0)[:, None] * self.lengths + self.lam / 2)))

    def cost(self, W: Array, H: Array) -> float:
        """Return J without ||M||^2."""
        gram_w, gram_h = W.T @ W, (H * self.lengths) @ H.T
        fit = float(np.sum(gram_w * gram_h)) - 2 * float(np.sum(W * (self.walked @ H.T)))
        return fit + self.lam / 2 * float(np.trace(gram_w) + np.sum(H * H))
