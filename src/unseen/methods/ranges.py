"""Weights and features brought to a scale that floating point can work with, before a method sees them.

Squares of 1e150, or the inverse of 5e-324, leave the range of numbers; features of 1e-9 vanish beside a regularisation.
A power of two changes no digit. Some methods depend on the scale, so that only unusual ones are touched.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.engine.sparse import GraphPart, Matrix
from unseen.errors import InputError, logger
from unseen.graph import Features, Graph
from unseen.linalg.svd import scale_exponent

USUAL_WEIGHTS, USUAL_FEATURES = (2.0**-60, 2.0**60), (2.0**-20, 2.0**40)
"""The largest weight, and the largest feature, are left alone between these."""
WIDEST = 2.0**-500
"""The smallest weight as a share of the largest: a walk would take the square of anything smaller for zero."""


def in_range(graph: Graph, run: Run) -> Graph:
    """Return the graph with its weights and features multiplied by powers of two where their scale is unusual."""
    weights = graph.adjacency.local.data if isinstance(graph.adjacency, Matrix) else graph.adjacency.data
    exponent = scale_exponent(weights, run, *USUAL_WEIGHTS)
    _check_width(weights, run)
    if exponent:
        logger.info("edge weights are scaled by 2^%d for the computation", exponent)
        graph = replace(graph, adjacency=_scaled(graph.adjacency, exponent))
    return graph


def scaled_features(graph: Graph, exponent: int) -> Graph:
    """Return the graph with its features multiplied by a power of two."""
    if not exponent or graph.features is None:
        return graph
    features: Features = _scaled(graph.features, exponent)
    return replace(graph, features=features)


def feature_exponent(graph: Graph | GraphPart, run: Run) -> int:
    """Return the power of two by which features are brought to a usual scale; 0 where they have one."""
    if graph.features is None:
        return 0
    values = graph.features if isinstance(graph.features, np.ndarray) else graph.features.data
    exponent = scale_exponent(values, run, *USUAL_FEATURES)
    if exponent:
        logger.info("features are scaled by 2^%d for the computation", exponent)
    return exponent


def _check_width(weights: npt.NDArray[Any], run: Run) -> None:
    positive = weights[weights > 0]
    least, most = positive.min(initial=np.inf), positive.max(initial=0.0)
    if run.processes > 1:
        everywhere = run.gather(np.array([[least, most]], dtype=np.float64))
        least, most = everywhere[:, 0].min(), everywhere[:, 1].max()
    if most and float(least) / float(most) < WIDEST:
        msg = (
            f"edge weights go from {least:g} to {most:g}, which is wider than floating point can work with; "
            "leave out the smallest, or take their logarithm"
        )
        raise InputError(msg)


def _scaled(values: Any, exponent: int) -> Any:
    if isinstance(values, Matrix):
        return values.with_values(np.ldexp(values.local.data, exponent), symmetric=values.symmetric)
    if isinstance(values, np.ndarray):
        return np.ldexp(values, exponent)
    return sp.csr_array((np.ldexp(values.data, exponent), values.indices, values.indptr), shape=values.shape)
