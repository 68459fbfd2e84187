"""LDE: links by negative sampling and a vector for every seen class, learned together.

Wang, Tang, Aggarwal and Liu, "Linked Document Embedding for Classification", CIKM 2016.

J = - sum over edges w_ij [log s(z_i z_j) + K E_k log s(-z_i z_k)]
    - alpha sum over labelled i of log softmax_c(z_i v_c)[y_i]

k is drawn in proportion to degree^0.75, c runs over the seen classes. The original has a term for the words of a
document as well; it is left out here, because the comparison uses links and labels only. Batches and Adam as in LINE.
Without labels only the link term is left, which is LINE's first order.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax

from unseen.engine.run import Run
from unseen.errors import logger
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.linalg.sampling import UPDATES, Adam, EdgeSampler, batches, link_gradient
from unseen.methods.base import Method, Vectors, warn_no_edges
from unseen.methods.vocabulary import Columns, Epochs, FallingRate, LabelWeight, Negatives

Dense = npt.NDArray[np.floating[Any]]


class LDE(Method):
    """Vectors that tell an edge from a random pair and lie near the vector of their class.

    In an epoch as many edges are drawn as the graph has nodes, and at least 512; `alpha` weighs a labelled node against
    an edge.

    Attributes
    ----------
    loss_history_ : list of float
        Mean of J in every epoch, as estimated from its batches, divided by the weight of all edges.

    Notes
    -----
    Step and epochs were chosen by micro F1 in two folds of the seen labels of one split (30 % labels), in each of which
    other classes were hidden from the method; no test node and no unseen class was looked at. Mean over Citeseer and
    Wiki: step 0.003 .642 (60 epochs), .647 (125) and .634 (250), step 0.01 .640, .628 and .612. No gain by more than
    chance comes from more epochs, which is what a run pays for; the smaller step leaves small graphs half trained.
    """

    name: ClassVar[str] = "lde"
    summary: ClassVar[str] = "links and class vectors by negative sampling"
    reference: ClassVar[str] = "Wang et al., Linked Document Embedding for Classification, CIKM 2016"
    uses_labels: ClassVar[bool] = True
    multilabel: ClassVar[bool] = False

    n_components: Columns = None
    alpha: LabelWeight = 0.01
    epochs: Epochs = 60
    learning_rate: FallingRate = 0.01
    n_negatives: Negatives = 5

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        columns = self.default_components if self.n_components is None else self.n_components
        if graph.isolated.all():
            warn_no_edges(self.name)
            self.loss_history_: list[float] = []
            return np.zeros((len(graph.node_ids), columns), dtype=np.float32)
        if not len(labels.labelled):
            logger.info("%s: there are no labels, so only the links are learned from", self.name)
        # Nodes are taken in the order of their ids, so that permuting the graph permutes the rows and nothing else.
        order = np.argsort(graph.node_ids, kind="stable")
        sampler = EdgeSampler(graph.adjacency[order][:, order])
        ordered = self._train(sampler, labels.codes[order], columns, run.rng)
        return np.asarray(ordered[np.argsort(order)])

    def _train(
        self, sampler: EdgeSampler, codes: npt.NDArray[np.int64], columns: int, rng: np.random.Generator
    ) -> npt.NDArray[np.float32]:
        rows = np.flatnonzero(codes >= 0)
        _, classes = np.unique(codes[rows], return_inverse=True)
        linked = (sampler.degree > 0) | (codes >= 0)
        nodes = ((rng.random((len(codes), columns)) - 0.5) / columns * linked[:, None]).astype(np.float32)
        centres = np.zeros((int(classes.max(initial=-1)) + 1, columns), dtype=np.float32)
        adam = Adam([nodes, centres], self.learning_rate)
        self.loss_history_ = [0.0] * self.epochs
        for batch in batches(sampler, self.epochs, rng):
            link = link_gradient(nodes, nodes, batch.src, batch.dst, batch.noise, self.n_negatives)
            scale = np.float32(self.alpha * len(batch.src) / sampler.total_weight)
            label = label_gradient(nodes[rows], centres, classes)
            of_nodes = link.nodes + link.contexts
            of_nodes[rows] += scale * label[1]
            adam.step([of_nodes, scale * label[2]], batch.share)
            loss = link.loss + float(scale) * label[0]
            self.loss_history_[batch.epoch] += loss / (UPDATES * len(batch.src))
        return nodes


def label_gradient(
    vectors: Dense, centres: Dense, classes: npt.NDArray[np.int64]
) -> tuple[float, Dense, Dense]:
    """Return minus the log-probability of the classes and its gradients by the vectors and the class vectors."""
    if not len(vectors):
        return 0.0, np.zeros_like(vectors), np.zeros_like(centres)
    logs = log_softmax(vectors @ centres.T, axis=1)
    places = np.arange(len(classes)), classes
    wrong = np.exp(logs)
    wrong[places] -= 1
    return -float(logs[places].sum()), wrong @ centres, wrong.T @ vectors
