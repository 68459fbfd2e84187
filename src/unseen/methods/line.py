"""LINE: first-order and second-order proximity by negative sampling over edges.

Tang, Qu, Wang, Zhang, Yan and Mei, "LINE: Large-scale Information Network Embedding", WWW 2015.

first order    max  sum over edges w_ij [log s(u_i u_j) + K E_k log s(-u_i u_k)]
second order   the same with context vectors, log s(u_i c_j) + K E_k log s(-u_i c_k)

k is drawn in proportion to degree^0.75. The halves are learned separately, l2-normalised and put side by side.
What differs from the authors' program: batches with shared noise nodes and Adam in place of one edge at a time (the
step falls linearly as there); self-loops are not drawn; a node without an edge to another gets the zero vector.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
import numpy.typing as npt

from unseen.engine.run import Run
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.linalg.normalize import l2_rows
from unseen.linalg.sampling import UPDATES, Adam, EdgeSampler, batches, link_gradient
from unseen.methods.base import Method, Vectors, warn_no_edges
from unseen.methods.vocabulary import Columns, Epochs, FallingRate, Negatives
from unseen.params import Limits


class LINE(Method):
    """Vectors that tell an edge from a random pair, by first-order and second-order proximity.

    Half of the columns (one more, if their number is odd) are of the first order. In an epoch as many edges are drawn
    as the graph has nodes, and at least 512.

    Attributes
    ----------
    loss_history_ : list of float
        Mean loss of an edge in every epoch, first order and second order added.

    Notes
    -----
    Step and epochs were chosen by micro F1 in three folds of the seen labels of one split (30 % labels; no test node,
    no unseen class). Steps of 0.002, 0.005 and 0.02 gave a mean over Citeseer, Wiki and PPI of .479, .473 and .455
    with 400 epochs, .459, .473 and .433 with 200, .470, .467 and .439 with 100. 0.002 is not better by more than
    chance, and leaves small graphs (300 nodes) half trained.
    """

    name: ClassVar[str] = "line"
    summary: ClassVar[str] = "first-order and second-order proximity by negative sampling"
    reference: ClassVar[str] = "Tang et al., LINE: Large-scale Information Network Embedding, WWW 2015"

    n_components: Annotated[Columns, Limits(2)] = None
    epochs: Epochs = 400
    learning_rate: FallingRate = 0.005
    n_negatives: Negatives = 5

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:  # noqa: ARG002
        columns = self.default_components if self.n_components is None else self.n_components
        if graph.isolated.all():
            warn_no_edges(self.name)
        # Nodes are taken in the order of their ids, so that permuting the graph permutes the rows and nothing else.
        order = np.argsort(graph.node_ids, kind="stable")
        sampler = EdgeSampler(graph.adjacency[order][:, order])
        self.loss_history_ = [0.0] * self.epochs
        ordered = np.hstack(
            [
                l2_rows(self._half(sampler, columns - columns // 2, run.rng, second_order=False)),
                l2_rows(self._half(sampler, columns // 2, run.rng, second_order=True)),
            ]
        )
        return np.asarray(ordered[np.argsort(order)])

    def _half(
        self, sampler: EdgeSampler, columns: int, rng: np.random.Generator, *, second_order: bool
    ) -> npt.NDArray[np.float32]:
        n = len(sampler.degree)
        start = (rng.random((n, columns)) - 0.5) / columns
        nodes = (start * (sampler.degree > 0)[:, None]).astype(np.float32)
        contexts = np.zeros_like(nodes) if second_order else nodes
        adam = Adam([nodes, contexts] if second_order else [nodes], self.learning_rate)
        for batch in batches(sampler, self.epochs, rng):
            link = link_gradient(nodes, contexts, batch.src, batch.dst, batch.noise, self.n_negatives)
            gradients = [link.nodes, link.contexts] if second_order else [link.nodes + link.contexts]
            adam.step(gradients, batch.share)
            self.loss_history_[batch.epoch] += link.loss / (UPDATES * len(batch.src))
        return nodes
