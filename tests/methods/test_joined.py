from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unseen.engine import scratch
from unseen.engine.run import Run
from unseen.ids import mapped_file
from unseen.methods.joined import JoinedViews


@pytest.mark.parametrize("on_disk", [False, True])
def test_two_passes_give_the_principal_directions_of_scaled_views(
    on_disk: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if on_disk:
        monkeypatch.setattr(scratch, "LARGE", 1)
    rng = np.random.default_rng(0)
    one, two = (rng.standard_normal((500, k)).astype(np.float32) * np.geomspace(1, 9, k) for k in (5, 3))
    joined = JoinedViews(500, [5, 3], Run(scratch=tmp_path if on_disk else None))
    joined.add([one[:, :2].astype(np.float32), one[:, 2:].astype(np.float32)])
    joined.add([two.astype(np.float32)], unit=False)
    scales, mix = joined.strongest_directions(4, np.array([1.0, 0.5]))
    vectors = joined.times(scales, mix)
    assert (mapped_file(vectors) is not None) is on_disk
    unit = one / np.linalg.norm(one, axis=1, keepdims=True)
    views = [
        weight * view / np.sqrt(np.square(view - view.mean(axis=0)).sum(axis=1).mean())
        for weight, view in ((1.0, unit), (0.5, two))
    ]
    _, values, axes = np.linalg.svd(np.hstack(views), full_matrices=False)
    expected = np.hstack(views) @ axes[:4].T
    tolerance = 2e-2 if on_disk else 1e-4  # float16 on disk
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), values[:4], rtol=tolerance)
    np.testing.assert_allclose(vectors @ vectors.T, expected @ expected.T, atol=tolerance)
    whole = joined.times(*joined.strongest_directions(8, 1.0))
    np.testing.assert_allclose(whole[:, :5], views[0], atol=tolerance)
