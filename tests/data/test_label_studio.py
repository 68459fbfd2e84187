"""Questions go to Label Studio and Argilla, and come back as labels: with the libraries themselves."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import unseen
from environments import require_environment
from unseen.data.convert import write_data
from unseen.data.label_studio import CONFIG
from unseen.errors import InputError

ANNOTATE = """
import json, sys
from label_studio_sdk.converter import Converter
from label_studio_sdk.label_interface import LabelInterface

config, folder = sys.argv[1:]
tasks, interface = json.load(open(folder + "/tasks.json")), LabelInterface(config)
for task in tasks:
    assert interface.validate_task({"data": task["data"]})
    (prediction,) = task["predictions"]
    assert not interface.validate_prediction(prediction, return_errors=True)
given = [
    {"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": ["c1"]}},
    {"from_name": "new_class", "to_name": "text", "type": "textarea", "value": {"text": ["{odd"]}},
    None,
    {"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": ["c0", "c1"]}},
]
for k, (task, result) in enumerate(zip(tasks, given)):
    done = {"id": k, "completed_by": 1, "was_cancelled": result is None, "result": [result] if result else []}
    task |= {"id": k, "annotations": [done], "predictions": []}
json.dump(tasks, open(folder + "/all.json", "w"))
for name in ("JSON", "JSON_MIN", "CSV", "TSV"):
    Converter(config, project_dir=folder).convert(folder + "/all.json", folder + "/" + name, name, is_dir=False)
"""
RECORDS = """
import json, pickle, sys
import argilla, unseen

questions = pickle.load(open(sys.argv[1], "rb"))
records = questions.to_argilla()
assert all(isinstance(each, argilla.Record) for each in records)
told = [[each.id, each.fields["text"], each.metadata["drawn"], [[s.value, s.score] for s in each.suggestions]]
        for each in records]
print(json.dumps(told))
"""


def plant() -> tuple[unseen.Graph, unseen.Labels]:
    """Return a planted graph, and labels that miss the class c3."""
    data = unseen.planted_partition(120, 4, random_state=0)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c3"], random_state=0)
    return data.graph, split.seen_labels


@pytest.mark.slow
def test_questions_are_answered_in_label_studio(tmp_path: Path, cli: Callable[..., Any]) -> None:
    folder = tmp_path
    write_data(*plant(), folder, "all")
    asked = ["--budget", 2, "--random", 2, "-o", folder / "tasks.json"]
    source = [folder / "edges.csv", "--features", folder / "features.parquet"]
    source += ["--labels", folder / "labels.csv"]
    done = cli("suggest", *source, *asked)
    assert done.code == 0, done.err
    python = require_environment("label-studio")
    subprocess.run([python, "-c", ANNOTATE, CONFIG, folder], check=True, timeout=120)
    nodes = [task["data"]["node"] for task in json.loads((folder / "tasks.json").read_text("utf-8"))]
    expected = {nodes[0]: ["c1"], nodes[1]: ["{odd"], nodes[3]: ["c0", "c1"]}
    graph = unseen.read_graph(folder / "edges.csv", labels=folder / "labels.csv")
    for path in ("JSON/result.json", "JSON_MIN/result.json", "CSV/result.csv", "TSV/result.csv"):
        labels = unseen.read_labels(folder / path, graph)
        assert labels.to_lists() == expected, path
        assert labels.certificate().n_answers == 2, path
        status = "skipped" if path.startswith("JSON/") else None  # other exports leave skipped tasks out
        assert labels.answers.get(nodes[2]) == status, path
    told = cli("discover", *source, "--labels", folder / "JSON" / "result.json", "--json")
    assert told.code == 0, told.err
    assert "{odd" in str(json.loads(told.out))


def test_the_annotation_that_counts_is_the_ground_truth_or_the_last(tmp_path: Path) -> None:
    def annotation(name: str, **more: Any) -> dict[str, Any]:
        return {"result": [{"from_name": "topic", "type": "choices", "value": {"choices": [name]}}], **more}

    tasks = [
        {"data": {"node": "a"}, "annotations": [annotation("x", ground_truth=True), annotation("y")]},
        {"data": {"node": "b"}, "annotations": [annotation("x"), annotation("y")]},
        {"data": {"node": "c"}, "annotations": []},
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    graph = unseen.Graph.from_edges(["a", "b"], ["b", "c"])
    assert unseen.read_labels(path, graph).to_lists() == {"a": ["x"], "b": ["y"]}
    path.write_text("[1, 2]", encoding="utf-8")
    with pytest.raises(InputError, match="list of tasks"):
        unseen.read_labels(path, graph)


@pytest.mark.slow
def test_argilla_takes_the_questions(tmp_path: Path) -> None:
    import pickle

    questions = unseen.suggest(*plant(), budget=1, random=1, random_state=0)
    (tmp_path / "questions.pickle").write_bytes(pickle.dumps(questions))
    script = [require_environment("argilla"), "-c", RECORDS, tmp_path / "questions.pickle"]
    told = subprocess.run(script, check=True, timeout=120, capture_output=True, text=True).stdout
    best = [
        [[q.likely_class, pytest.approx(1 - q.unseen_probability)]][q.unseen_probability >= 0.5 :]
        for q in questions
    ]
    assert {len(each) for each in best} == {0, 1}
    expected = [[str(q.node), str(q.node), q.drawn, one] for q, one in zip(questions, best, strict=True)]
    assert json.loads(told.splitlines()[-1]) == expected
