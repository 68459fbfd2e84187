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

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from unseen.engine import estimate
from unseen.engine.estimate import Resources, Sizes
from unseen.engine.run import Run
from unseen.errors import InputError, logger
from unseen.graph import Features, Graph
from unseen.ids import Singles, numbers_of
from unseen.labels import Labels
from unseen.linalg.normalize import l1_rows, l2_rows
from unseen.linalg.svd import OVERSAMPLING, orthonormal, project, truncated_svd
from unseen.methods.base import Vectors
from unseen.methods.neural import torch
from unseen.methods.neural.adam import Best, NeuralMethod
from unseen.methods.neural.gcn_encoder import (
    Encoder,
    Input,
    SparseProduct,
    input_weights,
    keyed_numbers,
    pick_device,
    xavier,
)
from unseen.methods.neural.rect_losses import JointLoss, SemanticLoss
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

SVD_COMPONENTS = 200
LABELLED_SECONDS = 9e-11
"""Processor time of an epoch, for a labelled row, a column and a dimension of the descriptions."""
SVD_ROUNDS = 4
"""Rounds of subspace iteration: they find 99 % of what 200 exact axes hold on Citeseer, Cora and Wiki."""
REFERENCE = "Wang et al., Network Embedding with Completely-imbalanced Labels, IEEE TKDE 2020"


class _Learnt:
    """What the methods of the family learn."""

    source_: str
    unit_rows_: bool = False  # a model file of an earlier version does not have it
    encoder_: Encoder
    stopped_by_: str


class RectMethod(_Learnt, NeuralMethod):
    """Base of the family: its parameters, sources of features, starting weights, new nodes, files."""

    reference = REFERENCE
    _traits = replace(NeuralMethod._traits, can_be_saved=True)

    features: FeatureSource = "auto"
    hidden: Hidden = ()
    tol: EpochTolerance = 0.0
    keep_on_interrupt: KeepOnInterrupt = False

    def _source(self, graph: Graph) -> str:
        """Return where the features come from: "features", "adjacency" or "identity"."""
        if self.features == "auto":
            return "adjacency" if graph.features is None else "features"
        return self.features

    def _start_layers(self, graph: Graph, run: Run) -> None:
        """Make the encoder of the row-normalised features; weights that stand for nodes are keyed by their ids."""
        given = graph.features if self.source_ == "features" else None
        columns = None if given is None else given.shape[1]
        self._encode(lambda width: input_weights(graph, columns, width, run), run)

    def _encode(self, first: Callable[[int], Singles], run: Run) -> None:
        """Make the encoder; `first` gives the starting weights of its first layer for a width."""
        widths = [*(int(size) for size in self.hidden), self.n_components or self._traits.default_components]
        weights = [first(widths[0]), *(xavier(a, b, run.rng) for a, b in pairwise(widths))]
        self.encoder_ = Encoder(weights, pick_device(self.device))

    def _train_on_graph(self, features: Input, graph: Graph, loss: Any, run: Run) -> Singles:
        """Train the encoder on all nodes, and what the loss learns."""
        return self._train_on(features, propagation(graph, self.encoder_.device, run), loss, run)

    def _train_on(
        self,
        features: Input,
        ahat: SparseProduct | None,
        loss: Any,
        run: Run,
        everything: Input | None = None,
    ) -> Singles:
        """Train on features, and return the vectors of these or of `everything`.

        The loss gives its value, its gradient by U and those by its own `weights`.
        """
        encoder = self.encoder_

        def gradients() -> tuple[float, list[torch.Tensor]]:
            value, dU, others = loss(encoder.forward(features, ahat, run))
            return value, [*encoder.backward(dU, features, ahat, run), *others]

        def vectors() -> Singles:
            rows: Singles = encoder.forward(everything or features, ahat, run).cpu().numpy()
            return rows

        weights = [*encoder.weights, *loss.weights]
        best = Best(weights) if self.keep_on_interrupt else None
        # copied, because the encoder uses its memory again in the next epoch
        history = self._take_steps(gradients, lambda: vectors().copy(), weights, run, tol=self.tol, best=best)
        self.stopped_by_ = history.stopped_by
        final = vectors()
        encoder.release()
        return final

    def _embedded(self, features: Input, graph: Graph, run: Run) -> Vectors:
        """Return the vectors that the trained encoder gives to a graph."""
        ahat = propagation(graph, self.encoder_.device, run)
        vectors: Vectors = self.encoder_.forward(features, ahat, run).cpu().numpy()
        self.encoder_.release()
        return vectors


class SemanticMethod(RectMethod):
    """Base of those that learn from class-semantic descriptions: features after SVD, descriptions, input."""

    _traits = replace(RectMethod._traits, uses_labels=True)

    input: LayerInput = "svd"
    svd_components: DescriptionColumns = None
    unit_rows: UnitRows = "auto"
    readout: Readout = "mean"

    def _reduced(self, graph: Graph, seed: int, run: Run) -> Singles:
        """Return the features after SVD, and keep what carries new nodes into the same space."""
        self.source_ = source = self._source(graph)
        self.unit_rows_ = unit = scales_rows(self.unit_rows, graph, source, run)
        columns = self.svd_components
        Z, self.axes_ = run.once(
            (reduced_features, source, columns, unit, seed),
            lambda: reduced_features(graph, source, columns, self._name, run.seeded(seed), unit_rows=unit),
        )
        return Z

    def _describe(self, graph: Graph, labels: Labels, Z: Singles, run: Run) -> None:
        self.class_vectors_ = describe_classes(Z, labels, self.readout, run)
        self.class_descriptions_ = words_of(graph, self.source_, labels, self.class_vectors_, Z, self.axes_)

    def _start_layers(self, graph: Graph, run: Run, dimensions: int = 0) -> None:
        if self.input == "raw":
            super()._start_layers(graph, run)
        else:
            self._encode(lambda width: xavier(dimensions, width, run.rng), run)

    def _head(self, labels: Labels, run: Run) -> SemanticLoss:
        """Return the loss of the descriptions, with a linear layer to be learned."""
        F = xavier(self.encoder_.layers[-1].W.shape[1], self.class_vectors_.shape[1], run.rng)
        return SemanticLoss(shares_of(labels), self.class_vectors_, F, self.encoder_.device, run)

    def _layer_input(self, graph: Graph, Z: Singles, run: Run) -> Input:
        """Return what the first layer reads."""
        if self.input == "raw":
            return layer_input(graph, self.source_, self.encoder_.device, run)
        return Input(self._rows(Z), self.encoder_.device, run)

    def _rows(self, Z: Singles) -> Singles:
        return Z

    def _transform(self, graph: Graph, run: Run) -> Vectors:
        rows: Any = self._new_features(graph)
        if self.input == "svd":
            assert self.axes_ is not None
            rows = project(rows, self.axes_, run, unit_rows=self.unit_rows_)
        return self._embedded(self._layer_input(graph, rows, run), graph, run)


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
    def _resources(cls, sizes: Sizes) -> Resources:
        """Return the memory and the time that a fit takes; see :mod:`unseen.engine.estimate`."""
        s, width = sizes, SVD_COMPONENTS + OVERSAMPLING
        tall, wide = 4.0 * s.nodes * s.columns, 4.0 * s.nodes * width
        epochs = s.rounds * s.labelled_rows * s.columns * width * LABELLED_SECONDS
        work = epochs + s.nodes * width * estimate.DRAW_SECONDS + estimate.product_seconds(s, width)
        pass_over = estimate.dense_seconds(s, width)
        if s.source == "identity":  # random directions, made orthonormal twice
            return Resources(3 * wide + 2 * tall, 0.0, work + 2 * pass_over, width / s.columns)
        entries = s.feature_entries if s.source == "features" else s.entries
        products = 10 * width * (s.nodes + entries) * estimate.PRODUCT_SECONDS
        exchanges = (11 if s.source == "adjacency" else 1) * width / s.columns
        return Resources(8.5 * wide + 2 * tall, 0.0, work + products + 13 * pass_over, exchanges)

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        Z = self._reduced(graph, child_seed(run.rng), run)
        self._describe(graph, labels, Z, run)
        self._start_layers(graph, run, Z.shape[1])
        head = self._head(labels, run)
        if self.input == "svd" and not self.hidden:
            smoothed = run.matrix(graph.adjacency, symmetric=True).gcn_normalized() @ Z
            everything = Input(smoothed, self.encoder_.device, run)
            rows = Input(smoothed[labels.labelled], self.encoder_.device, run)
            return self._train_on(rows, None, head, run, everything)
        loss = JointLoss(head, labels.labelled)
        return self._train_on_graph(self._layer_input(graph, Z, run), graph, loss, run)


def scales_rows(wanted: str | bool, graph: Graph, source: str, run: Run) -> bool:
    """Return whether rows are scaled to length 1 before the SVD: as wanted, or where features are counts or weights."""
    if source != "features" or graph.features is None:
        return False
    return _are_weights(graph.features, run) if wanted == "auto" else bool(wanted)


def _are_weights(features: Features, run: Run) -> bool:
    """Return whether no value is negative, and some are neither 0 nor 1, in all processes together."""
    values = numbers_of(features)
    negative, other = bool((values < 0).any()), bool(((values != 0) & (values != 1)).any())
    return not run.count(negative) and bool(run.count(other))


def reduced_features(
    graph: Graph, source: str, wanted: int | None, method: str, run: Run, *, unit_rows: bool = False
) -> tuple[Singles, Singles | None]:
    """Return the features after SVD (U S) and the axes V', which identity features do not have."""
    seed = child_seed(run.rng)
    columns = run.matrix(graph.adjacency, symmetric=True) if source == "adjacency" else graph.features
    n = graph.n_nodes
    most = n if source == "identity" or columns is None else min(n, columns.shape[1])
    if wanted is not None and wanted > most:
        msg = f"`svd_components` is {wanted}, but at most {most} are possible: that is the smaller side of the features"
        raise InputError(msg)
    k = min(SVD_COMPONENTS, most) if wanted is None else int(wanted)
    if wanted is None and k < SVD_COMPONENTS:
        logger.info(
            "%s: descriptions of %d dimensions instead of %d, the features have no more",
            method,
            k,
            SVD_COMPONENTS,
        )
    if source == "identity" or columns is None:
        directions = keyed_numbers(node_keys(graph.node_ids, seed), k, 0.5, run)
        return np.asarray(orthonormal(directions, run), dtype=np.float32), None
    start = None
    if source == "adjacency":
        start = keyed_numbers(node_keys(graph.node_ids, seed), k + OVERSAMPLING, 0.5, run)
    matrix = l2_rows(columns) if unit_rows else columns  # type: ignore[type-var]  # unit rows are of features
    return truncated_svd(matrix, k, np.random.default_rng(seed), run, n_iter=SVD_ROUNDS, start=start)


def layer_input(graph: Graph, source: str, device: torch.device, run: Run) -> Input:
    """Return the row-normalised features as the first layer takes them; of identity there is nothing to store."""
    if source == "identity":
        return Input(None, device, run)
    if source == "adjacency":
        adjacency = run.matrix(graph.adjacency, symmetric=True)
        return Input(adjacency.row_normalized(), device, run, adjacency.column_normalized())
    assert graph.features is not None
    normalized = l1_rows(graph.features)
    return Input(normalized if isinstance(normalized, np.ndarray) else run.matrix(normalized), device, run)


def propagation(graph: Graph, device: torch.device, run: Run) -> SparseProduct:
    """Return Ahat on the device."""
    return SparseProduct(run.matrix(graph.adjacency, symmetric=True).gcn_normalized(), device)
