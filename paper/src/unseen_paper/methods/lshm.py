"""LSHM: free node vectors and a linear classifier, learned together under a smoothness of the graph.

Jacob, Denoyer and Gallinari, "Learning Latent Representations of Nodes for Classifying in Heterogeneous Social
Networks", WSDM 2014, for one type of node.

J = sum over labelled i, seen classes c of max(0, 1 - y_ic (w_c z_i + b_c))
    + lam sum over edges of w_ij ||z_i - z_j||^2

y_ic is 1 or -1 (one versus rest, so several labels a node are nothing special). z starts at random. What differs
from the original, which takes one node or edge at a time: whole gradients with Adam and a linearly falling step, so
a run is deterministic up to its start. J alone would let z shrink while w grows; a limited number of steps from a
start of unit-length rows keeps it from that, and keeps what the graph makes of the start, without which nothing
would tell unseen classes apart: at the optimum z has the rank of the seen classes. The vectors are z without its
mean, each scaled to length 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.engine.sparse import Matrix
from unseen.graph import Graph
from unseen.ids import Array, Ints, Singles
from unseen.labels import Labels
from unseen.linalg.normalize import l2_rows
from unseen.methods.base import Method, Traits, Vectors
from unseen.methods.vocabulary import Columns, Epochs
from unseen.randomness import child_seed, keyed_uniform, node_keys
from unseen_paper.methods.sampling import Adam
from unseen_paper.methods.vocabulary import FallingRate, GraphWeight


class LSHM(Method):
    """Vectors on which a linear classifier separates the seen classes and which neighbours share.

    `learning_rate` is a share of a typical entry of the start, 1 / sqrt(columns).

    Attributes
    ----------
    loss_history_ : list of float
        J before every step.

    Notes
    -----
    A node with neither edge nor label keeps its start, a random direction: no term of J speaks of it.
    """

    reference = (
        "Jacob et al., Learning Latent Representations of Nodes for Classifying in Heterogeneous Social Networks, "
        "WSDM 2014"
    )
    _traits = Traits(
        "lshm",
        "smooth vectors learned together with a linear classifier",
        uses_labels=True,
        needs_labels=True,
    )

    n_components: Columns = None
    lam: GraphWeight = 1.0
    epochs: Epochs = 100
    learning_rate: FallingRate = 0.2

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        columns = self._traits.default_components if self.n_components is None else self.n_components
        objective, rng = LSHMObjective.of(graph, labels, self.lam, run), run.rng
        keys = node_keys(graph.node_ids, child_seed(rng))
        vectors = l2_rows(keyed_uniform(keys, columns) - 0.5).astype(np.float32)
        weights = (rng.normal(size=(columns, objective.signs.shape[1])) / np.sqrt(columns)).astype(np.float32)
        bias = np.zeros(objective.signs.shape[1], dtype=np.float32)
        adam = Adam([vectors, weights, bias], self.learning_rate / np.sqrt(columns))
        self.loss_history_ = []
        for epoch in range(self.epochs):
            loss, gradients = objective.gradient(vectors, weights, bias)
            self.loss_history_.append(loss)
            adam.step(gradients, 1 - epoch / self.epochs)
        # Smoothing leaves mostly what all nodes share, and of the rest less the better a node is connected. J does not
        # see where the centre is (b takes it up); lengths are evened out for the sake of whoever classifies next.
        return l2_rows(vectors - vectors.mean(axis=0, dtype=np.float64).astype(np.float32))


@dataclass(frozen=True)
class LSHMObjective:
    """J and its gradient.

    Parameters
    ----------
    laplacian : Matrix, shape (n, n)
        2 lam (D - A); self-loops do not matter to it.
    rows : ndarray of int
        The labelled nodes.
    signs : ndarray, shape (labelled nodes, classes)
        y.
    """

    laplacian: Matrix
    rows: Ints
    signs: Singles

    @classmethod
    def of(cls, graph: Graph, labels: Labels, lam: float, run: Run) -> LSHMObjective:
        """Take the classes that have labelled nodes; the others have nothing to teach."""
        degree = np.asarray(graph.adjacency.sum(axis=1))
        laplacian = sp.csr_array(sp.diags_array(degree, format="csr") - graph.adjacency) * (2 * lam)
        rows = labels.labelled
        has = labels.indicator[rows][:, np.flatnonzero(labels.counts)].toarray()
        return cls(run.matrix(laplacian), rows, np.where(has, 1, -1).astype(np.float32))

    def gradient(self, vectors: Array, weights: Array, bias: Array) -> tuple[float, list[Array]]:
        """Return J and its gradient by the vectors, the weights and the bias of the classifier."""
        labelled = vectors[self.rows]
        slack = 1 - self.signs * (labelled @ weights + bias)
        pull = np.where(slack > 0, -self.signs, 0).astype(vectors.dtype)
        rough = self.laplacian @ vectors  # sum over edges of w ||z_i - z_j||^2 = tr(Z'(D - A)Z)
        loss = float(np.maximum(slack, 0).sum()) + float(np.einsum("ij,ij->", vectors, rough)) / 2
        rough[self.rows] += pull @ weights.T
        return loss, [rough, labelled.T @ pull, pull.sum(axis=0)]
