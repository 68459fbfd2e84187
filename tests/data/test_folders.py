"""Whatever a file holds, its reader returns numbers or a sentence."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from unseen.data.datasets import Counts, ListedGraph, parse_groups, parse_pairs, read_folder

odd_text = st.text(alphabet="0123456789 \t\r\n-+._xe٣\x0b\x0c\x1c\x85\u2028\x00", max_size=40)


@pytest.mark.slow
@pytest.mark.parametrize("parse", [parse_pairs, parse_groups])
@given(text=odd_text)
def test_numbers_or_a_sentence(parse, text):
    try:
        pairs = parse(text, "file.txt")
    except unseen.DatasetError as error:
        assert str(error).startswith("file.txt, line ")  # noqa: PT017
    else:
        assert pairs.dtype == np.int64
        assert pairs.ndim == 2
        assert pairs.shape[1] == 2
        assert pairs.min(initial=0) >= 0


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


def some_graph() -> ListedGraph:
    features = sp.csr_array(np.array([[0, 0.5], [1, 0]], dtype=np.float32))
    return ListedGraph(np.array([[0, 1]]), np.array([[1, 0], [0, 1]]), features)


def test_digest_sees_every_part():
    listed = some_graph()
    changed = [
        ListedGraph(np.array([[1, 0]]), listed.labels, listed.features),
        ListedGraph(listed.edges, np.array([[1, 0], [0, 0]]), listed.features),
        ListedGraph(listed.edges, listed.labels, listed.features * 2),
        ListedGraph(listed.edges, listed.labels, listed.features[::-1]),
        ListedGraph(listed.edges, listed.labels, None),
    ]
    assert len({listed.digest, *(other.digest for other in changed)}) == 6
    reordered = ListedGraph(listed.edges, listed.labels[::-1], listed.features)
    assert reordered.digest == listed.digest  # the order of label lines has no meaning
