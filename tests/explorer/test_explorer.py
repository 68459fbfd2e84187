"""The explorer page as a file: what it holds, what it must not hold, and what happens at the edges."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.discovery.truth import Truth
from unseen.errors import install_hint
from unseen.explorer import Subject, build_page, explore, render_page, write_explorer
from unseen.explorer import build as building
from unseen.explorer.colours import PALETTE
from unseen.explorer.content import as_json
from unseen.explorer.content import unpack as numbers
from unseen.explorer.layout import lay_out
from unseen.explorer.nodes import describe_features


def two_columns(n: int, ids: object = None) -> unseen.Embedding:
    return unseen.Embedding(np.random.default_rng(0).normal(size=(n, 2)), ids)


def test_the_policy_allows_this_script_and_style_and_nothing_else(subject: Subject) -> None:
    page = render_page(build_page(subject, title="</title><script>alert(1)</script>"))
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page).group(1)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert set(rules) == {"default-src", "script-src", "style-src", "base-uri", "form-action"}
    for rule, tag in (("script-src", "script"), ("style-src", "style")):
        inside = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL).group(1)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert page.count("<script") == 2  # the data and the script, nothing that came in by a name
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page.replace("http://www.w3.org/2000/svg", ""))
    for writer in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert writer not in page


def test_hostile_text_comes_back_unchanged_from_the_data(subject: Subject) -> None:
    text = as_json(build_page(subject, title="t"))
    assert not set("<>&\u2028\u2029") & set(text)
    held = json.loads(text)
    assert held["ids"] == [str(node) for node in subject.embedding.node_ids]
    assert held["labels"]["names"] == list(subject.labels.classes)
    assert held["features"]["names"] == ["<b>red</b>", "green", "</script>"]
    assert held["audit"]["warnings"] == ["<i>Few labels.</i>"]


def test_every_part_of_the_findings_is_there(subject: Subject) -> None:
    held = json.loads(as_json(build_page(subject, title="t")))
    keys = [c["key"] for c in held["colourings"]]
    assert keys == ["overview", "label", "predicted", "probability", "group", "truth"]
    n = len(held["ids"])
    p = numbers(held["probability"])
    assert (p == 65535).sum() == 40  # the labelled ones
    assert set(p[p != 65535].tolist()) == {1000, 9000}
    by_key = {c["key"]: c for c in held["colourings"]}
    group = numbers(by_key["group"]["codes"])
    assert (group == 1).sum() == 40
    looks = {c["name"]: (c["colour"], c["shape"]) for c in by_key["truth"]["categories"]}
    for each in by_key["label"]["categories"][1:]:
        assert looks[each["name"]] == (each["colour"], each["shape"])
    (edges,) = held["edges"]
    assert numbers(edges["counts"]).sum() == n - 3
    assert held["found"]["count"]["best"] == 1
    assert (held["found"]["failed"], len(held["found"]["questions"])) == (False, 2)
    assert held["found"]["classes"][0]["caption"] == ["</script>", "blue"]
    assert held["selfTest"]["classes"][0]["auroc"] == 0.9
    assert [row["node"] for row in held["suggestions"]][:2] == list(subject.embedding.node_ids[:2])


def test_findings_are_compared_with_the_truth_where_there_is_one(subject: Subject) -> None:
    expected = Truth(n_hidden=40, n_nodes=80, n_flagged=40, n_flagged_hidden=40).summary()
    assert build_page(subject, title="t")["comparison"] == expected
    for truth in (None, subject.labels):  # no unlabelled node has a true label
        assert build_page(replace(subject, truth=truth), title="t")["comparison"] is None


def test_a_bare_embedding_has_a_map_and_nothing_made_up() -> None:
    held = json.loads(as_json(build_page(Subject(two_columns(2, ["\ud800", "b"])), title="t")))
    assert held["ids"] == ["\ud800", "b"]  # not valid Unicode, and still no reason to fail
    parts = "edges labels truth comparison features probability evidence found audit suggestions"
    assert {held[part] for part in parts.split()} == {None}
    assert [c["key"] for c in held["colourings"]] == ["node"]


def test_several_labels_a_node() -> None:
    labels = unseen.Labels.from_values([["b", "a"], None, "b"])
    held = json.loads(as_json(build_page(Subject(two_columns(3), labels=labels), title="t")))
    assert numbers(held["labels"]["counts"]).tolist() == [2, 0, 1]
    assert numbers(held["colourings"][0]["codes"]).tolist() == [1, 0, 2]
    assert [each["name"] for each in held["colourings"][0]["categories"]] == ["no label", "a", "b"]
    assert "several" in held["colourings"][0]["name"]


def test_more_nodes_than_may_be_drawn_are_sampled_and_named_ones_kept(
    subject: Subject, caplog: pytest.LogCaptureFixture
) -> None:
    page = build_page(subject, title="t", max_nodes=60)
    ids, (edges,) = page["ids"], page["edges"]
    assert len(ids) == 60
    named = {str(s.node) for s in subject.suggestions} | set(subject.discovery.classes[0].members[:10])
    assert named <= set(ids)
    assert "60 of 120 nodes" in page["notes"][0]
    assert "--max-nodes 120" in caplog.text
    counts, values = (numbers(edges[part]) for part in ("counts", "values"))
    assert values.max() < 60
    rows = np.repeat(np.arange(60), counts)
    pairs = {(ids[i], ids[j]) for i, j in zip(rows, values, strict=True)}
    of_all = [str(node) for node in subject.embedding.node_ids]
    assert pairs == {ends for ends in zip(of_all, of_all[3:], strict=False) if set(ends) <= set(ids)}
    with pytest.raises(unseen.InputError, match="`max_nodes` must be at least 1, got 0"):
        build_page(subject, title="t", max_nodes=0)


def test_nodes_that_only_the_graph_or_only_the_embedding_has(caplog: pytest.LogCaptureFixture) -> None:
    graph = unseen.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
    page = build_page(Subject(two_columns(3, ["d", "b", "x"]), graph), title="t")
    assert page["ids"] == ["d", "b"]
    assert numbers(page["edges"][0]["counts"]).tolist() == [0, 0]
    assert "1 node is not in the graph" in caplog.text
    assert "2 nodes are not in the embedding" in caplog.text
    with pytest.raises(unseen.InputError, match="no node of the embedding is in the graph"):
        build_page(Subject(two_columns(2, ["x", "y"]), graph), title="t")


def test_too_many_edges_keep_the_strongest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.explorer.nodes.MAX_EDGES", 12)
    weights = np.triu(np.arange(64.0).reshape(8, 8), 1)
    graph = unseen.Graph.from_scipy(sp.csr_array(weights + weights.T))
    page = build_page(Subject(two_columns(8), graph), title="t")
    counts, values = (numbers(page["edges"][0][part]) for part in ("counts", "values"))
    kept = set(zip(np.repeat(np.arange(8), counts).tolist(), values.tolist(), strict=True))
    assert {(i, 7) for i in range(7)} == kept  # the strongest edge of every node leads to the last one
    assert "keeps 7" in page["notes"][0]


def test_words_of_sparse_and_dense_features() -> None:
    counts = sp.csr_array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    words = describe_features(counts, ["rare", "common", "never"])
    assert words["names"] == ("rare", "common")
    assert numbers(words["counts"]).tolist() == [2, 1, 0]
    assert numbers(words["values"]).tolist() == [0, 1, 1]
    assert numbers(words["numbers"]).tolist() == [2.0, 1.0, 1.0]
    dense = np.random.default_rng(0).normal(5, 1, (50, 20))
    dense[7, 3] = 50.0
    words = describe_features(dense, None)
    start = int(numbers(words["counts"])[:7].sum())
    assert words["names"][numbers(words["values"])[start]] == "feature 3"
    assert numbers(words["numbers"])[start] == 50.0
    assert len(words["means"]) == len(words["names"])
    assert (numbers(words["total"]) == 20).all()


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_tiny_graphs_have_a_map(n: int) -> None:
    places = lay_out(np.random.default_rng(0).normal(size=(n, 4)).astype(np.float32), 0)
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()


@pytest.mark.slow
def test_the_map_keeps_groups_together_and_the_seed_keeps_the_map() -> None:
    rng = np.random.default_rng(0)
    group = np.arange(90) % 3
    vectors = (10 * np.eye(3, 12)[group] + rng.normal(size=(90, 12))).astype(np.float32)
    first, again = lay_out(vectors, 0), lay_out(vectors, 0)
    assert np.array_equal(first, again)
    centres = np.array([first[group == k].mean(axis=0) for k in range(3)])
    nearest = np.linalg.norm(first[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == group).all()
    sparse = lay_out(sp.csr_array(np.eye(3, 12)[group].astype(np.float32)), 0)
    assert np.isfinite(sparse).all()
    assert np.isfinite(lay_out(np.ones((30, 4), dtype=np.float32), 0)).all()


@pytest.mark.slow
def test_without_the_viz_extra_scikit_learn_lays_the_map_out_and_the_page_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group = np.arange(60) % 2
    vectors = 10 * np.eye(2, 6)[group] + np.random.default_rng(0).normal(size=(60, 6))
    subject = Subject(unseen.Embedding(vectors))
    assert not build_page(subject, title="t")["notes"]
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    page = build_page(subject, title="t")
    assert install_hint("viz") in page["notes"][0]
    places = np.column_stack([numbers(page[axis]) for axis in "xy"]).astype(float)
    again = build_page(subject, title="t")
    assert (page["x"], page["y"]) == (again["x"], again["y"])
    centres = np.array([places[group == k].mean(axis=0) for k in range(2)])
    nearest = np.linalg.norm(places[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == group).all()


def test_the_file_is_written_whole_and_alike(subject: Subject, tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        write_explorer(replace(subject, suggestions=None), tmp_path / name, title="t", random_state=3)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    with pytest.raises(unseen.OutputError, match="does not exist"):
        write_explorer(subject, tmp_path / "no" / "page.html", title="t")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]


# What readers see who lack one kind of cone (Machado, Oliveira and Fernandes, 2009), on linear light.
SIGHT = {
    "all cones": np.eye(3),
    "no red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "no blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of two colours as WCAG defines it, from 1 to 21."""
    darker, lighter = sorted(luminance(colour) for colour in (first, second))
    return round((lighter + 0.05) / (darker + 0.05), 2)


def luminance(colour: str) -> float:
    red, green, blue = (linear(int(colour[k : k + 2], 16) / 255) for k in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def linear(value: float) -> float:
    """Return the linear light of one sRGB channel, both from 0 to 1."""
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)


def _lab(colour: str, sight: np.ndarray) -> np.ndarray:
    light = np.array([linear(int(colour[k : k + 2], 16) / 255) for k in (1, 3, 5)])
    seen = np.clip(np.asarray(sight) @ light, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ seen
    x, y, z = np.cbrt(np.maximum(xyz / [0.95047, 1, 1.08883], 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_can_be_seen_and_told_apart(theme: str) -> None:
    ground = PALETTE["map"][theme]
    for colour in (*PALETTE["classes"][theme], *PALETTE["steps"][theme], PALETTE["quiet"][theme]):
        assert contrast(colour, ground) >= 3
    for sight in SIGHT.values():
        places = [_lab(colour, sight) for colour in PALETTE["classes"][theme][: PALETTE["safe"]]]
        assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(places, 2)) > 17
        light = [contrast(colour, ground) for colour in PALETTE["steps"][theme]]
        assert light == sorted(light)  # the scale reads in black and white too


def test_the_style_uses_the_backgrounds_the_palette_was_made_for() -> None:
    style = (Path(building.__file__).parent / "page" / "style.css").read_text("utf-8")
    assert re.findall(r"--map: (#\w+)", style) == list(PALETTE["map"].values())


@pytest.mark.slow
def test_the_page_finds_what_discover_finds_with_the_same_seed() -> None:
    data = unseen.planted_partition(200, 4, random_state=0)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c3"], random_state=0)
    shown = explore(data.graph, split.seen_labels, random_state=3).discovery
    found = unseen.discover(data.graph, split.seen_labels, random_state=3)
    assert shown is not None
    assert shown.nodes.equals(found.nodes)
    assert shown.classes == found.classes
