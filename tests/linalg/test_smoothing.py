from __future__ import annotations

import numpy as np
import pytest

import unseen
from unseen.engine.run import Run
from unseen.linalg.normalize import l2_rows, smoothed, teleport_weights


@pytest.mark.parametrize("teleport", [0.0, 0.1, 0.7, 1.0])
def test_one_series_gives_what_the_rounds_give(teleport: float) -> None:
    graph = unseen.planted_partition(50, 2, random_state=0).graph
    ahat = Run().matrix(graph.adjacency).gcn_normalized().local.astype(np.float32)
    Z = np.random.default_rng(0).standard_normal((50, 4)).astype(np.float32)
    start = l2_rows(Z)
    expected = start
    for _ in range(6):
        expected = (1 - teleport) * (ahat @ expected) + teleport * start
    made = smoothed(Run().matrix(ahat), Z, {"one": [teleport]}, 6)["one"]
    np.testing.assert_allclose(made, l2_rows(expected), atol=1e-5)


def test_weights_sum_to_one() -> None:
    for steps in (0, 1, 20):
        assert teleport_weights(0.3, steps).sum() == pytest.approx(1)


def test_a_depth_averages_its_teleport_rates() -> None:
    graph = unseen.planted_partition(50, 2, random_state=0).graph
    ahat = Run().matrix(graph.adjacency).gcn_normalized().local.astype(np.float32)
    Z = l2_rows(np.random.default_rng(0).standard_normal((50, 4)).astype(np.float32))
    sums = [
        sum(c * (np.linalg.matrix_power(ahat.toarray(), s) @ Z) for s, c in enumerate(teleport_weights(t, 3)))
        for t in (0.1, 0.5)
    ]
    np.testing.assert_allclose(
        smoothed(Run().matrix(ahat), Z, {"d": (0.1, 0.5)}, 3)["d"], l2_rows(sums[0] + sums[1]), atol=1e-5
    )
