"""MFDW, DeepWalk as matrix factorisation: min ||M - U H||^2 + lam (||U||^2 + ||H||^2), M = (Abar + Abar^2) / 2.

Yang et al., Network Representation Learning with Rich Text Information, IJCAI 2015, as the paper uses it (eq. 4).
The start is the truncated singular value decomposition M ~ P diag(s) Q': of all rank-d factorisations
U = P (s - lam)^1/2, H = (s - lam)^1/2 Q' has the lowest cost, so that few rounds are left to do.
The released code starts from uniform(0, 1) / d instead: ``init="uniform"``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.engine.run import Run
from unseen.engine.sparse import Matrix
from unseen.engine.steps import Arrays, History, Training
from unseen.errors import InputError, counted, logger
from unseen.graph import Graph
from unseen.ids import Array, Keys, Singles, match_ids
from unseen.labels import Labels
from unseen.linalg.svd import operator_svd
from unseen.linalg.walk import WalkMatrix
from unseen.methods.base import Method, Traits, Vectors
from unseen.methods.rsdne_solvers import Iterate, Objective, alternating, gradient_descent, new_rows
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
from unseen.randomness import child_seed, keyed_uniform, node_keys

if TYPE_CHECKING:
    from unseen.engine.memory import Job


CG_STEPS = 4
"""Conjugate-gradient steps of a U step: more of them do not lower J faster, because H follows anyway."""


class MFDW(Method):
    """DeepWalk as a factorisation of the walk matrix; uses the graph alone.

    Attributes
    ----------
    context_ : ndarray, shape (n, n_components)
        H, transposed.
    loss_history_ : list of float
        J at the start and after each round, without the constant ||M||^2 where that would be expensive
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
    """

    reference = "Yang et al., Network Representation Learning with Rich Text Information, IJCAI 2015"
    _traits = Traits("mfdw", "DeepWalk as a matrix factorisation, no labels", trains_on_parts=True)

    n_components: Columns = None
    lam: Regularisation = 0.1
    max_iter: Rounds = 15
    tol: RoundTolerance = 5e-4
    solver: Solver = "als"
    step: StepRule = "bold"
    init: Start = "svd"
    callbacks: Callbacks = None

    @classmethod
    def _bytes_needed(cls, job: Job) -> float:
        return 10.5 * job.tall + 75.0 * job.entries

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        n = graph.n_nodes
        columns = self._components(self.n_components, n, f"there are {n} nodes")
        seed = child_seed(run.rng)
        keys = node_keys(graph.node_ids, seed)
        adjacency = run.matrix(graph.adjacency, symmetric=True)
        walk = run.once(WalkMatrix, lambda: WalkMatrix(adjacency))
        constant = walk.frobenius_squared()
        self.loss_has_constant_ = constant is not None
        if constant is None:
            sentence = (
                "%s: the reported J leaves out ||M||^2, a constant that is expensive on a graph with hubs"
            )
            logger.info(sentence, self._name)
        terms = self._label_terms(adjacency, labels, keys)
        objective = Objective(walk, self.lam, constant=constant or 0.0, **terms)
        key = (MFDW, self.init, self.lam, columns, seed)
        state, history = self._do_rounds(
            objective, lambda: run.once(key, lambda: self._start(walk, keys, columns)), run
        )
        self.context_: Singles = state.Ht
        self.loss_history_ = history.losses
        self.n_iter_ = len(history.losses) - 1
        self.converged_ = history.stopped_by == "tol"
        self.smoothing_alpha_ = 0.0 if objective.inter is None else objective.alpha
        before, after = history.losses[0], history.losses[-1]
        logger.info("%s: %s, J from %.6g to %.6g", self._name, counted(self.n_iter_, "round"), before, after)
        return state.U

    def _do_rounds(
        self, objective: Objective, make_start: Callable[[], tuple[Singles, Singles]], run: Run
    ) -> tuple[Iterate, History]:
        """Return the last round and the history of J; Ctrl-C ends the rounds with the last whole one."""
        resumes = self.solver == "als"  # U and H' are all that a round needs to know of those before
        rounds = partial(gradient_descent, step=self.step)
        if resumes:
            rounds = partial(alternating, cg_steps=CG_STEPS)
        stored: list[Array] = []
        states: Iterator[Iterate]
        state: Iterate

        def begin() -> float:
            nonlocal states
            states = rounds(objective, *(stored or (part.copy() for part in make_start())))
            stored.clear()
            return do_round()

        def do_round() -> float:
            nonlocal state
            state = next(states)
            return state.cost

        def restore(_: int, arrays: Arrays) -> None:
            stored[:] = arrays["U"], arrays["Ht"]

        training = Training(
            do_round,
            vectors=lambda: state.U,
            state=(lambda: {"U": state.U, "Ht": state.Ht}) if resumes else None,
            restore=restore,
            interrupted=lambda: "the last whole round",
            counts=lambda: state.moved,
            advice="bring the edge weights to a usual scale",
        )
        options: dict[str, Any] = {"callbacks": self.callbacks, "tol": self.tol, "window": 1, "start": begin}
        history = run.steps(self._name, self.max_iter, training, **options)
        return state, history

    def _label_terms(self, adjacency: Matrix, labels: Labels, keys: Keys) -> dict[str, Any]:  # noqa: ARG002
        """Return what the objective has more, by name: nothing."""
        return {}

    def _start(self, walk: WalkMatrix, keys: Keys, columns: int) -> tuple[Singles, Singles]:
        n = walk.shape[0]
        if self.init == "uniform":
            U, Ht = (keyed_uniform(keys, columns, stream=stream) / columns for stream in (1, 2))
            return U.astype(np.float32), Ht.astype(np.float32)
        width = min(n, columns + max(16, columns // 4))
        random = keyed_uniform(keys, width).astype(np.float32) - np.float32(0.5)
        P, values, Q = operator_svd(walk.alternating(random), random, columns, walk.run)
        root = np.sqrt(np.maximum(values - self.lam, 0.0)).astype(np.float32)
        return P * root, Q * root

    def _transform(self, graph: Graph, run: Run) -> Vectors:
        rows = match_ids(graph.node_ids, self.embedding_.node_ids)
        old = rows >= 0
        if not old.any():
            msg = (
                f"{self._name} places new nodes by their links to the nodes it was fitted on, and this graph has none "
                "of them; give the whole graph, old nodes and new"
            )
            raise InputError(msg)
        U = np.zeros((graph.n_nodes, self.context_.shape[1]), dtype=np.float32)
        context = np.zeros_like(U)
        U[old] = self.embedding_.vectors[rows[old]]
        context[old] = self.context_[rows[old]]
        if old.all():
            return U
        walk = WalkMatrix(run.matrix(graph.adjacency, symmetric=True))
        return new_rows(walk, U, context, self.context_, old, lam=self.lam, alpha=self.smoothing_alpha_)
