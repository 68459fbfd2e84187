"""Texts become words and categories indicators, with names, so that captions speak."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import unseen
from unseen.engine.partition import partition
from unseen.errors import InputError

PAIRS = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
TEXTS = {"a": "red apple", "b": "red wine", "c": "old wine of the south", "d": "old"}


class Encoder:
    """The interface of sentence-transformers."""

    def encode(self, texts: list[str]) -> Any:
        return np.array([[len(text) - 5.0, -1.0] for text in texts])


def frame(**columns: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"node": list("abcd"), **columns})


def test_words_of_a_text_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "unseen")
    for header in ("node,text\n", ""):
        lines = [f"{node},{text}" for node, text in TEXTS.items()]
        (tmp_path / "t.csv").write_text(header + "\n".join(lines[:3]), encoding="utf-8")
        graph = unseen.read_graph(PAIRS, text=tmp_path / "t.csv")
        assert graph.feature_names == ("red", "wine")
        assert (graph.features.toarray() > 0).tolist() == [
            [True, False],
            [True, True],
            [False, True],
            [False, False],
        ]
    assert "1 node without a text" in caplog.text
    (tmp_path / "t.csv").write_text("node,text\nx,red wine\na,red wine\ny,old\n", encoding="utf-8")
    assert unseen.read_graph(PAIRS, text=tmp_path / "t.csv").node_ids.tolist() == [
        "a",
        "b",
        "c",
        "d",
        "x",
        "y",
    ]
    (tmp_path / "t.csv").write_text("node,text\nx,red wine\ny,red wine\n", encoding="utf-8")
    with pytest.raises(InputError, match="'x', 'y'"):
        unseen.read_graph(PAIRS, text=tmp_path / "t.csv")
    with pytest.raises(InputError, match=r"^`text` has no word that several nodes share"):
        unseen.read_graph(PAIRS, text=frame(text=["one", "two", "three", "four"]))


def test_texts_of_directed_and_of_typed_graphs() -> None:
    text = frame(text=list(TEXTS.values()))
    graph = unseen.read_graph(PAIRS, text=text, directed=True)
    assert graph.is_directed
    assert graph.feature_names == ("old", "red", "wine")
    assert graph.texts.tolist() == list(TEXTS.values())
    with pytest.raises(InputError, match="texts are for graphs whose nodes are of one type"):
        unseen.read_graph(PAIRS, nodes=frame(type=["x", "y", "x", "y"]), text=text)


def test_an_encoder_stands_beside_the_words() -> None:
    text = frame(text=list(TEXTS.values()))
    graph = unseen.read_graph(PAIRS, features=frame(size=[1.0, 2, 3, 4]), text=text, encoder=Encoder())
    assert graph.feature_names == ("size", "encoder 0", "encoder 1", "old", "red", "wine")
    assert graph.features.toarray()[:, 1].tolist() == [4.0, 3.0, 16.0, -2.0]
    with pytest.raises(InputError, match=r"`encoder` needs a method `encode\(list of str\)`"):
        unseen.read_graph(PAIRS, text=text, encoder=len)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_columns_of_text_and_categories(tmp_path: Path, suffix: str) -> None:
    table = frame(
        size=[1.5, 2, 3, 4], country=["DE", "FR", "DE", None], about=[f"{t} and more" for t in TEXTS.values()]
    )
    path = tmp_path / f"f{suffix}"
    table.to_csv(path, index=False) if suffix == ".csv" else table.to_parquet(path)
    graph = unseen.read_graph(PAIRS, features=path)
    assert graph.feature_names == ("size", "country=DE", "country=FR", "old", "red", "wine")
    assert graph.features.toarray()[:, :3].tolist() == [[1.5, 1, 0], [2, 0, 1], [3, 1, 0], [4, 0, 0]]
    assert unseen.read_graph(PAIRS, features=table[["node", "country"]]).feature_names == (
        "country=DE",
        "country=FR",
    )


@pytest.mark.parametrize(
    "dates",
    [
        ["2001-01-01", "2001-07-02 12:30:00", "", "2003-01-01"],
        pd.to_datetime(["2001-01-01", "2001-07-02", None, "2003-01-01"]),
    ],
)
def test_dates_are_years(dates: Any) -> None:
    graph = unseen.read_graph(PAIRS, features=frame(since=dates, size=[1, 2, 3, 4]))
    assert graph.feature_names == ("since", "size")
    years = graph.features[:, 0]
    assert np.allclose(years, [2001, 2001.5, 2001.5, 2003], atol=0.01)  # the median where one is missing


def test_dates_whose_order_is_unclear_are_not_used(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    graph = unseen.read_graph(PAIRS, features=frame(since=["1.2.2001", "3.4.2002"] * 2, size=[1, 2, 3, 4]))
    assert graph.feature_names == ("size",)
    assert "the column 'since' holds dates such as '1.2.2001' and is not used" in caplog.text


def test_a_mistake_among_numbers_is_no_word(tmp_path: Path) -> None:
    frame(size=["1", "2", "x", "4"]).to_csv(tmp_path / "f.csv", index=False)
    with pytest.raises(InputError, match="line 4: the feature 'size' is 'x', which is not a number"):
        unseen.read_graph(PAIRS, features=tmp_path / "f.csv")


def test_parts_take_numbers_only(tmp_path: Path) -> None:
    frame(country=["DE", "FR", "DE", "FR"]).to_csv(tmp_path / "f.csv", index=False)
    (tmp_path / "e.csv").write_text("src,dst\na,b\nb,c\nc,d\n", encoding="utf-8")
    with pytest.raises(InputError, match="'country' is no number; a graph in parts takes numbers only"):
        partition(tmp_path / "e.csv", tmp_path / "parts", parts=1, features=tmp_path / "f.csv")


def test_noise_in_numbers_does_not_reach_the_captions() -> None:
    data = unseen.planted_partition(200, 4, random_state=0)
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(200, 2))
    numbers[:, 0] += 1e4
    graph = unseen.Graph(
        data.graph.adjacency,
        sp.hstack([numbers, data.graph.features], format="csr"),
        data.graph.node_ids,
        ("revenue", "growth", *data.graph.feature_names),
    )
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c0"], random_state=0)
    result = unseen.discover(graph, split.seen_labels, random_state=0)
    assert result.classes
    assert all(word.startswith("c0_") for word in result.classes[0].caption)
