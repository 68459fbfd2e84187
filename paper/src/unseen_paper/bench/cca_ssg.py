"""CCA-SSG, an unsupervised encoder to compare with: two views of the graph, correlated, their columns decorrelated.

Zhang et al., From Canonical Correlation Analysis to Self-supervised Graph Neural Networks, NeurIPS 2021. Two random
views (edges dropped, feature columns masked) go through one GCN of two layers. With Z and Y their outputs, standardised
and divided by the root of n, the loss is ||Z - Y||^2 + lam (||Z'Z - I||^2 + ||Y'Y - I||^2). Settings are those of the
paper for citation graphs, the same for every graph here.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor

from unseen.embedding import Embedding
from unseen.engine.run import Run
from unseen.graph import Graph
from unseen.linalg.normalize import l2_rows

HIDDEN, EPOCHS, RATE, DECAY = 512, 50, 0.001, 0.0
DROP_EDGES, MASK_FEATURES, LAM = 0.2, 0.2, 0.001


def cca_ssg(graph: Graph, *, n_components: int = 512, epochs: int = EPOCHS, seed: int = 0) -> Embedding:
    """Learn vectors without labels.

    Examples
    --------
    >>> import unseen
    >>> cca_ssg(unseen.planted_partition(60, 3, random_state=0).graph, n_components=8, epochs=2)
    Embedding(60 nodes, 8 columns, by cca-ssg)
    """
    generator = torch.Generator().manual_seed(seed)
    rng = np.random.default_rng(seed)
    features = graph.adjacency if graph.features is None else graph.features
    dense = features if isinstance(features, np.ndarray) else features.toarray()
    X = torch.from_numpy(l2_rows(np.asarray(dense, dtype=np.float32)))
    first = _weights(X.shape[1], HIDDEN, generator)
    second = _weights(HIDDEN, n_components, generator)
    optimizer = torch.optim.Adam([first, second], lr=RATE, weight_decay=DECAY)
    for _ in range(epochs):
        optimizer.zero_grad()
        a, b = (
            _standardised(
                _encoded(_masked(X, generator), _without_edges(graph.adjacency, rng), first, second)
            )
            for _ in range(2)
        )
        loss = ((a - b) ** 2).sum() + LAM * (_correlation(a) + _correlation(b))
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        vectors = _encoded(X, _as_torch(Run().matrix(graph.adjacency).gcn_normalized().local), first, second)
    unit: npt.NDArray[np.float32] = l2_rows(vectors.numpy())
    return Embedding(unit, graph.node_ids, "cca-ssg", {"n_components": n_components, "epochs": epochs})


def _weights(rows: int, columns: int, generator: torch.Generator) -> Tensor:
    weights = torch.empty(rows, columns)
    torch.nn.init.xavier_uniform_(weights, generator=generator)
    return weights.requires_grad_()


def _encoded(X: Tensor, ahat: Tensor, first: Tensor, second: Tensor) -> Tensor:
    return ahat @ (torch.relu(ahat @ (X @ first)) @ second)


def _masked(X: Tensor, generator: torch.Generator) -> Tensor:
    return X * (torch.rand(X.shape[1], generator=generator) >= MASK_FEATURES)


def _without_edges(adjacency: sp.csr_array, rng: np.random.Generator) -> Tensor:
    upper = sp.triu(adjacency, format="coo")
    kept = rng.random(upper.nnz) >= DROP_EDGES
    half = sp.coo_array((upper.data[kept], (upper.row[kept], upper.col[kept])), shape=adjacency.shape)
    return _as_torch(
        Run().matrix(sp.csr_array(half.maximum(half.T) if half.nnz else half)).gcn_normalized().local
    )


def _as_torch(matrix: sp.csr_array) -> Tensor:
    coo = matrix.tocoo()
    where = torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64))
    values = torch.from_numpy(coo.data.astype(np.float32))
    return torch.sparse_coo_tensor(where, values, matrix.shape, check_invariants=False).coalesce()


def _standardised(Z: Tensor) -> Tensor:
    deviation = Z.std(dim=0).clamp_min(1e-8)
    scaled: Tensor = (Z - Z.mean(dim=0)) / deviation / float(len(Z)) ** 0.5
    return scaled


def _correlation(Z: Tensor) -> Tensor:
    return ((Z.T @ Z - torch.eye(Z.shape[1])) ** 2).sum()
