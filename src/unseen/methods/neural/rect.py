"""RECT: what the labels say and how the graph is built, side by side (Wang et al., TKDE 2020, Algorithm 2).

The hidden layer of RECT-L and that of RECT-N, trained apart, each l2-normalised, one behind the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np

from unseen.engine.estimate import Resources, Sizes
from unseen.engine.run import Run
from unseen.errors import logger
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.linalg.normalize import l2_rows
from unseen.methods.base import Vectors
from unseen.methods.neural.rect_l import RECTL, SemanticMethod
from unseen.methods.neural.rect_n import RECTN
from unseen.methods.vocabulary import Columns
from unseen.params import Limits
from unseen.randomness import child_seed

Half = TypeVar("Half", RECTL, RECTN)


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

    name = "rect"
    summary = "rect-l and rect-n side by side, the paper's neural method"
    trains_on_parts = True
    default_components = 400
    structure_class: ClassVar[type[RECTN]] = RECTN
    """The half that learns the structure of the graph."""

    n_components: Annotated[Columns, Limits(2)] = None

    @classmethod
    def resources(cls, sizes: Sizes) -> Resources | None:
        """Return the memory and the time that a fit takes; see :mod:`unseen.engine.estimate`."""
        tall = 4.0 * sizes.nodes * sizes.columns
        half = replace(sizes, columns=-(-sizes.columns // 2))
        first, second = RECTL.resources(half), RECTN.resources(half)
        # one half, the other, both scaled and joined
        held = max(first.held, second.held + tall / 2, 3 * tall)
        exchanges = (first.exchanges + second.exchanges) / 2
        return Resources(held, second.movable, first.work + second.work, exchanges)

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        width = self.n_components or self.default_components
        seeds = child_seed(run.rng), child_seed(run.rng)
        self.source_ = self._source(graph)
        self.semantic_: RECTL | None = None
        self.class_descriptions_: dict[str, list[tuple[str, float]]] = {}
        self.loss_history_ = {}
        halves: list[RECTL | RECTN] = []
        if run.count(len(labels.labelled)):
            self.semantic_ = self._half(RECTL, width - width // 2, seeds[0])
            halves, width = [self.semantic_], width // 2
        else:
            other = self.structure_class.name
            logger.warning("%s: there are no labels, so the vectors are those of %s alone", self.name, other)
        self.structure_ = self._half(self.structure_class, width, seeds[1])
        parts = []
        for half in (*halves, self.structure_):
            parts.append(self._trained(half, graph, labels, run))
            self.loss_history_[half.name] = half.loss_history_
        if self.semantic_ is not None:
            self.class_descriptions_ = self.semantic_.class_descriptions_
        return self._joined(parts)

    def _half(self, cls: type[Half], width: int, seed: int) -> Half:
        params = {key: value for key, value in self.get_params().items() if key in cls.parameters}
        return cls(**{**params, "n_components": width, "random_state": seed})

    def _trained(self, half: RECTL | RECTN, graph: Graph, labels: Labels, run: Run) -> Vectors:
        """Train a half; one that does not see labels is trained once for all fits that share work."""

        def fresh() -> tuple[Vectors, dict[str, Any]]:
            assert isinstance(half.random_state, int)
            vectors = half._fit(graph, labels, run.seeded(half.random_state))
            return vectors, dict(half.__dict__)

        if half.uses_labels or self.callbacks is not None:
            return fresh()[0]
        key = (type(half), repr(sorted(half.get_params().items())))
        vectors, learnt = run.once(key, fresh)
        half.__dict__.update(learnt)
        return vectors

    def _transform(self, graph: Graph, run: Run) -> Vectors:
        halves = [half for half in (self.semantic_, self.structure_) if half is not None]
        self._new_features(graph)
        return self._joined([half._transform(graph, run) for half in halves])

    @staticmethod
    def _joined(parts: Sequence[Vectors]) -> Vectors:
        return np.hstack([l2_rows(np.asarray(part)) for part in parts])
