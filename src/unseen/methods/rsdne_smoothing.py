"""The label terms of RSDNE as one quadratic form: alpha (tr(U' L_s U) + tr(U' L_w U))."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.engine.sparse import Matrix
from unseen.linalg.labelled import LabelledWalk

Dense = npt.NDArray[Any]


class Smoothing:
    """The quadratic form alpha (L_s + L_w), for one choice of neighbours; either part may be missing."""

    def __init__(
        self, alpha: float, run: Run, inter: LabelledWalk | None = None, S: Matrix | None = None
    ) -> None:
        self.alpha, self.run, self.inter, self.S = alpha, run, inter, S
        self.empty = inter is None and S is None
        degree: npt.NDArray[np.float64] = np.zeros(1)
        if inter is not None:
            degree = degree + inter.degree
        if S is not None:
            degree = degree + S.row_sums()
        self.degree = alpha * degree
        self.laplacian = self._written_out()

    def _written_out(self) -> Matrix | None:
        """Return alpha (L_s + L_w) as one matrix, or None where W is an operator only, or S is spread."""
        explicit = None if self.inter is None else self.inter.explicit
        if self.empty or (self.inter is not None and explicit is None) or (self.S and self.S.halo):
            return None
        parts = [part.local for part in (explicit, self.S) if part is not None]
        joined = parts[0] if len(parts) == 1 else parts[0] + parts[1]
        laplacian = sp.csr_array(sp.diags_array(self.degree) - self.alpha * joined)
        laplacian.sort_indices()
        return self.run.matrix(laplacian, symmetric=True)

    def apply(self, V: Dense, out: Dense | None = None) -> Dense:
        """Return alpha (L_s + L_w) V; `out` is memory that may be used for it."""
        if self.empty:
            return np.zeros_like(V)
        if self.laplacian is not None:
            return self.laplacian.times(V, out=out)
        joined = np.zeros_like(V) if self.inter is None else self.inter.symmetric(V)
        if self.S is not None:
            self.S.times(V, out=joined, add=True)

        def difference(start: int, stop: int) -> None:
            block = joined[start:stop]
            block *= -self.alpha
            block += self.degree[start:stop].astype(V.dtype)[:, None] * V[start:stop]

        self.run.each(difference, len(V))
        return joined
