"""RECT-L: one graph convolution and one linear layer that predict class-semantic descriptions, the label half of RECT.

H = PReLU(Ahat Z W + b) and y' = H F + c, minimising the mean over labelled nodes of ||y' - y||^2, where y is the
description of the node's class: the average of the features of its labelled nodes (Section 4 of the paper). Features,
Z, are the 200-dimensional truncated SVD (U S) of the raw ones; counts and weights are scaled to rows of length 1 first,
or the longest documents would make up the axes (Wiki's lengths go up to 1,900). The embedding is H. Nodes of several
classes get the mean of the descriptions (as the released code does, which trains 50 epochs, and this the paper's 100).

With one layer Ahat Z is a constant and the loss looks at labelled rows only, so that an epoch is a small network on
these rows, without any work on the graph.

What all methods of the family share is here as well: their parameters, their features, their training, save and load.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.engine.sparse import Matrix
from unseen.errors import InputError, logger
from unseen.graph import Features, Graph, Need
from unseen.ids import Singles, numbers_of
from unseen.labels import Labels
from unseen.linalg.normalize import l1_rows, l2_rows
from unseen.linalg.svd import OVERSAMPLING, orthonormal, project, truncated_svd
from unseen.methods.base import Vectors
from unseen.methods.neural import torch
from unseen.methods.neural.rect_losses import SemanticLoss
from unseen.methods.neural.tensors import (
    Encoder,
    SparseProduct,
    input_weights,
    keyed_numbers,
    pick_device,
    to_tensor,
    xavier,
)
from unseen.methods.neural.training import Best, NeuralMethod
from unseen.methods.semantics import describe_classes, shares_of, words_of
from unseen.methods.vocabulary import (
    DescriptionColumns,
    EpochTolerance,
    FeatureSource,
    Hidden,
    KeepOnInterrupt,
    LayerInput,
    Readout,
    UnitRows,
)
from unseen.randomness import child_seed, node_keys

if TYPE_CHECKING:
    from unseen.engine.memory import Job

SVD_COMPONENTS = 200
SVD_ROUNDS = 4
"""Rounds of subspace iteration: they find 99 % of what 200 exact axes hold on Citeseer, Cora and Wiki."""
Input: TypeAlias = "SparseProduct | torch.Tensor | None"
"""What a first layer reads; None is the identity."""
Loss: TypeAlias = "Callable[[torch.Tensor], torch.Tensor]"


class RectMethod(NeuralMethod):
    """Base of the family: its parameters, sources of features, starting weights, training, new nodes."""

    reference = "Wang et al., Network Embedding with Completely-imbalanced Labels, IEEE TKDE 2020"
    _traits = replace(NeuralMethod._traits, can_be_saved=True, needs=Need(typed=True))

    features: FeatureSource = "auto"
    hidden: Hidden = ()
    tol: EpochTolerance = 0.0
    keep_on_interrupt: KeepOnInterrupt = False

    def _pick_source(self, graph: Graph) -> str:
        """Keep where the features come from: "features", "adjacency" or "identity"."""
        auto = "adjacency" if graph.features is None else "features"
        self.source_: str = auto if self.features == "auto" else self.features
        return self.source_

    def _start_layers(self, graph: Graph, run: Run, dimensions: int = 0) -> None:
        """Make the encoder over so many dimensions; by default over the row-normalised features.

        Weights that stand for nodes are keyed by their ids.
        """
        widths = [*(int(size) for size in self.hidden), self.n_components or self._traits.default_components]
        if dimensions:
            first = xavier(dimensions, widths[0], run.rng)
        else:
            given = graph.features if self.source_ == "features" else None
            first = input_weights(graph, None if given is None else given.shape[1], widths[0], run)
        weights = [first, *(xavier(a, b, run.rng) for a, b in pairwise(widths))]
        self.encoder_ = Encoder.start(weights, pick_device(self.device))

    def _train_encoder(
        self,
        features: Input,
        graph: Graph | None,
        loss: Loss,
        run: Run,
        others: Sequence[torch.Tensor],
        rows: torch.Tensor | None = None,
    ) -> Singles:
        """Train the encoder and the other weights of the loss, and return the vectors of all nodes.

        Without a graph, features are propagated already, and the loss is that of some of their rows.
        """
        encoder, ahat = self.encoder_, None
        if (
            graph is not None
        ):  # what follows a product of identity features passes over it in order, also on disk
            in_memory = Run(threads=run.threads).zeros
            make_room = None if self.hidden else run.zeros if features is None else in_memory
            ahat = SparseProduct(normalized_matrix(graph, run), encoder.device, make_room=make_room)
        needed = features[rows] if isinstance(features, torch.Tensor) and rows is not None else features

        def vectors() -> Singles:
            return encoder.embed(features, ahat, run)

        weights = [*encoder.weights, *others]
        best = Best(weights) if self.keep_on_interrupt else None
        history = self._train(
            lambda: loss(encoder(needed, ahat, run)), weights, vectors, run, tol=self.tol, best=best
        )
        self.stopped_by_ = history.stopped_by
        return vectors()

    def _embed(self, features: Input, graph: Graph, run: Run) -> Vectors:
        """Return the vectors that the trained encoder gives to a graph."""
        ahat = SparseProduct(normalized_matrix(graph, run), self.encoder_.device)
        return self.encoder_.embed(features, ahat, run)


class SemanticMethod(RectMethod):
    """Base of those that learn from class-semantic descriptions: features after SVD, descriptions, input."""

    _traits = replace(RectMethod._traits, uses_labels=True)

    input: LayerInput = "svd"
    svd_components: DescriptionColumns = None
    unit_rows: UnitRows = "auto"
    readout: Readout = "mean"

    def _reduce(self, graph: Graph, seed: int, run: Run) -> Singles:
        """Return the features after SVD, and keep what carries new nodes into the same space."""
        source, columns = self._pick_source(graph), self.svd_components
        unit = False
        if source == "features" and graph.features is not None:
            unit = are_weights(graph.features, run) if self.unit_rows == "auto" else bool(self.unit_rows)
        self.unit_rows_ = unit
        Z, self.axes_ = run.once(
            (reduced_features, source, columns, unit, seed),
            lambda: reduced_features(graph, source, columns, self._name, run.with_seed(seed), unit_rows=unit),
        )
        return Z

    def _describe(self, graph: Graph, labels: Labels, Z: Singles, run: Run) -> None:
        self.class_vectors_ = describe_classes(Z, labels, self.readout, run)
        self.class_descriptions_ = words_of(graph, self.source_, labels, self.class_vectors_, Z, self.axes_)

    def _make_head(self, labels: Labels, run: Run) -> SemanticLoss:
        """Return the loss of the descriptions, with a linear layer to be learned."""
        F = xavier(self.encoder_.weights[-3].shape[1], self.class_vectors_.shape[1], run.rng)
        return SemanticLoss(shares_of(labels), self.class_vectors_, F, self.encoder_.device, run)

    def _layer_input(self, graph: Graph, Z: Any, run: Run) -> Input:
        """Return what the first layer reads."""
        if self.input == "raw":
            return layer_input(graph, self.source_, self.encoder_.device, run)
        return to_tensor(Z, self.encoder_.device)

    def _transform(self, graph: Graph, run: Run) -> Vectors:
        rows: Any = self._new_features(graph)
        if self.input == "svd":
            assert self.axes_ is not None
            rows = project(rows, self.axes_, run, unit_rows=self.unit_rows_)
        return self._embed(self._layer_input(graph, rows, run), graph, run)


class RECTL(SemanticMethod):
    """Vectors from which the class-semantic descriptions of the seen classes can be predicted.

    Attributes
    ----------
    class_descriptions_ : dict of str to list of (str, float)
        The words that the description of a seen class has more of than the average node, strongest first, with
        how much more. Empty where the features have no names.
    class_vectors_ : ndarray, shape (c, svd_components)
        The descriptions themselves, one row a seen class, in the order of the labels' classes.
    axes_ : ndarray or None
        Right singular vectors of the features; None for identity features.
    encoder_ : Encoder
        The trained GCN layers.
    loss_history_ : list of float
        Loss of every epoch.
    stopped_by_ : str
        What ended the training before its last epoch: "", "callback", "tol" or "interrupt".

    Notes
    -----
    Identity features have no unique SVD: any orthonormal columns would do. Taken are random directions, keyed by
    the node ids and the seed and then orthonormalised, so that the order of the nodes does not matter.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.load_dataset("debian")
    >>> split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["mail"], random_state=0)
    >>> method = unseen.RECTL(n_components=16, epochs=5, random_state=0).fit(data.graph, split.seen_labels)
    >>> [word for word, _ in method.class_descriptions_["games"]][:3]
    ['game', ...]
    """

    _traits = replace(
        SemanticMethod._traits,
        name="rect-l",
        summary="graph convolution that predicts class-semantic descriptions",
        needs_labels=True,
        trains_on_parts=True,
    )

    @classmethod
    def _bytes_needed(cls, job: Job) -> float:
        reduced = 4.0 * job.nodes * (SVD_COMPONENTS + OVERSAMPLING)
        arrays = {"identity": 2.2, "adjacency": 7.4}.get(job.source, 2.0)
        return arrays * reduced + 2.8 * job.tall + 40.0 * job.entries + job.feature_bytes(26, 80)

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        Z = self._reduce(graph, child_seed(run.rng), run)
        self._describe(graph, labels, Z, run)
        self._start_layers(graph, run, Z.shape[1] if self.input == "svd" else 0)
        head, device = self._make_head(labels, run), self.encoder_.device
        rows = torch.from_numpy(labels.labelled.copy()).to(device)
        if self.input == "svd" and not self.hidden:
            smoothed = to_tensor(normalized_matrix(graph, run) @ Z, device)
            return self._train_encoder(smoothed, None, head, run, head.weights, rows)
        features = self._layer_input(graph, Z, run)
        return self._train_encoder(
            features, graph, lambda U: head(U.index_select(0, rows)), run, head.weights
        )


def are_weights(features: Features, run: Run) -> bool:
    """Return whether no value is negative, and some are neither 0 nor 1, in all processes together."""
    values = numbers_of(features)
    negative, other = bool((values < 0).any()), bool(((values != 0) & (values != 1)).any())
    return not run.count(negative) and bool(run.count(other))


def reduced_features(
    graph: Graph, source: str, wanted: int | None, method: str, run: Run, *, unit_rows: bool = False
) -> tuple[Singles, Singles | None]:
    """Return the features after SVD (U S) and the axes V', which identity features do not have."""
    seed, n = child_seed(run.rng), graph.n_nodes
    columns = run.matrix(graph.adjacency, symmetric=True) if source == "adjacency" else graph.features
    most = n if source == "identity" or columns is None else min(n, columns.shape[1])
    if wanted is not None and wanted > most:
        msg = f"`svd_components` is {wanted}, but at most {most} are possible: that is the smaller side of the features"
        raise InputError(msg)
    k = min(SVD_COMPONENTS, most) if wanted is None else int(wanted)
    if wanted is None and k < SVD_COMPONENTS:
        sentence = "%s: descriptions of %d dimensions instead of %d, the features have no more"
        logger.info(sentence, method, k, SVD_COMPONENTS)

    def draw(width: int) -> Singles:
        return keyed_numbers(node_keys(graph.node_ids, seed), width, 0.5, run)

    if source == "identity" or columns is None:
        return np.asarray(orthonormal(draw(k), run), dtype=np.float32), None
    start = draw(k + OVERSAMPLING) if source == "adjacency" else None
    matrix = l2_rows(columns) if unit_rows else columns  # type: ignore[type-var]  # unit rows are of features
    return truncated_svd(matrix, k, np.random.default_rng(seed), run, n_iter=SVD_ROUNDS, start=start)


def layer_input(graph: Graph, source: str, device: torch.device, run: Run) -> Input:
    """Return the row-normalised features as the first layer takes them; identity features are None."""
    if source == "identity":
        return None
    if source == "adjacency":
        adjacency = run.matrix(graph.adjacency, symmetric=True)
        transposed = SparseProduct(adjacency.column_normalized(), device)
        return SparseProduct(adjacency.row_normalized(), device, transposed)
    assert graph.features is not None
    normalized = l1_rows(graph.features)
    if isinstance(normalized, np.ndarray):
        return to_tensor(normalized, device)
    return SparseProduct(run.matrix(normalized), device)


def normalized_matrix(graph: Graph, run: Run) -> Matrix:
    """Return Ahat; of a graph of several types, for each node the mean over the relations that it has edges in."""
    relations = relation_matrices(run)
    if not relations:
        return run.matrix(graph.adjacency, symmetric=True).gcn_normalized()
    linked = [(np.diff(A.indptr) > 0).astype(np.float32) for A in relations]
    counts = np.maximum(sum(linked), 1)
    mean = sp.diags_array((sum(linked) == 0).astype(np.float32), format="csr")  # nodes without edges stay
    for A, has in zip(relations, linked, strict=True):
        mean += sp.diags_array(has / counts) @ run.matrix(A, symmetric=True).gcn_normalized().local
    return run.matrix(sp.csr_array(mean))


def relation_matrices(run: Run) -> list[sp.csr_array]:
    """Return the adjacency of every relation, of all nodes and in both directions; none where nodes have one type."""
    graph = run.graph
    if not isinstance(graph, Graph) or not graph.is_heterogeneous:
        return []
    return [sp.csr_array(each.matrix.maximum(each.matrix.T)).astype(np.float32) for each in graph.relations]
