"""`unseen init` writes a project file, in whose folder commands need no arguments; flags override it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import pytest

import unseen

EMBED = ("embed", "-m", "smoothfeats", "--dim", 2)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files as a shop has them, of 60 products in three categories, one of them without labels."""
    data = unseen.planted_partition(60, 3, degree_within=6, words_of_class=4, random_state=0)
    rows, columns = data.graph.adjacency.tocoo().coords
    edges = [f"P{a},P{b},2" for a, b in zip(rows, columns, strict=True) if a < b]
    (tmp_path / "edges.csv").write_text(
        "\n".join(["product_a,product_b,times_bought_together", *edges]) + "\n"
    )
    words = data.graph.features.tocsr()
    names = data.graph.feature_names
    texts = [f"P{k},{' '.join(names[j] for j in words[[k]].indices)}" for k in range(60)]
    (tmp_path / "descriptions.csv").write_text("\n".join(["product_id,description", *texts]) + "\n")
    labels = [
        f"P{k},{'garden' if c else 'tools'}" for k, c in enumerate(data.labels.codes) if c < 2 and k % 2
    ]
    (tmp_path / "categories.csv").write_text("\n".join(["product_id,category", *labels]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def project(shop: Path, cli: Callable) -> Path:
    assert cli("init", "edges.csv", "--text", "descriptions.csv", "--labels", "categories.csv").code == 0
    return shop


def test_init_prints_what_it_understood_and_writes_it(shop: Path, cli: Callable) -> None:
    ran = cli(
        "init", "edges.csv", "--text", "descriptions.csv", "--labels", "categories.csv", "--seed", 3, code=0
    )
    for words in (
        "src: product_a, dst: product_b, weight: times_bought_together",
        "node: product_id, label: category",
        "2 classes: garden (",
        "unlabelled",
    ):
        assert words in ran.out
    assert tomllib.loads((shop / "unseen.toml").read_text("utf-8")) == {
        "graph": "edges.csv",
        "text": "descriptions.csv",
        "labels": "categories.csv",
        "src": "product_a",
        "dst": "product_b",
        "weight": "times_bought_together",
        "node_column": "product_id",
        "label_column": "category",
        "seed": 3,
    }


def test_labels_among_the_attributes_are_shown(tmp_path: Path, cli: Callable) -> None:
    graph = nx.path_graph(4)
    nx.set_node_attributes(graph, {0: "x", 1: "y"}, "team")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    ran = cli("init", tmp_path / "g.graphml", "--label-column", "team", "-o", tmp_path / "p.toml")
    assert ["labels", "node:", "node,", "label:", "team"] in [
        line.split()[1:] for line in ran.out.splitlines()
    ]


def test_the_same_as_json(shop: Path, cli: Callable) -> None:
    report = json.loads(cli("init", "edges.csv", "--labels", "categories.csv", "--json").out)
    assert report["nodes"] == 60
    assert set(report["classes"]) == {"garden", "tools"}
    assert report["unlabelled"] + sum(report["classes"].values()) == 60
    assert report["files"][1]["columns"] == {"node": "product_id", "label": "category"}
    assert report["project"] == tomllib.loads((shop / "unseen.toml").read_text("utf-8"))


def test_what_is_not_sure_is_printed(shop: Path, cli: Callable) -> None:
    (shop / "plain.txt").write_text("ann bob\nbob cid\n")
    ran = cli("init", "plain.txt")
    assert "not sure" in ran.out
    assert "--header" in ran.out
    assert "src" not in tomllib.loads((shop / "unseen.toml").read_text("utf-8"))


def test_a_folder_or_a_data_set_is_a_project_too(shop: Path, cli: Callable) -> None:
    (shop / "hgb").mkdir()
    (shop / "hgb" / "node.dat").write_text("0\ta\t0\n1\tb\t0\n2\tc\t1\n")
    (shop / "hgb" / "link.dat").write_text("0\t2\t0\t1.0\n1\t2\t0\t1.0\n")
    (shop / "hgb" / "label.dat").write_text("0\ta\t0\t1\n")
    for graph in ("hgb", "debian"):
        assert cli("init", graph, "--force").code == 0
        assert tomllib.loads((shop / "unseen.toml").read_text("utf-8")) == {"graph": graph, "seed": 0}
        assert cli(*EMBED, "-q").code == 0


def test_an_existing_project_file_is_kept_unless_forced(project: Path, cli: Callable) -> None:
    before = (project / "unseen.toml").read_bytes()
    ran = cli("init", "edges.csv", code=1)
    assert "--force" in ran.err
    assert (project / "unseen.toml").read_bytes() == before
    assert cli("init", "edges.csv", "--force").code == 0
    assert "labels" not in tomllib.loads((project / "unseen.toml").read_text("utf-8"))


def test_init_writes_nothing_where_a_file_cannot_be_read(shop: Path, cli: Callable) -> None:
    (shop / "bad.csv").write_text("src,dst,weight\na,b,heavy\n")
    assert cli("init", "bad.csv").code == 1
    assert cli("init", "-").code == 2
    assert not (shop / "unseen.toml").exists()


def test_paths_are_relative_to_the_project_file(shop: Path, cli: Callable) -> None:
    (shop / "sub").mkdir()
    words = ["init", "edges.csv", "-o", "sub/unseen.toml", "--force"]
    assert cli(*words, "--features", "paper=descriptions.csv").code == 0
    values = tomllib.loads((shop / "sub" / "unseen.toml").read_text("utf-8"))
    assert values["features"] == "paper=../descriptions.csv"
    assert cli(*words, "--labels", "categories.csv").code == 0
    values = tomllib.loads((shop / "sub" / "unseen.toml").read_text("utf-8"))
    assert (values["graph"], values["labels"]) == ("../edges.csv", "../categories.csv")
    for where in ("sub", "sub/unseen.toml"):
        assert cli(*EMBED, "--project", where).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("command", ["discover", "embed", "suggest", "audit", "explore", "predict"])
def test_commands_need_no_arguments(project: Path, cli: Callable, command: str) -> None:
    ran = cli(command, code=0)
    assert "options come from unseen.toml" in ran.err


def test_a_flag_overrides_the_project_file(project: Path, cli: Callable) -> None:
    with (project / "unseen.toml").open("a") as file:
        file.write('dim = 5\nmethod = "smoothfeats"\ndirected = true\n')
    assert "60 nodes, 5 dimensions" in cli("embed").err
    ran = cli("embed", "--dim", 3, "--no-directed")
    assert "60 nodes, 3 dimensions" in ran.err
    assert "edges taken as undirected" in ran.err


def test_a_file_on_the_command_line_has_its_own_columns(project: Path, cli: Callable) -> None:
    (project / "few.csv").write_text("node,label\nP1,a\n")
    assert "59 unlabelled nodes" in cli(*EMBED, "--labels", "few.csv").err
    (project / "pairs.csv").write_text("src,dst\nP1,P2\n")
    assert "1 edge" in cli(*EMBED, "pairs.csv", "--project").err
    assert cli("init", "edges.csv", "--labels", "categories.csv", "--force").code == 0
    assert "59 unlabelled nodes" in cli(*EMBED, "--labels", "few.csv", "--nodes", "few.csv").err


def test_an_embedding_on_the_command_line_replaces_the_method_of_the_project(
    project: Path, cli: Callable
) -> None:
    assert cli(*EMBED).code == 0
    with (project / "unseen.toml").open("a") as file:
        file.write('method = "mfdw"\n')
    ran = cli("discover", "--embedding", "vectors.parquet", "--json", code=0)
    assert json.loads(ran.out)["method"] == "smoothfeats"


def test_a_graph_on_the_command_line_ignores_the_project_file(project: Path, cli: Callable) -> None:
    ran = cli(*EMBED, "edges.csv", "-o", "v.npz")
    assert "unseen.toml" not in ran.err
    assert "unlabelled" not in ran.err
    for flag in (["--project"], ["--project", "unseen.toml"], ["--project", "--seed", 1]):
        ran = cli(*EMBED, "edges.csv", *flag)
        assert "options come from unseen.toml" in ran.err
        assert "unlabelled nodes" in ran.err


def test_a_mistake_is_named_with_its_line(project: Path, cli: Callable) -> None:
    path = project / "unseen.toml"
    text = path.read_text("utf-8")
    path.write_text(text.replace("label_column", "lable_column"), "utf-8")
    line = next(k for k, each in enumerate(text.splitlines(), start=1) if each.startswith("label_column"))
    ran = cli("discover", "-v", code=1)
    assert f"unseen.toml, line {line}: unknown key 'lable_column'; did you mean 'label_column'" in ran.err
    path.write_text(text + "dim = 9999\n", "utf-8")
    ran = cli("embed", "-m", "smoothfeats")
    last = len(text.splitlines()) + 1
    assert f"unseen.toml, line {last}: dim is 9999" in ran.err
    path.write_text(text.replace(text.splitlines()[line - 1], 'label_column = "typ"'), "utf-8")
    assert f"has no column 'typ' (unseen.toml, line {line}: label_column); it has" in cli("discover").err
    path.write_text(text + 'method = "smoothfeat"\n', "utf-8")
    assert f"unseen.toml, line {last}: unknown method 'smoothfeat'; did you mean" in cli("discover").err
    path.write_text(text, "utf-8")
    assert "--dim is 999," in cli("embed", "-m", "smoothfeats", "--dim", 999).err


def test_without_graph_and_project_both_ways_are_named(
    tmp_path: Path, cli: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in ("embed", "discover", "predict", "suggest", "audit", "explore", "label"):
        ran = cli(command, code=2)
        assert "name an edge file" in ran.err
        assert "unseen init" in ran.err
    assert cli("embed", "--project").code == 1
