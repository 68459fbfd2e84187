"""Discovery beside RECO-SLIP (Chung et al. 2024, arXiv 2404.01216): `unseen bench reco_slip`.

RECO-SLIP trains a GCN that tells labelled nodes from unlabelled ones: among the models that call at least a given share
of the unlabelled nodes new, it looks for the one that calls the fewest labelled nodes new (a Lagrangian whose
multiplier follows the share), and adds the reconstruction of the links between the unlabelled nodes that look least
new. Sizes, rates and the two losses are those of the authors' code for Citeseer. The code names no grid of recalls:
`RECALLS` is ours. Nodes are ranked by the model of the highest recall on held-out nodes whose share of labelled nodes
called new is at most `FALSE_SHARE` there; the best of all its models, picked on the test nodes, is given too. Both
sides rank the nodes of the same draws, kept in `reco_slip.csv` of the working folder; a second start takes up where the
first ended.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from sklearn.metrics import roc_auc_score
from torch.nn import functional

from unseen.data.datasets import Dataset
from unseen.discovery.discover import discover
from unseen.graph import Graph
from unseen.ids import Mask
from unseen.splits import completely_imbalanced_split
from unseen_paper.bench.draws import Row, cells_of, kept_draws
from unseen_paper.bench.report import Table

GRAPHS = ("cora", "citeseer", "debian", "wiki", "actor", "chameleon", "photo")
RATES = (0.1, 0.3)
FIRST_SEED = 72_000
FILE = Path("reco_slip.csv")
FIGURES = ("discover", "reco_slip", "best_reco_slip", "discover_seconds", "reco_slip_seconds")
RECALLS = (0.05, 0.1, 0.2, 0.3, 0.5)
FALSE_SHARE = 0.1
EPOCHS, RATE_OF_LEARNING, LINK_WEIGHT, FIRST_MULTIPLIER = 1_000, 1e-3, 1e-3, 0.1
WIDTHS, DROPOUT = (64, 16, 8), 0.5


def run(*, repeats: int = 3, methods: Sequence[str] | None = None, file: Path = FILE) -> list[Table]:
    """Measure what is not in `file` yet and return the mean AUROC of both on each graph."""
    draws = list(itertools.product(RATES, range(FIRST_SEED, FIRST_SEED + repeats)))
    rows = kept_draws(methods or GRAPHS, draws, measure, ("rate", "seed"), FIGURES, file)
    lines = []
    for cell, draws_of_cell, value in cells_of(rows, ("graph", "rate"), FIGURES):
        means = [f"{value[name].mean():.{3 if name in FIGURES[:3] else 1}f}" for name in FIGURES]
        wins = f"{(value['discover'] > value['reco_slip']).sum()} of {len(draws_of_cell)}"
        lines.append((*cell, str(len(draws_of_cell)), *means[:3], wins, *means[3:]))
    words = "graph,rate,draws,discover,RECO-SLIP,its best model,discover ahead,discover s,RECO-SLIP s"
    return [Table("AUROC beside RECO-SLIP, a third of the classes hidden", words.split(","), lines)]


def measure(data: Dataset, rate: float, seed: int) -> Row:
    """Hide a third of the classes and return how well both rank the unlabelled nodes."""
    hidden = max(1, round(len(data.labels.classes) / 3))
    seen = completely_imbalanced_split(
        data.labels, label_rate=rate, unseen=hidden, random_state=seed
    ).seen_labels
    labelled = np.diff(seen.indicator.indptr) > 0
    judged = ~labelled & (np.diff(data.labels.indicator.indptr) > 0)
    known = np.isin(data.labels.classes, seen.classes)
    new = ~(data.labels.indicator.toarray() & known).any(axis=1)
    start = time.process_time()
    found = discover(data.graph, seen, random_state=seed)
    middle = time.process_time()
    models = fit_reco_slip(data.graph, labelled, seed)
    end = time.process_time()
    aurocs = [roc_auc_score(new[judged], scores[judged]) for scores, _, _ in models]
    allowed = [reached if false <= FALSE_SHARE else -false for _, false, reached in models]
    p = dict(
        zip(*(found.nodes.column(name).to_pylist() for name in ("node", "unseen_probability")), strict=True)
    )
    own = [p[node] for node in data.graph.node_ids[judged].tolist()]
    return {
        "discover": f"{roc_auc_score(new[judged], own):.4f}",
        "reco_slip": f"{aurocs[int(np.argmax(allowed))]:.4f}",
        "best_reco_slip": f"{max(aurocs):.4f}",
        "discover_seconds": f"{middle - start:.1f}",
        "reco_slip_seconds": f"{end - middle:.1f}",
    }


def fit_reco_slip(
    graph: Graph, labelled: Mask, seed: int
) -> list[tuple[npt.NDArray[np.float32], float, float]]:
    """Return the scores of the model of each recall, and its shares of held-out nodes called new (see `train`)."""
    features = graph.adjacency if graph.features is None else graph.features
    x = as_tensor(sp.csr_array(features, dtype=np.float32))
    walk = as_tensor(normalised(graph.adjacency))
    links = torch.from_numpy(np.vstack(sp.triu(graph.adjacency, k=1).nonzero()).astype(np.int64))
    held_out = np.random.default_rng(seed).random(len(labelled)) < 0.2
    kind = torch.from_numpy(labelled), torch.from_numpy(held_out)
    return [train(x, walk, links, kind, recall, seed) for recall in RECALLS]


def train(
    x: torch.Tensor,
    walk: torch.Tensor,
    links: torch.Tensor,
    kind: tuple[torch.Tensor, torch.Tensor],
    recall: float,
    seed: int,
) -> tuple[npt.NDArray[np.float32], float, float]:
    """Train one model; return its scores, and the shares of held-out labelled and unlabelled nodes called new.

    The model is that of the epoch, of the second half, with the lowest Lagrangian on held-out nodes.
    """
    torch.manual_seed(seed)
    labelled, held_out = kind
    model = Detector(x.shape[1])
    multiplier = torch.tensor(FIRST_MULTIPLIER, requires_grad=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE_OF_LEARNING)
    dual = torch.optim.Adam([multiplier], lr=RATE_OF_LEARNING, maximize=True)

    def lagrangian(
        logits: torch.Tensor, links_loss: torch.Tensor, rows: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        p = torch.softmax(logits, dim=1)[:, 1]
        reached = (p[~labelled & rows] > 0.5).float().mean()
        false = p[labelled & rows]
        value = false.mean() + LINK_WEIGHT * links_loss
        value = value + multiplier.detach() * (recall - p[~labelled & rows].mean())
        return value, reached, (false > 0.5).float().mean()

    best, lowest = (np.empty(0, dtype=np.float32), 1.0, 0.0), np.inf
    for epoch in range(EPOCHS):
        model.train()
        z, logits = model(x, walk)
        value, reached, _ = lagrangian(
            logits, loss_of_links(z, logits[:, 1], links, ~labelled, recall), ~held_out
        )
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        dual.zero_grad()
        (multiplier * (recall - reached)).backward()
        dual.step()
        with torch.no_grad():
            multiplier.clamp_(min=0)
            if epoch >= EPOCHS // 2 and epoch % 10 == 9:
                model.eval()
                z, logits = model(x, walk)
                value, reached, false = lagrangian(
                    logits, loss_of_links(z, logits[:, 1], links, ~labelled, recall), held_out
                )
                if float(value) < lowest:
                    scores = (logits[:, 1] - logits[:, 0]).numpy().astype(np.float32)
                    best, lowest = (scores, float(false), float(reached)), float(value)
    return best


def loss_of_links(
    z: torch.Tensor, scores: torch.Tensor, links: torch.Tensor, unlabelled: torch.Tensor, recall: float
) -> torch.Tensor:
    """Return the loss of telling links from other pairs, among the unlabelled nodes that look least new."""
    rows = unlabelled.nonzero().ravel()
    hard = torch.zeros(len(scores), dtype=torch.bool)
    hard[rows[scores[rows].detach().argsort()[: int(len(rows) * (1 - recall))]]] = True
    inside = links[:, hard[links].all(dim=0)]
    rows = hard.nonzero().ravel()
    others = rows[torch.randint(len(rows), inside.shape)]
    linked, apart = ((z[pairs[0]] * z[pairs[1]]).sum(dim=1) for pairs in (inside, others))
    return -functional.logsigmoid(linked).mean() - functional.logsigmoid(-apart).mean()


class Detector(torch.nn.Module):
    """Two layers of a GCN with batch normalisation, and a classifier of two layers."""

    def __init__(self, n_features: int) -> None:
        super().__init__()
        first, second, third = WIDTHS
        self.first, self.second = torch.nn.Linear(n_features, first), torch.nn.Linear(first, second)
        self.norms = torch.nn.ModuleList([torch.nn.BatchNorm1d(width) for width in (first, second)])
        self.classifier = torch.nn.Sequential(
            torch.nn.Linear(second, third),
            torch.nn.ReLU(),
            torch.nn.Dropout(DROPOUT),
            torch.nn.Linear(third, 2),
        )

    def forward(self, x: torch.Tensor, walk: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the embedding and the two scores of every node."""
        hidden = walk @ (x @ self.first.weight.T) + self.first.bias
        hidden = functional.dropout(functional.relu(self.norms[0](hidden)), DROPOUT, self.training)
        z = functional.relu(self.norms[1](walk @ (hidden @ self.second.weight.T) + self.second.bias))
        return z, self.classifier(z)


def normalised(adjacency: sp.csr_array) -> sp.csr_array:
    """Return D^-1/2 (A + I) D^-1/2."""
    with_loops = sp.csr_array(adjacency + sp.eye_array(adjacency.shape[0]), dtype=np.float32)
    scale = 1 / np.sqrt(with_loops.sum(axis=1))
    return sp.csr_array(with_loops.multiply(scale[:, None]).multiply(scale[None, :]))


def as_tensor(matrix: sp.csr_array) -> torch.Tensor:
    """Return a sparse tensor of a sparse matrix."""
    starts, columns = (torch.from_numpy(part.astype(np.int64)) for part in (matrix.indptr, matrix.indices))
    values = torch.from_numpy(matrix.data.astype(np.float32))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state")
        return torch.sparse_csr_tensor(starts, columns, values, size=matrix.shape, check_invariants=False)
