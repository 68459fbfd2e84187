"""LINE: first-order and second-order proximity by negative sampling over edges.

Tang, Qu, Wang, Zhang, Yan and Mei, "LINE: Large-scale Information Network Embedding", WWW 2015.

first order    max  sum over edges w_ij [log s(u_i u_j) + K E_k log s(-u_i u_k)]
second order   the same with context vectors, log s(u_i c_j) + K E_k log s(-u_i c_k)

k is drawn in proportion to degree^0.75. The halves are learned separately, l2-normalised and put side by side.
What differs from the authors' program: batches with shared noise nodes and Adam in place of one edge at a time (the
step falls linearly as there); self-loops are not drawn; a node without an edge to another gets the zero vector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np

from unseen.engine.run import Run
from unseen.graph import Graph
from unseen.ids import Array, Ints, Mask
from unseen.labels import Labels
from unseen.linalg.normalize import l2_rows
from unseen.methods.base import Method, Traits, Vectors
from unseen.methods.vocabulary import Columns, Epochs, Negatives
from unseen.params import Limits
from unseen_paper.methods.sampling import UPDATES, Adam, Batch, EdgeSampler, batches, link_gradient
from unseen_paper.methods.vocabulary import FallingRate


class LINE(Method):
    """Vectors that tell an edge from a random pair, by first-order and second-order proximity.

    Half of the columns (one more, if their number is odd) are of the first order. In an epoch as many edges are drawn
    as the graph has nodes, and at least 512.

    Attributes
    ----------
    loss_history_ : list of float
        Mean loss of an edge in every epoch, first order and second order added.
    """

    reference = "Tang et al., LINE: Large-scale Information Network Embedding, WWW 2015"
    _traits = Traits("line", "first-order and second-order proximity by negative sampling")

    n_components: Annotated[Columns, Limits(2)] = None
    epochs: Epochs = 400
    learning_rate: FallingRate = 0.005
    n_negatives: Negatives = 5

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        columns = self._traits.default_components if self.n_components is None else self.n_components
        if graph.isolated.all():
            self.loss_history_: list[float] = []
            return np.zeros((len(graph.node_ids), columns), dtype=np.float32)
        # Nodes are taken in the order of their ids, so that permuting the graph permutes the rows and nothing else.
        order = np.argsort(graph.node_ids, kind="stable")
        sampler = EdgeSampler(graph.adjacency[order][:, order])
        self.loss_history_ = [0.0] * self.epochs
        return np.asarray(self._fit_ordered(sampler, labels, order, columns, run.rng)[np.argsort(order)])

    def _fit_ordered(
        self,
        sampler: EdgeSampler,
        labels: Labels,  # noqa: ARG002  # LDE needs them
        order: Ints,  # noqa: ARG002
        columns: int,
        rng: np.random.Generator,
    ) -> Array:
        """Return the vectors of all nodes in the order of their ids."""
        first = self._half(sampler, columns - columns // 2, rng, second_order=False)
        return np.hstack([l2_rows(first), l2_rows(self._half(sampler, columns // 2, rng, second_order=True))])

    def _half(
        self, sampler: EdgeSampler, columns: int, rng: np.random.Generator, *, second_order: bool
    ) -> Array:
        nodes = start_table(sampler.degree > 0, columns, rng)
        contexts = np.zeros_like(nodes) if second_order else nodes

        def gradient(batch: Batch) -> tuple[float, list[Array]]:
            link = link_gradient(nodes, contexts, batch.src, batch.dst, batch.noise, self.n_negatives)
            return link.loss, [link.nodes, link.contexts] if second_order else [link.nodes + link.contexts]

        return self._train(sampler, [nodes, contexts] if second_order else [nodes], gradient, rng)

    def _train(
        self,
        sampler: EdgeSampler,
        tables: list[Array],
        gradient: Callable[[Batch], tuple[float, list[Array]]],
        rng: np.random.Generator,
    ) -> Array:
        """Train all tables with Adam, batch by batch, and return the first."""
        adam = Adam(tables, self.learning_rate)
        for batch in batches(sampler, self.epochs, rng):
            loss, gradients = gradient(batch)
            adam.step(gradients, batch.share)
            self.loss_history_[batch.epoch] += loss / (UPDATES * len(batch.src))
        return tables[0]


def start_table(linked: Mask, columns: int, rng: np.random.Generator) -> Array:
    """Return small random vectors, zeros for nodes that nothing is linked to."""
    start = (rng.random((len(linked), columns)) - 0.5) / columns
    return (start * linked[:, None]).astype(np.float32)
