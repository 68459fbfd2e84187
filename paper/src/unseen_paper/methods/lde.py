"""LDE: links by negative sampling and a vector for every seen class, learned together.

Wang, Tang, Aggarwal and Liu, "Linked Document Embedding for Classification", CIKM 2016.

J = - sum over edges w_ij [log s(z_i z_j) + K E_k log s(-z_i z_k)]
    - alpha sum over labelled i of log softmax_c(z_i v_c)[y_i]

k is drawn in proportion to degree^0.75, c runs over the seen classes. The original has a term for the words of a
document as well; it is left out here, because the comparison uses links and labels only. Batches and Adam as in LINE.
Without labels only the link term is left, which is LINE's first order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import log_softmax

from unseen.errors import logger
from unseen.ids import Array, Ints
from unseen.labels import Labels
from unseen.methods.vocabulary import Columns, Epochs, LabelWeight
from unseen_paper.methods.line import LINE, start_table
from unseen_paper.methods.sampling import Batch, EdgeSampler, link_gradient
from unseen_paper.methods.vocabulary import FallingRate


class LDE(LINE):
    """Vectors that tell an edge from a random pair and lie near the vector of their class.

    In an epoch as many edges are drawn as the graph has nodes, and at least 512; `alpha` weighs a labelled node against
    an edge.

    Attributes
    ----------
    loss_history_ : list of float
        Mean of J in every epoch, as estimated from its batches, divided by the weight of all edges.
    """

    reference = "Wang et al., Linked Document Embedding for Classification, CIKM 2016"
    _traits = replace(
        LINE._traits,
        name="lde",
        summary="links and class vectors by negative sampling",
        uses_labels=True,
        multilabel=False,
    )

    n_components: Columns = None
    alpha: LabelWeight = 0.01
    epochs: Epochs = 60
    learning_rate: FallingRate = 0.01

    def _fit_ordered(
        self, sampler: EdgeSampler, labels: Labels, order: Ints, columns: int, rng: np.random.Generator
    ) -> Array:
        codes = labels.codes[order]
        rows = np.flatnonzero(codes >= 0)
        if not len(rows):
            logger.info("%s: there are no labels, so only the links are learned from", self._name)
        _, classes = np.unique(codes[rows], return_inverse=True)
        nodes = start_table((sampler.degree > 0) | (codes >= 0), columns, rng)
        centres = np.zeros((int(classes.max(initial=-1)) + 1, columns), dtype=np.float32)

        def gradient(batch: Batch) -> tuple[float, list[Array]]:
            link = link_gradient(nodes, nodes, batch.src, batch.dst, batch.noise, self.n_negatives)
            scale = np.float32(self.alpha * len(batch.src) / sampler.total_weight)
            loss, by_rows, by_centres = label_gradient(nodes[rows], centres, classes)
            by_nodes = link.nodes + link.contexts
            by_nodes[rows] += scale * by_rows
            return link.loss + float(scale) * loss, [by_nodes, scale * by_centres]

        return self._train(sampler, [nodes, centres], gradient, rng)


def label_gradient(vectors: Array, centres: Array, classes: Ints) -> tuple[float, Array, Array]:
    """Return minus the log-probability of the classes and its gradients by the vectors and the class vectors."""
    if not len(vectors):
        return 0.0, np.zeros_like(vectors), np.zeros_like(centres)
    logs = log_softmax(vectors @ centres.T, axis=1)
    places = np.arange(len(classes)), classes
    wrong = np.exp(logs)
    wrong[places] -= 1
    return -float(logs[places].sum()), wrong @ centres, wrong.T @ vectors
