"""RECT-L: one graph convolution and one linear layer that predict class-semantic descriptions, the label half of RECT.

H = PReLU(Ahat Z W + b) and y' = H F + c, minimising the mean over labelled nodes of ||y' - y||^2, where y is the
description of the node's class: the average of the features of its labelled nodes (Section 4 of the paper). Features,
Z, are the 200-dimensional truncated SVD (U S) of the raw ones; counts and weights are scaled to rows of length 1 first,
or the longest documents would make up the axes (Wiki's lengths go up to 1,900). The embedding is H. Nodes of several
classes get the mean of the descriptions (as the released code does, which trains 50 epochs, and this the paper's 100).

With one layer Ahat Z is a constant and the loss looks at labelled rows only, so that an epoch is a small network on
these rows, without any work on the graph.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch

from unseen.comm.graph_part import processes
from unseen.comm.group import Comm
from unseen.errors import InputError, logger
from unseen.graph import Features, Graph
from unseen.labels import Labels
from unseen.linalg.blocks import map_blocks, row_cuts
from unseen.linalg.keyed import keyed_uniform, node_keys
from unseen.linalg.normalize import gcn_normalized, l2_rows
from unseen.linalg.products import spmm
from unseen.linalg.svd import orthonormal, start_width, truncated_svd
from unseen.methods.base import Vectors
from unseen.methods.neural.gcn_encoder import Encoder, Input, pick_device, xavier
from unseen.methods.neural.rect_base import SemanticMethod, layer_input, propagation
from unseen.methods.neural.rect_losses import LabelledRows, SemanticLoss
from unseen.methods.semantics import describe_classes, shares_of, strongest_words
from unseen.methods.sharing import shared
from unseen.randomness import child_seed

SVD_COMPONENTS = 200
SVD_ROUNDS = 4
"""Rounds of subspace iteration: they find 99 % of what 200 exact axes hold on Citeseer, Cora and Wiki."""


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

    name: ClassVar[str] = "rect-l"
    summary: ClassVar[str] = "graph convolution that predicts class-semantic descriptions"
    needs_labels: ClassVar[bool] = True

    def _fit(self, graph: Graph, labels: Labels, rng: np.random.Generator) -> Vectors:
        device = pick_device(self.device)
        widths = self._widths(self.n_components or self.default_components)
        self.source_ = self._source(graph)
        self.n_features_ = 0 if graph.features is None else graph.features.shape[1]
        comm = processes(graph)
        self.unit_rows_ = scales_rows(self.unit_rows, graph, self.source_)
        Z, self.axes_ = self._reduced(graph, rng)
        self.class_vectors_ = describe_classes(Z, labels, self.readout, comm)
        self.class_descriptions_ = words_of(graph, self.source_, labels, self.class_vectors_, Z, self.axes_)
        if self.input == "svd":
            weights = [xavier(a, b, rng) for a, b in zip([Z.shape[1], *widths], widths, strict=False)]
            self.encoder_ = Encoder(weights, device, comm=comm, rows=graph.n_nodes)
        else:
            self.encoder_ = self._encoder(graph, self.source_, self.n_features_, widths, rng)
        F = xavier(widths[-1], Z.shape[1], rng)
        head = SemanticLoss(shares_of(labels), self.class_vectors_, F, device, comm)
        if self.input == "svd" and len(widths) == 1:
            return self._fit_on_labelled_rows(graph, labels, Z, head)
        features = Input(Z, device) if self.input == "svd" else layer_input(graph, self.source_, device)
        return self._fit_on_graph(graph, labels, features, head)

    def _reduced(
        self, graph: Graph, rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32] | None]:
        seed = child_seed(rng)
        source, asked, unit = self.source_, self.svd_components, self.unit_rows_
        return shared(
            graph,
            ("svd", source, asked, unit, seed),
            lambda: reduced_features(
                graph, source, asked, self.name, np.random.default_rng(seed), unit_rows=unit
            ),
        )

    def _fit_on_labelled_rows(self, graph: Graph, labels: Labels, Z: Any, head: SemanticLoss) -> Vectors:
        smoothed = spmm(gcn_normalized(graph.adjacency).astype(np.float32), Z)
        everything = Input(smoothed, self.encoder_.device)
        gradients = LabelledRows(smoothed[labels.labelled], self.encoder_.layers[0], head)

        def vectors() -> npt.NDArray[np.float32]:
            made: npt.NDArray[np.float32] = self.encoder_.forward(everything, None).cpu().numpy()
            return made

        return self._train(gradients, vectors, [*self.encoder_.weights, *head.weights])

    def _fit_on_graph(self, graph: Graph, labels: Labels, features: Input, head: SemanticLoss) -> Vectors:
        encoder, ahat = self.encoder_, propagation(graph, self.encoder_.device)
        rows = torch.from_numpy(labels.labelled.copy()).to(encoder.device)

        def gradients() -> tuple[float, list[torch.Tensor]]:
            U = encoder.forward(features, ahat)
            loss, dH, by_head = head(U[rows])
            dU = torch.zeros_like(U)
            dU[rows] = dH
            return loss, [*encoder.backward(dU, features, ahat), *by_head]

        def vectors() -> npt.NDArray[np.float32]:
            made: npt.NDArray[np.float32] = encoder.forward(features, ahat).cpu().numpy()
            return made

        return self._train(gradients, vectors, [*self.encoder_.weights, *head.weights])

    def _transform(self, graph: Graph) -> Vectors:
        columns = self._columns_of(graph)
        device = self.encoder_.device
        if self.input == "raw":
            features = layer_input(graph, "features", device)
        else:
            assert self.axes_ is not None
            features = Input(project(columns, self.axes_, unit_rows=self.unit_rows_), device)
        made: Vectors = self.encoder_.forward(features, propagation(graph, device)).cpu().numpy()
        self.encoder_.release()
        return made


def scales_rows(asked: str | bool, graph: Graph, source: str) -> bool:
    """Return whether rows are scaled to length 1 before the SVD: as asked, or where features are counts or weights."""
    if source != "features":
        return False
    return _are_weights(graph.features, processes(graph)) if asked == "auto" else bool(asked)


def _are_weights(features: Features | None, comm: Comm) -> bool:
    """Return whether no value is negative, and some are neither 0 nor 1, in all processes together."""
    values = (
        np.zeros(0) if features is None else features if isinstance(features, np.ndarray) else features.data
    )
    negative, other = bool((values < 0).any()), bool(((values != 0) & (values != 1)).any())
    return not comm.total(negative) and bool(comm.total(other))


def reduced_features(
    graph: Graph,
    source: str,
    asked: int | None,
    method: str,
    rng: np.random.Generator,
    *,
    unit_rows: bool = False,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32] | None]:
    """Return the features after SVD (U S) and the axes V', which identity features do not have."""
    seed = child_seed(rng)
    columns: Features | None = graph.adjacency if source == "adjacency" else graph.features
    n = graph.n_nodes
    most = n if source == "identity" or columns is None else min(n, columns.shape[1])
    if asked is not None and asked > most:
        msg = f"`svd_components` is {asked}, but at most {most} are possible: that is the smaller side of the features"
        raise InputError(msg)
    k = min(SVD_COMPONENTS, most) if asked is None else int(asked)
    if asked is None and k < SVD_COMPONENTS:
        logger.info(
            "%s: descriptions of %d dimensions instead of %d, the features have no more",
            method,
            k,
            SVD_COMPONENTS,
        )
    comm = processes(graph)
    if source != "identity" and columns is not None:
        start = keyed_directions(graph, seed, start_width(k)) if source == "adjacency" else None
        rng = np.random.default_rng(seed)
        return truncated_svd(
            l2_rows(columns) if unit_rows else columns, k, rng, n_iter=SVD_ROUNDS, start=start, comm=comm
        )
    return np.asarray(orthonormal(keyed_directions(graph, seed, k), comm), dtype=np.float32), None


def keyed_directions(graph: Graph, seed: int, columns: int) -> npt.NDArray[np.float32]:
    """Return random numbers around zero, one row a node, that depend on the node's id and the seed alone."""
    keys = node_keys(graph.node_ids, seed)
    directions = np.empty((len(keys), columns), dtype=np.float32)

    def draw(start: int, stop: int) -> None:
        directions[start:stop] = keyed_uniform(keys[start:stop], columns) - 0.5

    map_blocks(draw, row_cuts(len(keys)))
    return directions


def project(
    features: Features, axes: npt.NDArray[np.float32], *, unit_rows: bool = False
) -> npt.NDArray[np.float32]:
    """Return the features of new nodes in the space of the SVD."""
    if unit_rows:
        features = l2_rows(features)
    if isinstance(features, np.ndarray):
        return np.asarray(features @ axes.T, dtype=np.float32)
    projected = spmm(features.astype(np.float32), np.ascontiguousarray(axes.T))
    return np.asarray(projected, dtype=np.float32)


def words_of(
    graph: Graph, source: str, labels: Labels, descriptions: Any, Z: Any, axes: Any
) -> dict[str, list[tuple[str, float]]]:
    """Return the strongest words of each seen class, or nothing where the features have no names."""
    if source != "features" or graph.feature_names is None:
        return {}
    return strongest_words(descriptions, Z.mean(axis=0), axes, graph.feature_names, labels.classes)
