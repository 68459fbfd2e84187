"""Whatever a file holds, a folder gives a data set or a sentence."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from unseen.data.datasets import Counts, read_folder


@settings(deadline=None, max_examples=60)
@given(graph=st.binary(max_size=30), group=st.binary(max_size=30), features=st.binary(max_size=60))
def test_folder_of_rubbish(graph, group, features):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "graph.txt").write_bytes(graph)
        (folder / "group.txt").write_bytes(group)
        (folder / "features.npz").write_bytes(features)
        with pytest.raises(unseen.DatasetError):
            read_folder(folder, Counts(1, 0, 1, 1))
