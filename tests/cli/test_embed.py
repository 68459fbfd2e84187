"""`unseen embed`, from files with odd ids to every output format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import unseen


@pytest.mark.parametrize("suffix", [".parquet", ".npz", ".tsv"])
def test_every_node_is_in_the_output_under_its_own_name(cli: Callable, files: Path, suffix: str) -> None:
    out = files / f"vectors{suffix}"
    ran = cli(
        "embed", files / "edges.csv", "--nodes", files / "nodes.txt", "--features", files / "features.csv",
        "--labels", files / "labels.csv", "--method", "smoothfeats", "--dim", 2, "-o", out, code=0,
    )  # fmt: skip
    assert ran.out == ""
    embedding = unseen.read_embedding(out)
    assert embedding.node_ids.tolist() == ["alone", "a b", "007", "ü"]
    assert embedding.vectors.shape == (4, 2)
    for word in ("4 nodes", "1 isolated", "1 self-loop", "1 unlabelled"):
        assert word in ran.err, ran.err


def test_json_and_quiet(cli: Callable, files: Path) -> None:
    out = files / "v.parquet"
    ran = cli("embed", files / "edges.csv", "-o", out, "--method", "smoothfeats", "--dim", 2, "--json", "-q")
    assert ran.err == ""
    told = json.loads(ran.out)
    expected = {"method": "smoothfeats", "nodes": 3, "columns": 2, "output": str(out)}
    assert {name: told[name] for name in expected} == expected


def test_parameters_reach_the_method(cli: Callable, files: Path) -> None:
    out = files / "v.parquet"
    words = ("embed", files / "edges.csv", "-o", out, "--method", "smoothfeats", "--dim", 2)
    assert cli(*words, "--param", "steps=3", "--param", "teleport=0.5").code == 0
    params = unseen.read_embedding(out).params
    expected = {"steps": 3, "teleport": 0.5, "n_components": 2, "random_state": 0}
    assert {name: params[name] for name in expected} == expected
    ran = cli(*words, "--param", "stepps=3", code=1)
    assert "did you mean 'steps'" in ran.err


@pytest.mark.slow
def test_a_matrix_for_the_classifier_can_be_scored(cli: Callable, files: Path) -> None:
    out = files / "v.parquet"
    assert cli("embed", "debian", "-o", out, "--method", "smoothfeats", "--dim", 30).code == 0
    words = ("evaluate", out, "--labels", "debian")
    ran = cli(*words, "--unseen", "mail,web", "--label-rate", 0.2, "--splits", 2, "--json", code=0)
    told = json.loads(ran.out)
    assert told["n_splits"] == 2
    assert told["unseen"] == ["mail", "web"]
    assert 0.5 < told["micro_f1"] < 1
    assert 0.3 < told["unseen_f1"] < 1
    text = cli(*words, "--splits", 1)
    assert "F1 of games" in text.out


@pytest.mark.slow
def test_vectors_that_saw_labels_are_tested_on_their_own_split(cli: Callable, tmp_path: Path) -> None:
    out = tmp_path / "v.parquet"
    words = ("--unseen", "mail,web", "--label-rate", 0.2)
    cli("embed", "debian", "-o", out, "-m", "rect-l", "--dim", 8, "--epochs", 3, "--seed", 5, *words, code=0)
    told = json.loads(cli("evaluate", out, "--labels", "debian", "--json").out)
    assert told["n_splits"] == 1
    assert told["unseen"] == ["mail", "web"]
    other = cli("evaluate", out, "--labels", "debian", *words, code=1)
    assert "can only be tested on that one" in other.err
    half = tmp_path / "half.csv"
    labels = unseen.load_dataset("debian").labels
    pairs = list(zip(labels.node_ids, labels.codes, strict=True))[::2]
    half.write_text("node,label\n" + "".join(f"{node},{labels.classes[code]}\n" for node, code in pairs))
    assert "give another one" in cli("evaluate", out, "--labels", half).err
    assert cli("embed", "debian", "-o", out, "-m", "rect-l", "--dim", 8, "--epochs", 1).code == 0
    assert (
        "may have learned from these labels" in cli("evaluate", out, "--labels", "debian", "--splits", 1).err
    )


@pytest.mark.slow
def test_a_saved_model_embeds_without_training(cli: Callable, tmp_path: Path) -> None:
    model, out, again = (tmp_path / name for name in ("m.npz", "a.npz", "b.npz"))
    words = f"embed debian -o {out} -m rect --dim 8 --epochs 2 --save-model {model} --json"
    ran = cli(*words.split(), code=0)
    told = json.loads(ran.out)
    assert "font" in told["class_descriptions"]["fonts"]
    assert "features typical of class 'fonts': " in ran.err
    assert cli("embed", "debian", "-o", again, "--model", model).code == 0
    first, second = (unseen.read_embedding(path).vectors for path in (out, again))
    assert abs(first - second).max() < 1e-5


@pytest.mark.parametrize(
    "flags",
    [
        ("--dim", 4), ("--method", "rect"), ("--unseen", "mail"), ("--label-rate", 0.3), ("--seed", 0),
        ("--scratch", "."), ("--save-model", "n.npz"), ("--param", "epochs=3", "--epochs", 3),
    ],
)  # fmt: skip
def test_a_saved_model_takes_no_options_of_learning(cli: Callable, tmp_path: Path, flags: tuple) -> None:
    out = tmp_path / "v.npz"
    ran = cli("embed", "debian", "-o", out, "--model", tmp_path / "m.npz", *flags, code=2)
    assert f"{flags[0]} " in ran.err
    assert "would change nothing; leave" in ran.err
    assert not out.exists()


@pytest.mark.parametrize("word", ["tab", "\\t", "\t"])
def test_the_delimiter_can_be_told(cli: Callable, tmp_path: Path, word: str) -> None:
    (tmp_path / "e.txt").write_text("a b\tc d\nc d\te,f\n")
    out = tmp_path / "v.parquet"
    cli("embed", tmp_path / "e.txt", "-o", out, "-m", "smoothfeats", "--dim", 2, "--delimiter", word, code=0)
    assert unseen.read_embedding(out).node_ids.tolist() == ["a b", "c d", "e,f"]


def test_hiding_a_class_alone_keeps_all_labels_of_the_others(cli: Callable, tmp_path: Path) -> None:
    words = ("embed", "debian", "-o", tmp_path / "v.parquet", "-m", "smoothfeats", "--dim", 2)
    assert f"{4852 - 279} of 4852 labelled nodes" in cli(*words, "--unseen", "mail").err
    assert "2426 labelled" not in cli(*words).err


@pytest.mark.slow
def test_the_default_is_the_recommended_method_and_says_which_flags_it_has_no_use_for(
    cli: Callable, tmp_path: Path
) -> None:
    out = tmp_path / "v.parquet"
    ran = cli("embed", "debian", "-o", out, "--dim", 16, "--epochs", 3, "--label-rate", 0.3, "--json", code=0)
    assert json.loads(ran.out)["method"] == "rect-plus"
    assert "--epochs has no effect: rect-plus has no such parameter" in ran.err
    assert unseen.read_embedding(out).vectors.shape == (4852, 16)


def test_several_files_of_labels_add_up_and_a_contradiction_is_named(cli: Callable, files: Path) -> None:
    (files / "first.csv").write_text("node,label\na b,x\n", "utf-8")
    (files / "second.csv").write_text("node,label\nü,y\na b,x\n", "utf-8")
    (files / "third.csv").write_text("node,label\na b,z\n", "utf-8")
    words = ["embed", files / "edges.csv", "-o", files / "v.npz", "-m", "smoothfeats", "--dim", 2]
    ran = cli(*words, "--labels", files / "first.csv", "--labels", files / "second.csv", code=0)
    assert "1 unlabelled" in ran.err
    ran = cli(*words, "--labels", files / "first.csv", "--labels", files / "third.csv")
    assert "a b" in ran.err
    evaluated = cli(
        "evaluate", files / "v.npz", "--labels", files / "first.csv", "--labels", files / "second.csv"
    )
    assert "every class has one labelled node" in evaluated.err


def test_types_directions_and_signs(cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text(
        "src,dst,weight,type\nann,p1,1,wrote\nbob,p1,-1,wrote\nbob,p2,2,wrote\n"
    )
    (tmp_path / "nodes.csv").write_text("node,type\nann,author\nbob,author\np1,paper\np2,paper\n")
    (tmp_path / "authors.csv").write_text("node,age\nann,3\nbob,4\n")
    (tmp_path / "papers.csv").write_text("node,year\np1,3\np2,4\n")
    files = f"--features author={tmp_path}/authors.csv --features paper={tmp_path}/papers.csv"
    words = f"embed {tmp_path}/edges.csv --nodes {tmp_path}/nodes.csv {files} --directed"
    ran = cli(*f"{words} -m smoothfeats --dim 2 -o {tmp_path}/v.parquet".split(), code=0)
    assert "4 nodes of 2 types, 3 edges in 1 relations" not in ran.err
    assert "the features of 2 types are concatenated, edge directions are ignored, 1 edge with a" in ran.err
    assert unseen.read_embedding(tmp_path / "v.parquet").vectors.shape == (4, 2)
    words = f"embed {tmp_path}/edges.csv --features a.csv --features b.csv -o {tmp_path}/w.parquet"
    wrong = cli(*words.split())
    assert (wrong.code, "TYPE=FILE" in wrong.err) == (2, True)
