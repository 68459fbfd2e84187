"""RECT(DW): RECT whose structure half is trained with DeepWalk's own objective (Section 5.2 of the paper).

U = PReLU(Ahat X W + b) as in RECT-N, but over pairs (i, j) that meet in windows of random walks minimising
-log s(u_i u_j) - sum over 5 noise nodes k of log s(-u_i u_k), s the logistic function: skip-gram with negative
sampling, the same vectors on both sides as in the paper's equation (`context=True` learns a context matrix for the
other side).

80 walks of 40 nodes from each node make about 32,000 pairs a node with a window of 5: billions. Each epoch instead
makes its share of the walks (80 / epochs a node), batch by batch, and draws `pairs_per_node` pairs a node evenly
from them. How many are enough was measured, see the parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from unseen.graph import Graph
from unseen.linalg.blocks import map_blocks
from unseen.linalg.keyed import node_keys
from unseen.linalg.walks import WalkSampler
from unseen.methods.neural.gcn_encoder import SparseProduct, keyed_xavier, to_tensor
from unseen.methods.neural.rect import RECT
from unseen.methods.neural.rect_base import COMMON
from unseen.methods.neural.rect_n import RECTN
from unseen.methods.parameters import Constraint, Interval, OneOf
from unseen.methods.semantics import Readout
from unseen.methods.training import Callback
from unseen.randomness import RandomState, child_seed

WALKS: dict[str, Constraint] = {
    "n_walks": Interval(1, integer=True),
    "walk_length": Interval(2, integer=True),
    "window": Interval(1, integer=True),
    "n_negatives": Interval(1, integer=True),
    "pairs_per_node": Interval(0, open_low=True),
    "context": OneOf((True, False)),
}
_PAIRS = 8_192
"""Pairs whose inner products are computed at a time."""


class RECTDW(RECT):
    """RECT with DeepWalk's objective for the structure of the graph.

    Parameters
    ----------
    n_components : int or None
        Number of columns; None means 400. Half of them, rounded up, come from RECT-L.
    features : {"auto", "adjacency", "identity"}
        "auto" takes the graph's features, and rows of the adjacency where it has none.
    input, svd_components, unit_rows, readout
        Parameters of the semantic half, see :class:`RECTL`.
    n_walks : int
        Random walks from each node, over all epochs together.
    walk_length : int
        Nodes of a walk.
    window : int
        How far apart two nodes of a pair are at most.
    n_negatives : int
        Noise nodes for each pair.
    pairs_per_node : float
        Pairs drawn in an epoch, for each node on average. More than the default changed no F1 by more than the
        difference between two seeds on Citeseer and Blogcatalog (see ``docs/performance.md``).
    context : bool
        Whether the other side of a pair has vectors of its own.
    hidden : tuple of int
        Widths of further GCN layers before the ones that give the vectors.
    epochs : int
        Training steps of each half.
    learning_rate, tol, keep_best, device, callbacks
        As for :class:`RECT`.
    random_state : None, int or Generator
        Seed of everything drawn.

    Attributes
    ----------
    semantic_, structure_, class_descriptions_, loss_history_
        As for :class:`RECT`; the structure half is called "rect-n-dw".

    Examples
    --------
    >>> import unseen
    >>> data = unseen.load_dataset("debian")
    >>> split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["mail"], random_state=0)
    >>> unseen.RECTDW(n_components=16, epochs=2, random_state=0).fit_transform(data.graph, split.seen_labels)
    Embedding(4852 nodes, 16 columns, by rect-dw)
    """

    name: ClassVar[str] = "rect-dw"
    constraints: ClassVar[dict[str, Constraint]] = {**RECT.constraints, **WALKS}

    def __init__(
        self,
        *,
        n_components: int | None = None,
        features: str = "auto",
        input: str = "svd",  # noqa: A002
        svd_components: int | None = None,
        unit_rows: str | bool = "auto",
        readout: Readout = "mean",
        n_walks: int = 80,
        walk_length: int = 40,
        window: int = 5,
        n_negatives: int = 5,
        pairs_per_node: float = 5.0,
        context: bool = False,
        hidden: Sequence[int] = (),
        epochs: int = 100,
        learning_rate: float = 0.001,
        tol: float = 0.0,
        keep_best: bool = False,
        device: str = "auto",
        callbacks: Iterable[Callback] | None = None,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            n_components=n_components,
            features=features,
            input=input,
            svd_components=svd_components,
            unit_rows=unit_rows,
            readout=readout,
            hidden=hidden,
            epochs=epochs,
            learning_rate=learning_rate,
            tol=tol,
            keep_best=keep_best,
            device=device,
            callbacks=callbacks,
            random_state=random_state,
        )
        self.n_walks = n_walks
        self.walk_length = walk_length
        self.window = window
        self.n_negatives = n_negatives
        self.pairs_per_node = pairs_per_node
        self.context = context

    @staticmethod
    def _structure_class() -> type[RECTN]:
        return RECTNDW


class RECTNDW(RECTN):
    """The structure half of :class:`RECTDW`, which documents the parameters."""

    name: ClassVar[str] = "rect-n-dw"
    constraints: ClassVar[dict[str, Constraint]] = {**COMMON, **WALKS}

    def __init__(
        self,
        *,
        n_components: int | None = None,
        features: str = "auto",
        n_walks: int = 80,
        walk_length: int = 40,
        window: int = 5,
        n_negatives: int = 5,
        pairs_per_node: float = 5.0,
        context: bool = False,
        hidden: Sequence[int] = (),
        epochs: int = 100,
        learning_rate: float = 0.001,
        tol: float = 0.0,
        keep_best: bool = False,
        device: str = "auto",
        callbacks: Iterable[Callback] | None = None,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            n_components=n_components,
            features=features,
            hidden=hidden,
            epochs=epochs,
            learning_rate=learning_rate,
            tol=tol,
            keep_best=keep_best,
            device=device,
            callbacks=callbacks,
            random_state=random_state,
        )
        self.n_walks = n_walks
        self.walk_length = walk_length
        self.window = window
        self.n_negatives = n_negatives
        self.pairs_per_node = pairs_per_node
        self.context = context

    def _structure_loss(
        self, graph: Graph, width: int, device: torch.device, rng: np.random.Generator
    ) -> DeepWalkLoss:
        keys = node_keys(graph.node_ids, child_seed(rng))
        walks = self.n_walks / max(self.epochs, 1)
        settings = (walks, self.walk_length, self.window, self.pairs_per_node, self.n_negatives)
        context = to_tensor(keyed_xavier(keys, width), device) if self.context else None
        return DeepWalkLoss(WalkSampler(graph.adjacency, keys), settings, context, rng)


class DeepWalkLoss:
    """Skip-gram with negative sampling over freshly drawn pairs; see the module's docstring."""

    has_constant = True

    def __init__(
        self,
        sampler: WalkSampler,
        settings: tuple[float, int, int, float, int],
        context: torch.Tensor | None,
        rng: np.random.Generator,
    ) -> None:
        self.sampler, self.rng = sampler, rng
        self.walks, self.length, self.window, self.pairs, self.n_negatives = settings
        self.context = context

    @property
    def weights(self) -> list[torch.Tensor]:
        """The context matrix, where there is one."""
        return [] if self.context is None else [self.context]

    def __call__(self, U: torch.Tensor) -> tuple[float, torch.Tensor, list[torch.Tensor]]:
        """Draw the pairs of an epoch; return the loss, its gradient by U, and by the context matrix."""
        drawn = [self._with_noise(*pair) for pair in self._draw()]
        if not sum(len(centre) for centre, _, _ in drawn):
            return 0.0, torch.zeros_like(U), [torch.zeros_like(weight) for weight in self.weights]
        centre, other, sign = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
        return self.of_pairs(U, centre, other, sign)

    def of_pairs(
        self,
        U: torch.Tensor,
        centre: npt.NDArray[np.int64],
        other: npt.NDArray[np.int64],
        sign: npt.NDArray[np.float32],
    ) -> tuple[float, torch.Tensor, list[torch.Tensor]]:
        """Return the same for given pairs: sum of log(1 + exp(-sign u_i u_j)), over the number of positive signs."""
        n_pairs = float((sign > 0).sum())
        V = U if self.context is None else self.context
        rows, columns, signs = (torch.from_numpy(part).to(U.device) for part in (centre, other, sign))
        slopes = torch.empty(len(signs), device=U.device)

        def score(start: int, stop: int) -> float:
            s = signs[start:stop]
            x = (U[rows[start:stop]] * V[columns[start:stop]]).sum(dim=1).mul_(s)
            torch.mul(torch.sigmoid(-x), s / -n_pairs, out=slopes[start:stop])
            return float(torch.nn.functional.softplus(-x).sum(dtype=torch.float64))

        loss = sum(map_blocks(score, [(i, min(i + _PAIRS, len(sign))) for i in range(0, len(sign), _PAIRS)]))
        n = len(U)
        by_pair = sp.coo_array((slopes.cpu().numpy(), (centre, other)), shape=(n, n)).tocsr()
        forward, backward = (SparseProduct(sp.csr_array(C), U.device) for C in (by_pair, by_pair.T.tocsr()))
        if self.context is not None:
            return loss / n_pairs, forward(self.context), [backward(U)]
        gradient = forward(U)
        return loss / n_pairs, backward(U, out=gradient, add=True), []

    def _draw(self) -> Iterable[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        return self.sampler.pairs(self.walks, self.length, self.window, self.pairs, self.rng)

    def _with_noise(
        self, centre: npt.NDArray[np.int64], other: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        noise = self.sampler.noise((self.n_negatives, len(centre)), self.rng)
        sign = np.full((1 + self.n_negatives, len(centre)), -1, dtype=np.float32)
        sign[0] = 1
        return np.tile(centre, 1 + self.n_negatives), np.vstack([other[None], noise]).ravel(), sign.ravel()
