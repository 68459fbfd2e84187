"""The sample method of CONTRIBUTING is a real one: it runs as it stands there."""

from __future__ import annotations

import re
import sys
import textwrap
import types
from pathlib import Path

import numpy as np
import pytest

import unseen
from unseen.methods.registry import METHODS, Entry

GUIDE = Path(unseen.__file__).parents[2] / "CONTRIBUTING.md"


@pytest.mark.skipif(not GUIDE.exists(), reason="needs the source tree, this is an installed copy")
def test_the_sample_method_works(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(
        r"^ *```python\n(.*?)^ *```", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    module = types.ModuleType("unseen.methods.degrees")
    exec(textwrap.dedent(blocks[0]), module.__dict__)
    monkeypatch.setitem(sys.modules, "unseen.methods.degrees", module)
    name, entry = re.match(r'"(\w+)": Entry\((.*)\),', blocks[1].strip()).groups()
    monkeypatch.setitem(METHODS, name, Entry(*[part.strip(' "') for part in entry.split(",")]))
    graph = unseen.Graph.from_edges([0, 1], [1, 2])
    vectors = unseen.make_method(name, n_components=3, random_state=0).fit_transform(graph).vectors
    assert np.allclose(vectors[:, 0], [0.5, 1.0, 0.5])
