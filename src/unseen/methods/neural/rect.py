"""RECT: what the labels say and how the graph is built, side by side (Wang et al., TKDE 2020, Algorithm 2).

The hidden layer of RECT-L and that of RECT-N, trained apart, each l2-normalised, one behind the other.

RECT-N, the structure half, is one graph convolution whose outputs rebuild the walk matrix: U = PReLU(Ahat X W + b),
minimising ||M - UU'||^2 / n with M = (Abar + Abar^2) / 2 (Section 4 of the paper). X is row-normalised; without
features it is the adjacency. The paper's loss costs O(d n^2), here it is O(nnz d + n d^2) and exact: see
:mod:`unseen.methods.neural.rect_losses`. The released code trains 50 epochs; this takes the paper's 100.

Where nodes have several types, each relation has a propagation and a walk matrix of its own, and all share the weights:
Ahat is the mean of those of the relations, for every node over the relations that it has edges in, and the structure
loss is the mean of theirs. The paper leaves that as future work.

Joint RECT is one encoder trained on both losses at once, which the paper leaves as future work: it minimises
(1 - balance) * structure + balance * semantic, where structure is ||M - UU'||^2 as a share of ||M||^2, and semantic the
squared error of the class-semantic descriptions that a linear layer predicts from U, as a share of their mean squared
length: so the balance means the same on every graph.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from unseen.engine.run import Run
from unseen.errors import logger
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.linalg.normalize import l2_rows
from unseen.linalg.walk import WalkMatrix
from unseen.methods.base import Vectors
from unseen.methods.neural import torch
from unseen.methods.neural.rect_l import (
    RECTL,
    Input,
    RectMethod,
    SemanticMethod,
    layer_input,
    relation_matrices,
)
from unseen.methods.neural.rect_losses import StructureLoss
from unseen.methods.semantics import shares_of
from unseen.methods.vocabulary import Balance, Columns, LayerInput
from unseen.params import Limits
from unseen.randomness import child_seed

if TYPE_CHECKING:
    from unseen.engine.memory import Job

PROBES = 32
"""Random vectors that estimate ||M||^2 where it is expensive to compute."""


class RECTN(RectMethod):
    """Vectors that keep the structure of the graph, and the features where there are any; no labels needed.

    Attributes
    ----------
    encoder_ : Encoder
        The trained layers.
    loss_history_ : list of float
        Loss of every epoch. Where ||M||^2 is expensive to compute (see `loss_is_relative_`) it is left out.
    loss_is_relative_ : bool
        Whether the constant ||M||^2 is missing from the losses, which can then be negative.
    stopped_by_ : str
        What ended the training before its last epoch: "", "callback", "tol" or "interrupt".
    """

    _traits = replace(
        RectMethod._traits,
        name="rect-n",
        summary="graph convolution that rebuilds the walk matrix, no labels",
        trains_on_parts=True,
    )

    @classmethod
    def _bytes_needed(cls, job: Job) -> float:
        if job.source == "features":
            weights = 16.0 * job.feature_columns * job.columns
            arrays = (5.5 if job.scratch else 6.5) * job.tall
            return arrays + weights + 75.0 * job.entries + job.feature_bytes(16, 52)
        # weights, gradient, two moments, values before and after activation, two for the walk
        arrays, on_disk, per_entry = (9.5, 4, 75.0) if job.source == "identity" else (11.5, 2, 90.0)
        return (arrays - on_disk * job.scratch) * job.tall + per_entry * job.entries

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:  # noqa: ARG002
        self._pick_source(graph)
        self._start_layers(graph, run)
        features = layer_input(graph, self.source_, self.encoder_.device, run)
        structure = self._structure_loss(graph, self.encoder_.device, run)
        self.loss_is_relative_ = not structure.has_constant
        return self._train_encoder(features, graph, structure, run, structure.weights)

    def _structure_loss(self, graph: Graph, device: torch.device, run: Run) -> Any:
        """Return the loss of U, which may have `weights` of its own."""
        return structure_loss(graph, device, run)

    def _transform(self, graph: Graph, run: Run) -> Vectors:
        self._new_features(graph)
        return self._embed(layer_input(graph, "features", self.encoder_.device, run), graph, run)


def structure_loss(graph: Graph, device: torch.device, run: Run) -> StructureLoss:
    """Return the structure loss of a graph, or of its relations where nodes have several types."""
    matrices = relation_matrices(run) or [graph.adjacency]
    return StructureLoss([run.matrix(A, symmetric=True) for A in matrices], device)


class RECT(SemanticMethod):
    """Vectors for graphs whose labels miss whole classes: RECT-L and RECT-N side by side.

    Half of the columns, rounded up, come from RECT-L, the rest from RECT-N; both are trained for all epochs. Without
    any label the vectors are those of RECT-N alone, l2-normalised, and a warning says so.

    Attributes
    ----------
    semantic_, structure_ : RECTL or None, RECTN
        The two trained halves, without vectors of their own; `semantic_` is None where there were no labels.
    class_descriptions_ : dict of str to list of (str, float)
        Strongest words of each seen class, see :class:`RECTL`.
    loss_history_ : dict of str to list of float
        Losses of the epochs of "rect-l" and of "rect-n".
    """

    _traits = replace(
        SemanticMethod._traits,
        name="rect",
        summary="rect-l and rect-n side by side, the paper's neural method",
        trains_on_parts=True,
        default_components=400,
    )
    _structure_class: ClassVar[type[RECTN]] = RECTN
    """The half that learns the structure of the graph."""

    n_components: Annotated[Columns, Limits(2)] = None

    @classmethod
    def _bytes_needed(cls, job: Job) -> float:
        half = replace(job, columns=-(-job.columns // 2))
        # one half, then the other, then both scaled and concatenated
        second = cls._structure_class._bytes_needed(half) + half.tall + 35.0 * job.entries
        return max(RECTL._bytes_needed(half), second, 3 * job.tall) + 700.0 * job.nodes

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        width = self.n_components or self._traits.default_components
        seeds = child_seed(run.rng), child_seed(run.rng)
        self._pick_source(graph)
        self.semantic_: RECTL | None = None
        if run.count(len(labels.labelled)):
            self.semantic_ = self._make_half(RECTL, width - width // 2, seeds[0])
            width //= 2
        else:
            other = self._structure_class._traits.name
            logger.warning("%s: there are no labels, so the vectors are those of %s alone", self._name, other)
        self.structure_: RECTN = self._make_half(self._structure_class, width, seeds[1])
        parts = [self._train_half(half, graph, labels, run) for half in self._halves]
        self.loss_history_ = {half._name: half.loss_history_ for half in self._halves}
        self.class_descriptions_ = {} if self.semantic_ is None else self.semantic_.class_descriptions_
        return np.hstack(parts)

    @property
    def _halves(self) -> list[RECTL | RECTN]:
        return [half for half in (self.semantic_, self.structure_) if half is not None]

    def _make_half(self, cls: type[RectMethod], width: int, seed: int) -> Any:
        params = {key: value for key, value in self.get_params().items() if key in cls._parameters}
        return cls(**{**params, "n_components": width, "random_state": seed})

    def _train_half(self, half: RECTL | RECTN, graph: Graph, labels: Labels, run: Run) -> Vectors:
        """Train a half; one that does not see labels is trained once for all fits that share work."""
        seed: Any = half.random_state

        def fit() -> tuple[Vectors, dict[str, Any]]:
            return half._fit(graph, labels, run.with_seed(seed)), vars(half).copy()

        if half._traits.uses_labels or self.callbacks is not None:
            vectors = fit()[0]
        else:
            vectors, learnt = run.once((type(half), repr(sorted(half.get_params().items()))), fit)
            vars(half).update(learnt)
        return l2_rows(np.asarray(vectors))

    def _transform(self, graph: Graph, run: Run) -> Vectors:
        self._new_features(graph)
        return np.hstack([l2_rows(np.asarray(half._transform(graph, run))) for half in self._halves])


class RECTJoint(SemanticMethod):
    """One encoder for what the labels say and how the graph is built.

    It is shorter than RECT's vectors and one training instead of two; where it is better is in
    ``paper/docs/notes/performance.md``.
    Without any label it is RECT-N, and a warning says so.

    Attributes
    ----------
    class_descriptions_ : dict of str to list of (str, float)
        Strongest words of each seen class, see :class:`RECTL`.
    loss_history_ : list of float
        The weighted sum of the two losses in every epoch.
    """

    _traits = replace(
        SemanticMethod._traits,
        name="rect-joint",
        summary="one encoder trained on both losses of rect at once",
    )

    balance: Balance = 0.01
    input: LayerInput = "raw"

    @classmethod
    def _bytes_needed(cls, job: Job) -> float:
        needed = max(RECTN._bytes_needed(job), RECTL._bytes_needed(job))
        return needed + 1250.0 * job.nodes + 20.0 * job.entries

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        # a seed of its own, so that the encoder starts like RECT-N's
        Z = self._reduce(graph, child_seed(run.rng.spawn(1)[0]), run)
        self._start_layers(graph, run, Z.shape[1] if self.input == "svd" else 0)
        features = self._layer_input(graph, Z, run)
        structure = structure_loss(graph, self.encoder_.device, run)
        per_structure = (1 - self.balance) / (walk_size(graph, structure, run) / graph.n_nodes)
        head, per_semantic = None, 0.0
        rows = torch.from_numpy(labels.labelled.copy()).to(self.encoder_.device)
        self.class_descriptions_: dict[str, list[tuple[str, float]]] = {}
        if len(labels.labelled):
            self._describe(graph, labels, Z, run)
            size = float(((shares_of(labels) @ self.class_vectors_) ** 2).sum(axis=1).mean())
            head, per_semantic = self._make_head(labels, run), self.balance / size if size else 0.0
        else:
            logger.warning("rect-joint: there are no labels, so only the structure of the graph is learned")

        def loss(U: torch.Tensor) -> torch.Tensor:
            value = per_structure * structure(U)
            return value if head is None else value + per_semantic * head(U.index_select(0, rows))

        return self._train_encoder(features, graph, loss, run, [] if head is None else head.weights)

    def _layer_input(self, graph: Graph, Z: Any, run: Run) -> Input:
        return super()._layer_input(graph, l2_rows(Z), run)


def walk_size(graph: Graph, structure: StructureLoss, run: Run) -> float:
    """Return ||M||^2, or an estimate where it is expensive: the mean of ||Mv||^2 over random signs v."""
    seed = child_seed(run.rng)
    if structure.has_constant:
        return structure.constant or 1.0
    signs = np.random.default_rng(seed).choice(np.array([-1.0, 1.0]), size=(graph.n_nodes, PROBES))
    walked = WalkMatrix(run.matrix(graph.adjacency, symmetric=True)).matmat(signs)
    return float((walked**2).sum() / PROBES) or 1.0
