"""The sample method of CONTRIBUTING is a real one: it runs as it stands there."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import unseen
from unseen import methods

GUIDE = Path(unseen.__file__).parents[2] / "CONTRIBUTING.md"


@pytest.mark.skipif(not GUIDE.exists(), reason="needs the source tree, this is an installed copy")
def test_the_sample_method_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = re.search(
        r"`src/unseen/methods/(\w+\.py)`.*?```python\n(.*?)^```", GUIDE.read_text("utf-8"), re.S | re.M
    )
    assert sample is not None
    (tmp_path / sample[1]).write_text(sample[2], encoding="utf-8")
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(tmp_path)])
    try:
        graph = unseen.Graph.from_edges([0, 1], [1, 2])
        vectors = unseen.make_method("degrees", n_components=3, random_state=0).fit_transform(graph).vectors
        assert np.allclose(vectors[:, 0], [0.5, 1.0, 0.5])
    finally:
        sys.modules.pop("unseen.methods.degrees", None)
