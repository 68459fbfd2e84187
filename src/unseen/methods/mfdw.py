"""MFDW, DeepWalk as matrix factorisation: min ||M - U H||^2 + lam (||U||^2 + ||H||^2), M = (Abar + Abar^2) / 2.

Yang et al., Network Representation Learning with Rich Text Information, IJCAI 2015, as the paper uses it (eq. 4).
The start is the truncated singular value decomposition M ~ P diag(s) Q': of all rank-d factorisations
U = P (s - lam)^1/2, H = (s - lam)^1/2 Q' has the lowest cost, so that few rounds are left to do.
The released code starts from uniform(0, 1) / d instead: ``init="uniform"``.
"""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError, logger
from unseen.graph import Graph
from unseen.ids import match_ids
from unseen.labels import Labels
from unseen.linalg.keyed import keyed_uniform, node_keys
from unseen.linalg.operator_svd import operator_svd
from unseen.linalg.walk import WalkMatrix
from unseen.methods.base import Method, Vectors
from unseen.methods.keeping import keeper
from unseen.methods.rsdne_solvers import Objective, State, alternating, gradient_descent, new_rows, solve
from unseen.methods.sharing import shared
from unseen.methods.training import Epoch, checked_callbacks
from unseen.methods.vocabulary import (
    Callbacks,
    Columns,
    Regularisation,
    Rounds,
    RoundTolerance,
    Solver,
    Start,
    StepRule,
)
from unseen.randomness import child_seed

Keys = npt.NDArray[np.uint64]
Array = npt.NDArray[np.float32]

CG_STEPS = 4
"""Conjugate-gradient steps of a U step: more of them do not lower J faster, because H follows anyway."""


class MFDW(Method):
    """DeepWalk as a factorisation of the walk matrix; uses the graph alone.

    Attributes
    ----------
    context_ : ndarray, shape (n, n_components)
        H, transposed.
    loss_history_ : list of float
        J at the start and after each round, without the constant ||M||^2 where that would be dear
        (`loss_has_constant_` says which).
    n_iter_ : int
        Rounds that were done.
    converged_ : bool
        Whether `tol` ended them.

    Notes
    -----
    Time and memory are linear in the number of edges, hubs or not: M is an operator.

    `transform` keeps the vectors of nodes it knows and solves the ridge problem of the others with H fixed. That is
    an approximation: a refit would move H and the known nodes too.

    Examples
    --------
    >>> import unseen
    >>> graph = unseen.load_dataset("debian").graph
    >>> unseen.MFDW(n_components=16, max_iter=2, random_state=0).fit_transform(graph)
    Embedding(4852 nodes, 16 columns, by mfdw)
    """

    name: ClassVar[str] = "mfdw"
    summary: ClassVar[str] = "DeepWalk as a matrix factorisation, no labels"
    reference: ClassVar[str] = (
        "Yang et al., Network Representation Learning with Rich Text Information, IJCAI 2015"
    )

    n_components: Columns = None
    lam: Regularisation = 0.1
    max_iter: Rounds = 15
    tol: RoundTolerance = 5e-4
    solver: Solver = "als"
    step: StepRule = "bold"
    init: Start = "svd"
    callbacks: Callbacks = None

    def _fit(self, graph: Graph, labels: Labels, rng: np.random.Generator) -> Vectors:
        n = graph.n_nodes
        columns = self._components(self.n_components, n, f"there are {n} nodes")
        seed = child_seed(rng)
        keys = node_keys(graph.node_ids, seed)
        walk = shared(graph, "walk", lambda: WalkMatrix(graph.adjacency))
        constant = walk.frobenius_squared()
        self.loss_has_constant_ = constant is not None
        if constant is None:
            logger.info(
                "%s: the reported J leaves out ||M||^2, a constant that is dear on a graph with hubs",
                self.name,
            )
        objective = self._objective(graph, labels, walk, keys, constant or 0.0)
        start = ("start", self.init, self.lam, columns, seed)
        kept = keeper().resume(self.name) if self.solver == "als" else None
        if kept is None:
            U, Ht = (part.copy() for part in shared(graph, start, lambda: self._start(walk, keys, columns)))
        else:
            U, Ht = kept[1]["U"], kept[1]["Ht"]
        rounds = (
            alternating(objective, U, Ht, cg_steps=CG_STEPS)
            if self.solver == "als"
            else gradient_descent(objective, U, Ht, step=self.step)
        )
        solution = solve(
            rounds,
            max_iter=self.max_iter,
            tol=self.tol,
            report=self._reporter(),
            before=() if kept is None else kept[1]["losses"].tolist(),
            keep=self._keep,
        )
        self.context_: Array = solution.state.Ht
        self.loss_history_ = solution.history
        self.n_iter_ = len(solution.history) - 1
        self.converged_ = solution.ended_by == "tol"
        self.smoothing_alpha_ = 0.0 if objective.inter is None else objective.alpha
        logger.info(
            "%s: %d rounds, J from %.6g to %.6g",
            self.name,
            self.n_iter_,
            *np.array(solution.history)[[0, -1]],
        )
        return solution.state.U

    def _objective(
        self,
        graph: Graph,  # noqa: ARG002  # what RSDNE needs more
        labels: Labels,  # noqa: ARG002
        walk: WalkMatrix,
        keys: Keys,  # noqa: ARG002
        constant: float,
    ) -> Objective:
        return Objective(walk, self.lam, constant=constant)

    def _start(self, walk: WalkMatrix, keys: Keys, columns: int) -> tuple[Array, Array]:
        n = walk.shape[0]
        if self.init == "uniform":
            U, Ht = (keyed_uniform(keys, columns, stream=stream) / columns for stream in (1, 2))
            return U.astype(np.float32), Ht.astype(np.float32)
        spread = min(n, columns + max(16, columns // 4))
        random = keyed_uniform(keys, spread).astype(np.float32) - np.float32(0.5)
        P, values, Q = operator_svd(*walk.alternating(random), random, columns, comm=walk.comm)
        root = np.sqrt(np.maximum(values - self.lam, 0.0)).astype(np.float32)
        return P * root, Q * root

    def _keep(self, state: State, history: list[float]) -> None:
        number = len(history) - 1
        arrays = {"U": state.U, "Ht": state.Ht, "losses": np.array(history)}
        keeper().offer(self.name, number, arrays, last=number == self.max_iter)

    def _reporter(self) -> Any:
        callbacks = checked_callbacks(self.callbacks)
        start = time.monotonic()

        def report(number: int, loss: float, U: Array) -> bool:
            told = Epoch(self.name, number, self.max_iter, loss, time.monotonic() - start, lambda: U)
            answers = [bool(callback(told)) for callback in callbacks]  # all are called, also after a stop
            return any(answers)

        return report

    def _transform(self, graph: Graph) -> Vectors:
        rows = match_ids(graph.node_ids, self.embedding_.node_ids)
        known = rows >= 0
        if not known.any():
            msg = (
                f"{self.name} places new nodes by their links to the nodes it was fitted on, and this graph has none "
                "of them; give the whole graph, old nodes and new"
            )
            raise InputError(msg)
        U = np.zeros((graph.n_nodes, self.context_.shape[1]), dtype=np.float32)
        context = np.zeros_like(U)
        U[known] = self.embedding_.vectors[rows[known]]
        context[known] = self.context_[rows[known]]
        if known.all():
            return U
        walk = WalkMatrix(graph.adjacency)
        return new_rows(walk, U, context, self.context_, known, lam=self.lam, alpha=self.smoothing_alpha_)
