"""The label terms of RSDNE as one quadratic form: alpha (tr(U' L_s U) + tr(U' L_w U))."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.comm.halo import HaloMatrix
from unseen.linalg.blocks import map_blocks, row_cuts
from unseen.linalg.labelled import LabelledWalk
from unseen.linalg.products import spmm

Dense = npt.NDArray[Any]


@dataclass(frozen=True)
class Smoothing:
    """The quadratic form alpha (L_s + L_w), for one choice of neighbours; either part may be missing."""

    alpha: float
    inter: LabelledWalk | None = None
    S: sp.csr_array | HaloMatrix | None = None
    dtype: npt.DTypeLike = np.float64
    degree: npt.NDArray[np.float64] = field(init=False)
    laplacian: sp.csr_array | None = field(init=False)

    def __post_init__(self) -> None:
        degree = np.zeros(1)
        if self.inter is not None:
            degree = degree + self.inter.degree
        if isinstance(self.S, HaloMatrix):
            degree = degree + self.S.row_sums()
        elif self.S is not None:
            degree = degree + np.asarray(self.S.sum(axis=1), dtype=np.float64)
        object.__setattr__(self, "degree", self.alpha * degree)
        object.__setattr__(self, "laplacian", self._written_out())

    @property
    def empty(self) -> bool:
        """Whether there is nothing to smooth."""
        return self.inter is None and self.S is None

    def _written_out(self) -> sp.csr_array | None:
        """Return alpha (L_s + L_w) as one matrix, or None where W is an operator only, or S is spread."""
        if isinstance(self.S, HaloMatrix) or (self.inter is not None and self.inter.explicit is None):
            return None
        explicit = None if self.inter is None else self.inter.explicit
        parts = [part for part in (explicit, self.S) if part is not None]
        if not parts:
            return None
        joined = parts[0] if len(parts) == 1 else parts[0] + parts[1]
        made = sp.csr_array(sp.diags_array(self.degree) - self.alpha * joined).astype(self.dtype)
        made.sort_indices()
        return made

    def apply(self, V: Dense, out: Dense | None = None) -> Dense:
        """Return alpha (L_s + L_w) V; `out` is memory that may be used for it."""
        if self.empty:
            return np.zeros_like(V)
        if self.laplacian is not None:
            return spmm(self.laplacian, V, out=out)
        joined = np.zeros_like(V) if self.inter is None else self.inter.symmetric(V)
        if self.S is not None:
            spmm(self.S, V, out=joined, add=True)

        def difference(start: int, stop: int) -> None:
            block = joined[start:stop]
            block *= -self.alpha
            block += self.degree[start:stop].astype(V.dtype)[:, None] * V[start:stop]

        map_blocks(difference, row_cuts(len(V)))
        return joined
