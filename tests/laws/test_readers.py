"""Reader laws: one file gives one graph, whoever reads it, and what is written is read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from reading import read_features
from unseen.engine.comm import SOLO
from unseen.engine.partition import partition
from unseen.engine.parts import load_parts

ROUNDS = settings(max_examples=40, deadline=None, derandomize=True, database=None)
MANY = [f"n{k},n{k + 1}" for k in range(400)]

CASES: dict[str, tuple[str, dict[str, bool]]] = {
    "known header": ("src,dst,weight\na,b,2\nb,c,1\na,b,3\n", {}),
    "no header": ("a,b\nb,c\nc,a\nc,c\n", {}),
    "tabs": ("a\tb\nb\tc d\n", {}),
    "blanks": ("a b\nb  c\n", {}),
    "quotes": ('src,dst\n"a,b",c\n"d ""e""",c\n', {}),
    "comment": ("# edges\nsrc,dst\na,b\n", {}),
    "numbers": ("0 1\n1 2\n007 1\n", {}),
    "header told": ("x,y\na,b\nb,c\n", {"header": True}),
    "no header told": ("src,dst\na,b\n", {"header": False}),
    "unusual header whose name comes again": ("\n".join(["from,to", *MANY, "from,n3"]) + "\n", {}),
    "header told, ids of the first line come again": ("a,b\nb,c\nc,a\n", {"header": True}),
}


@pytest.fixture(autouse=True, scope="module")
def short_head() -> Iterator[None]:
    """Look at few bytes of each file for its header, so that batches are small; both ways in look at the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unseen.data.text.HEAD", 64)
        yield


def signature(graph: unseen.Graph) -> tuple[list[str], list[tuple[int, int, float]]]:
    entries = graph.adjacency.tocoo()
    triples = zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True)
    return [str(node) for node in graph.node_ids], sorted(triples)


def partitioned(path: Path, folder: Path, **options: Any) -> unseen.Graph:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unseen.engine.partition.BATCH", 64)
        partition(path, folder, parts=1, **options)
    graph, _, _ = load_parts(folder, SOLO)
    assert isinstance(graph, unseen.Graph)
    return graph


@pytest.mark.parametrize("name", CASES)
def test_reading_and_partitioning_give_one_graph(name: str, tmp_path: Path) -> None:
    text, options = CASES[name]
    path = tmp_path / "edges.csv"
    path.write_text(text, encoding="utf-8")
    whole = unseen.read_graph(path, **options)
    assert signature(partitioned(path, tmp_path / "parts", **options)) == signature(whole)


ID = st.text(st.sampled_from("abc01.-_ü"), min_size=1, max_size=3)
EDGES = st.lists(st.tuples(ID, ID, st.sampled_from([0.5, 1.0, 2.0, 7.25])), min_size=1, max_size=12)


@pytest.mark.slow
@ROUNDS
@given(edges=EDGES, header=st.booleans(), weights=st.booleans(), delimiter=st.sampled_from([",", "\t", ";"]))
def test_generated_files(
    tmp_path_factory: pytest.TempPathFactory,
    edges: list[tuple[str, str, float]],
    header: bool,
    weights: bool,
    delimiter: str,
) -> None:
    folder = tmp_path_factory.mktemp("law")
    rows = [[a, b, str(w)][: 2 + weights] for a, b, w in edges]
    if header:
        rows.insert(0, ["src", "dst", "weight"][: 2 + weights])
    path = folder / "edges.csv"
    path.write_text("".join(delimiter.join(row) + "\n" for row in rows), encoding="utf-8")
    whole = unseen.read_graph(path, header=header, delimiter=delimiter)
    again = partitioned(path, folder / "parts", header=header, delimiter=delimiter)  # type: ignore[arg-type]
    assert signature(again) == signature(whole)


@pytest.mark.parametrize("ids", [["a", "b", "c"], [7, 8, 9], ["a", "b", "c" * 300]])
def test_vectors_are_features_to_the_other_reader(ids: list[str] | list[int], tmp_path: Path) -> None:
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2)
    path = tmp_path / "vectors.npz"
    unseen.Embedding(vectors, np.array(ids), "mine", {}).save(path)
    embedding = unseen.read_embedding(path)
    nodes, matrix, _ = read_features(path)
    assert nodes is not None
    assert (
        [str(node) for node in nodes] == [str(node) for node in embedding.node_ids] == [str(i) for i in ids]
    )
    assert np.array_equal(np.asarray(matrix), embedding.vectors)


HEADERS = {
    "edges": ["", "src,dst\n", "from,to\n", "x,y\n", "a,b\n", "id_1,id_2\n", "person,friend\n", "zig,zag\n"],
    "nodes": ["", "node\n", "vertex\n", "x\n", "a\n"],
    "labels": ["", "node,label\n", "name,category\n", "x,y\n", "a,red\n", "zig,zag\n", "user_id,team\n"],
    "features": ["", "node,p,q\n", "name,0,1\n", "x,p,q\n", "a,1,2\n", "zig,0,1\n", "zig,7,3\n"],
}
NAME = st.sampled_from(["a", "b", "c", "0", "1", "07", "x"])


def outcome(read: Callable[[], tuple[unseen.Graph, unseen.Labels | None]]) -> object:
    """Return what a reader gives, or the sentence with which it refuses."""
    try:
        graph, labels = read()
    except unseen.InputError as error:
        return str(error)
    values = None if graph.features is None else np.asarray(graph.features).tolist()
    has_classes = labels is not None and labels.classes  # parts do not tell "no labels" from "no class"
    classes = (labels.classes, labels.indicator.toarray().tolist()) if has_classes else None
    return signature(graph), values, classes


@pytest.mark.slow
@settings(ROUNDS, max_examples=60)
@given(data=st.data())
def test_all_sources_together(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever the four files hold, reading and partitioning give one graph, or refuse it in the same words."""
    folder = tmp_path_factory.mktemp("law")
    edges = data.draw(st.lists(st.tuples(NAME, NAME), min_size=1, max_size=8))
    rows = {
        "edges": [f"{a},{b}" for a, b in edges],
        "nodes": data.draw(st.lists(NAME, max_size=4)),
        "labels": [
            f"{n},{c}" for n, c in data.draw(st.lists(st.tuples(NAME, st.sampled_from(["red", "blue", ""]))))
        ],
        "features": [
            f"{n},{k},{k / 4}"
            for k, n in enumerate(data.draw(st.permutations(["a", "b", "c", "0", "1", "07", "x"])))
        ],
    }
    sources = {}
    for role, lines in rows.items():
        if role == "edges" or data.draw(st.booleans(), label=role):
            sources[role] = folder / f"{role}.csv"
            first = data.draw(st.sampled_from(HEADERS[role]), label=f"first line of {role}")
            sources[role].write_text(first + "".join(f"{line}\n" for line in lines))
    header = data.draw(st.sampled_from([None, True, False]), label="header")

    def whole() -> tuple[unseen.Graph, unseen.Labels | None]:
        read = unseen.read(**sources, header=header)
        return read.graph, read.labels

    def parts() -> tuple[unseen.Graph, unseen.Labels | None]:
        others = {role: path for role, path in sources.items() if role != "edges"}
        graph = partitioned(sources["edges"], folder / "parts", **others, header=header)
        return graph, load_parts(folder / "parts", SOLO)[1]

    assert outcome(parts) == outcome(whole)
