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
from unseen.datasets.dataset import Counts
from unseen.datasets.raw import (
    RawGraph,
    parse_communities,
    parse_groups,
    parse_pairs,
    read_folder,
    read_npz,
    write_npz,
)
from unseen.datasets.registry import Entry

odd_text = st.text(alphabet="0123456789 \t\r\n-+._xe٣\x0b\x0c\x1c\x85\u2028\x00", max_size=40)


@pytest.mark.parametrize("parse", [parse_pairs, parse_groups, parse_communities])
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
    entry = Entry("cora", Counts(1, 0, 1, 1), (), "")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "graph.txt").write_bytes(graph)
        (folder / "group.txt").write_bytes(group)
        (folder / "features.npz").write_bytes(features)
        with pytest.raises(unseen.DatasetError):
            read_folder(folder, entry)
        assert read_npz(folder / "features.npz") is None


def some_graph() -> RawGraph:
    features = sp.csr_array(np.array([[0, 0.5], [1, 0]], dtype=np.float32))
    return RawGraph(np.array([[0, 1]]), np.array([[1, 0], [0, 1]]), features)


def test_cached_form_reads_back(tmp_path):
    raw = some_graph()
    write_npz(raw, tmp_path / "a.npz")
    back = read_npz(tmp_path / "a.npz")
    assert back.digest == raw.digest
    assert back.counts == raw.counts == Counts(nodes=2, edges=1, classes=2, features=2)
    assert back.features.toarray().tolist() == raw.features.toarray().tolist()


def test_digest_sees_every_part():
    raw = some_graph()
    changed = [
        RawGraph(np.array([[1, 0]]), raw.labels, raw.features),
        RawGraph(raw.edges, np.array([[1, 0], [0, 0]]), raw.features),
        RawGraph(raw.edges, raw.labels, raw.features * 2),
        RawGraph(raw.edges, raw.labels, raw.features[::-1]),
        RawGraph(raw.edges, raw.labels, None),
    ]
    assert len({raw.digest, *(other.digest for other in changed)}) == 6
    reordered = RawGraph(raw.edges, raw.labels[::-1], raw.features)
    assert reordered.digest == raw.digest  # the order of label lines has no meaning
