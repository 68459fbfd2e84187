"""Sharing label-free work between fits changes nothing but the time."""

from __future__ import annotations

import numpy as np
import pytest

import unseen
from unseen.methods.sharing import shared_work


@pytest.mark.parametrize("name", ["rect", "rect-l", "rsdne", "rsdne-light", "mfdw"])
def test_the_same_bits_with_and_without(name: str) -> None:
    data = unseen.planted_partition(80, 4, random_state=0)
    splits = [
        unseen.completely_imbalanced_split(data.labels, label_rate=0.4, unseen=1, random_state=k)
        for k in (0, 1)
    ]
    few = {"epochs": 5} if name.startswith("rect") else {"max_iter": 3}

    def fit(split: unseen.Split) -> np.ndarray:
        method = unseen.make_method(name, n_components=8, random_state=0, **few)
        return np.asarray(method.fit_transform(data.graph, split.seen_labels).vectors)

    apart = [fit(split) for split in splits]
    with shared_work():
        together = [fit(split) for split in (*splits, *splits)]
    for k, vectors in enumerate(together):
        assert np.array_equal(vectors, apart[k % 2])


def test_the_structure_half_is_trained_once_inside_and_every_time_outside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from unseen.methods.neural.rect_n import RECTN

    data = unseen.planted_partition(80, 4, random_state=0)
    trained = []
    original = RECTN._fit
    monkeypatch.setattr(RECTN, "_fit", lambda *args: trained.append(1) or original(*args))
    method = unseen.RECT(n_components=8, epochs=2, random_state=0)
    with shared_work():
        for _ in range(3):
            method.fit(data.graph, data.labels)
    assert len(trained) == 1
    method.fit(data.graph, data.labels)
    assert len(trained) == 2
    other = unseen.planted_partition(80, 4, random_state=1)
    with shared_work():
        method.fit(data.graph, data.labels)
        method.fit(other.graph, other.labels)
        unseen.RECT(n_components=8, epochs=3, random_state=0).fit(data.graph, data.labels)
    assert len(trained) == 5
