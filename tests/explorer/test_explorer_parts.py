"""Parts of the page: the map of many nodes, edges of relations, nodes of other types, columns of a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import unseen
from unseen.explorer import Subject, build_page, layout
from unseen.explorer.colours import category, make_colourings, read_attributes
from unseen.explorer.content import unpack as numbers
from unseen.explorer.layout import lay_out, nearest
from unseen.explorer.nodes import collect_edges, describe_features, list_nearest, place_other_types
from unseen.explorer.subject import prepare


def test_the_nearest_are_those_of_all_distances() -> None:
    rng = np.random.default_rng(0)
    vectors, candidates = rng.normal(size=(1100, 5)), rng.normal(size=(700, 5))
    plain = np.linalg.norm(vectors[:, None] - candidates, axis=2).argsort(axis=1)[:, :4]
    assert np.array_equal(nearest(vectors, candidates, 4), plain)
    near = list_nearest(candidates, [])
    far = np.linalg.norm(candidates[:, None] - candidates, axis=2)
    np.fill_diagonal(far, np.inf)
    assert np.array_equal(numbers(near["values"]).reshape(-1, near["k"]), far.argsort(axis=1)[:, :10])
    alike = numbers(list_nearest(np.ones((30, 1)), [])["values"]).reshape(30, 10)
    assert not (alike == np.arange(30)[:, None]).any()
    assert list_nearest(np.ones((1, 2)), []) is None


@pytest.mark.slow
def test_many_nodes_are_placed_beside_landmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MANY", 200)
    monkeypatch.setattr(layout, "LANDMARKS", 150)
    rng = np.random.default_rng(0)
    group = np.arange(600) % 3
    vectors = (10 * np.eye(3, 12)[group] + rng.normal(size=(600, 12))).astype(np.float32)
    first, again = lay_out(vectors, 0), lay_out(vectors, 0)
    assert np.array_equal(first, again)
    assert np.isfinite(first).all()
    assert len(np.unique(first.round(6), axis=0)) > 590  # they do not lie on one another
    centres = np.array([first[group == k].mean(axis=0) for k in range(3)])
    assert (np.linalg.norm(first[:, None] - centres, axis=2).argmin(axis=1) == group).all()


def test_nearest_nodes_of_many_are_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.explorer.nodes.MANY", 20)
    page = build_page(Subject(unseen.Embedding(np.random.default_rng(0).normal(size=(21, 2)))), title="t")
    assert page["near"] is None
    assert page["notes"] == ["Of more than 20 nodes the nearest in vector space are not listed."]


def test_a_huge_page_leaves_out_features_and_reasons(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert build_page(subject, title="t")["evidence"] is not None
    monkeypatch.setattr("unseen.explorer.build.HUGE", 100)
    page = build_page(subject, title="t")
    assert (page["features"], page["evidence"]) == (None, None)
    assert "Of more than 100 nodes the page keeps neither features nor reasons." in page["notes"]


def test_features_of_many_nodes_are_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.explorer.nodes.ENTRIES", 100)
    words = describe_features(sp.csr_array(np.ones((50, 9))), None)
    assert (numbers(words["counts"]) == 2).all()
    assert (numbers(words["total"]) == 9).all()  # so that the page can say how many more there are


def test_edges_keep_relation_direction_and_sign(authors: unseen.Graph) -> None:
    graph = authors
    edges = collect_edges(graph, [])
    directed = {each["name"]: each["directed"] for each in edges}
    assert directed == {"writes": False, "cites": True, "knows": False, "at": False}
    sources = [np.repeat(np.arange(9), numbers(each["counts"])).tolist() for each in edges]
    assert sources == [[0, 0, 1, 2], [3, 3], [0, 1], [6]]
    assert [numbers(each["values"]).tolist() for each in edges] == [[3, 4, 4, 5], [4, 6], [1, 2], [7]]
    assert [each["negative"] is None for each in edges] == [True, True, False, True]
    assert numbers(edges[2]["negative"]).tolist() == [0, 1]
    notes: list[str] = []
    signed = sp.csr_array(np.array([[0, 1, -9], [0, 0, 0], [0, 0, 0]], dtype=float))
    few = unseen.Graph.from_relations(
        [unseen.Relation("r", None, None, signed, directed=True)], ["a", "b", "c"]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unseen.explorer.nodes.MAX_EDGES", 1)
        kept = collect_edges(few, notes)[0]
    assert numbers(kept["values"]).tolist() == [2]  # the stronger one, whatever its sign
    assert "keeps 1: the 1 strongest" in notes[0]


def test_nodes_of_other_types_lie_in_the_middle_of_their_neighbours(authors: unseen.Graph) -> None:
    graph = authors
    ids = graph.node_ids[:3]
    places = np.array([[0.0, 0.0], [200.0, 0.0], [0.0, 200.0]])
    names, all_places, types = place_other_types(graph, ids, places, 100, np.random.default_rng(0))
    assert names.tolist() == ["ann", "bob", "cid", "p1", "p2", "p3", "p4", "venue"]  # nothing joins `alone`
    assert np.abs(all_places[[3, 4, 5]] - [[0, 0], [100, 0], [0, 200]]).max() < 5
    assert types["names"] == ["author", "paper", "venue"]
    assert (types["first"], numbers(types["codes"]).tolist()) == (1, [0, 0, 0, 1, 1, 1, 1, 2])
    few, _, _ = place_other_types(graph, ids, places, 5, np.random.default_rng(0))
    assert few.tolist() == ["ann", "bob", "cid"]
    plain = unseen.Graph.from_edges(["a"], ["b"])
    assert place_other_types(plain, plain.node_ids, places[:2], 100, np.random.default_rng(0))[2] is None


def test_a_typed_graph_is_explored_by_the_type_that_has_labels() -> None:
    data = unseen.planted_partition(60, 3, random_state=0)
    n = data.graph.n_nodes
    ids = [*(f"a{k}" for k in range(n)), *(f"p{k}" for k in range(n))]
    weights = sp.block_array([[None, sp.eye_array(n)], [sp.csr_array((n, n)), None]], format="csr")
    own = sp.block_array([[data.graph.adjacency, None], [None, sp.csr_array((n, n))]], format="csr")
    relations = [unseen.Relation("writes", "a", "p", weights), unseen.Relation("knows", "a", "a", own)]
    graph = unseen.Graph.from_relations(relations, ids, ["a"] * n + ["p"] * n)
    labels = unseen.Labels.from_values([f"c{k}" for k in data.labels.codes[:20]], ids[:20])
    subject = prepare(graph, labels, random_state=0, budget=3)
    assert len(subject.embedding) == n
    page = build_page(subject, title="t")
    assert len(page["ids"]) == 2 * n
    assert page["types"]["names"] == ["a", "p"]
    assert not [note for note in page["notes"] if "embedding" in note]
    papers = prepare(graph, None, target="p", budget=0)
    assert papers.embedding.node_ids.tolist() == ids[n:]


def test_columns_of_a_table_colour_the_map(tmp_path: Path) -> None:
    ids = np.array([f"n{k}" for k in range(60)], dtype=object)
    table = pa.table(
        {
            "node": ["n3", "n0", "gone", *(f"n{k}" for k in range(4, 60))],
            "year": [1990, None, 1800, *range(2000, 2056)],
            "kind": ["x", "y", "z", *["x"] * 56],
            "many": [f"v{k % 40}" for k in range(59)],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    year, kind, many = make_colourings(read_attributes(tmp_path / "t.parquet"), ids)
    assert [c["key"] for c in (year, kind, many)] == ["column year", "column kind", "column many"]
    codes = numbers(year["codes"])
    assert codes[[0, 1, 3]].tolist() == [0, 0, 1]  # no value, not in the table, the lowest
    assert (codes[4:] >= 1).all()
    assert codes[59] == 6
    assert year["categories"][1]["name"].startswith("below 20")
    assert year["categories"][6]["name"].endswith("and more")
    names = [each["name"] for each in kind["categories"]]
    assert [names[code] for code in numbers(kind["codes"])[[0, 1, 3]]] == ["y", "no value", "x"]
    assert len(many["categories"]) == 26
    assert many["categories"][-1]["name"] == "other values"
    (tmp_path / "t.csv").write_text("node,size\nn0,big\nn1,small\nn2,\n")
    (size,) = make_colourings(read_attributes(tmp_path / "t.csv"), ids)
    assert numbers(size["codes"])[:4].tolist() == [1, 2, 0, 0]
    assert len(size["categories"]) == 3
    (tmp_path / "t.csv").write_text("node,tall\n" + "".join(f"n{k},{k / 7}\n" for k in range(60)) + "n60,\n")
    (tall,) = make_colourings(read_attributes(tmp_path / "t.csv"), ids)
    assert numbers(tall["codes"])[[0, 59]].tolist() == [1, 6]
    days = pa.table({"node": ["n0", "n1"], "day": pa.array([1, 2], pa.date32()), "good": [True, None]})
    day, good = make_colourings(days, ids)
    assert [each["name"] for each in day["categories"]] == ["no value", "1970-01-02", "1970-01-03"]
    assert [each["name"] for each in good["categories"]] == ["no value", "true"]


def test_attributes_that_say_nothing_are_refused(tmp_path: Path) -> None:
    ids = np.array(["a"], dtype=object)
    with pytest.raises(unseen.InputError, match="need a column `node` and another one, got: id, size"):
        make_colourings(pa.table({"id": ["a"], "size": [1]}), ids)
    with pytest.raises(unseen.InputError, match="in the graph; the first are 'b'"):
        make_colourings(pa.table({"node": ["b"], "size": [1]}), ids)
    with pytest.raises(unseen.InputError, match="in the graph; they have no rows"):
        make_colourings(pa.table({"node": pa.array([], pa.string()), "size": pa.array([], pa.int64())}), ids)
    with pytest.raises(unseen.InputError, match="cannot be coloured by the column 'parts' of type list"):
        make_colourings(pa.table({"node": ["a"], "parts": [[1, 2]]}), ids)
    (tmp_path / "t.csv").write_text("node,size,size\na,1,2\n")
    with pytest.raises(unseen.InputError, match="two columns"):
        read_attributes(tmp_path / "t.csv")
    np.save(tmp_path / "t.npy", np.eye(2))
    with pytest.raises(unseen.InputError):
        read_attributes(tmp_path / "t.npy")


def test_groups_and_the_first_classes_share_no_hue() -> None:
    groups = [category("g", group=k) for k in range(13)]
    classes = [category("c", k) for k in range(20)]
    assert len({each["colour"] for each in groups[:12]}) == 12
    assert (groups[12]["colour"], groups[12]["shape"]) == (groups[0]["colour"], 1)
    assert not {each["colour"] for each in groups[:5]} & {each["colour"] for each in classes[:7]}
    assert len({(each["colour"], each["shape"]) for each in classes}) == 20
