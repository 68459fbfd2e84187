"""Every command on every kind of graph: pairwise in `make test`, all combinations by `make matrix`.

A run must end with 0 and write files that can be read. A combination that is not supported ends with 1 and one readable
line; `UNSUPPORTED` lists these with the reason. Warnings of numpy and scipy are errors here as in all tests.
"""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import unseen
from labelling import Client
from unseen.cli.app import run

KINDS = ("undirected", "directed", "signed", "typed")
FEATURES = {"none": 0, "few": 5, "many": 60}
LABELS = ("one class", "many classes", "multi-label")
N = 72


@dataclass
class Case:
    """A graph as files, with the words of a command line that read it."""

    folder: Path
    kind: str
    features: str
    labels: str
    words: list[str] = field(default_factory=list)

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(0)
        codes = np.arange(N) % 3
        near = rng.random((N, N)) < np.where(codes[:, None] == codes, 0.3, 0.04)
        ends = np.argwhere(np.triu(near, 1))
        signs = np.where(codes[ends[:, 0]] == codes[ends[:, 1]], 1, -1) if self.kind == "signed" else 1
        weight = signs * rng.integers(1, 4, len(ends))
        header, relation = "src,dst,weight", [""] * len(ends)
        if self.kind == "typed":
            header += ",type"
            relation = [f",{name}" for name in rng.choice(["likes", "knows"], len(ends))]
        rows = [f"n{a},n{b},{w}{r}" for (a, b), w, r in zip(ends, weight, relation, strict=True)]
        if self.kind == "typed":  # and a second type of nodes
            rows += [f"n{k},t{k % 4},1,has" for k in range(N)]
            kinds = [f"n{k},item" for k in range(N)] + [f"t{k},tag" for k in range(4)]
            self._write("nodes.csv", "node,type", kinds)
            self.words += ["--nodes", self.path("nodes.csv")]
        self._write("edges.csv", header, rows)
        self.words += ["--directed"] if self.kind == "directed" else []
        if width := FEATURES[self.features]:
            values = rng.normal(size=(N, width)) + 2 * np.eye(3, width)[codes]
            names = ",".join(["node", *(f"x{k}" for k in range(width))])
            table = [f"n{k}," + ",".join(f"{value:.4f}" for value in row) for k, row in enumerate(values)]
            self._write("features.csv", names, table)
            of_type = "item=" if self.kind == "typed" else ""
            self.words += ["--features", of_type + self.path("features.csv")]
        seen = [k for k in range(N) if codes[k] < (1 if self.labels == "one class" else 2) and k % 4]
        several = seen[::5] if self.labels == "multi-label" else []
        names = {k: "ab"[codes[k]] for k in seen} | dict.fromkeys(several, "a|b")
        self._write("labels.csv", "node,label", [f"n{k},{name}" for k, name in names.items()])
        self.words += ["--labels", self.path("labels.csv")]

    def _write(self, name: str, header: str, rows: list[str]) -> None:
        (self.folder / name).write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")

    def run(self, command: str, *words: str, reads: bool = True) -> int:
        """Run a command on the files, and return its exit code."""
        return run([command, *([self.path("edges.csv"), *self.words] if reads else []), *words])


def embed(case: Case) -> int:
    code = case.run("embed", "--method", "rect-plus", "-o", case.path("v.parquet"))
    assert code or unseen.read_embedding(case.path("v.parquet")).vectors.any()
    return code


def evaluate(case: Case) -> int:
    code = case.run("embed", "--method", "smoothfeats", "-o", case.path("v.parquet"))
    words = f"evaluate {case.path('v.parquet')} --labels {case.path('labels.csv')} --splits 2"
    return code or run(words.split())


def discover(case: Case) -> int:
    code = case.run("discover", "-o", case.path("nodes.parquet"), "-o", case.path("classes.json"))
    if not code:
        assert pq.read_table(case.path("nodes.parquet")).num_rows
        report = json.loads(Path(case.path("classes.json")).read_text())
        assert report["has_estimate"] == (report["count"] is not None)
        assert case.labels != "one class" or report["count"] is None
    return code


def predict(case: Case) -> int:
    code = case.run("predict", "-o", case.path("classes.csv"))
    rows = [] if code else Path(case.path("classes.csv")).read_text().splitlines()
    assert code or (rows[0] == "node,class,probability,status" and len(rows) == N + 1)
    return code


def suggest(case: Case) -> int:
    code = case.run("suggest", "--budget", "8", "-o", case.path("ask.csv"))
    assert code or len(Path(case.path("ask.csv")).read_text().splitlines()) == 9
    return code


def accept(case: Case) -> int:
    if code := discover(case):
        return code
    groups = {group for group in pq.read_table(case.path("nodes.parquet"))["group"].to_pylist() if group}
    if not groups:
        return 0
    words = [case.path("labels.csv"), case.path("nodes.parquet"), *(f"{group}=new" for group in groups)]
    code = run(["accept", *words, "-o", case.path("labels-2.csv")])
    assert code or ",new\n" in Path(case.path("labels-2.csv")).read_text()
    return code


def audit(case: Case) -> int:
    return case.run("audit", "-o", case.path("issues.json"))


def explore(case: Case) -> int:
    code = case.run("explore", "-o", case.path("page.html"))
    assert code or "</html>" in Path(case.path("page.html")).read_text(encoding="utf-8")
    return code


def convert(case: Case) -> int:
    code = case.run("convert", case.path("written.csv"))
    if not code:
        parts = sorted(case.folder.glob("written.nodes.csv"))
        back = unseen.read_graph(case.path("written.csv"), nodes=parts[0] if parts else None)
        assert (back.is_directed, back.is_signed) == (case.kind == "directed", case.kind == "signed")
        assert (back.node_types is not None) == (case.kind == "typed")
    return code


def init(case: Case) -> int:
    code = case.run("init", "-o", case.path("unseen.toml"))
    assert code or "edges.csv" in Path(case.path("unseen.toml")).read_text()
    return code


def label(case: Case) -> int:
    """Start the app, give one answer, update once, and stop."""
    context = multiprocessing.get_context("fork")
    words = ["label", case.path("edges.csv"), *case.words, "--no-browser", "--port", "0"]
    process = context.Process(target=_serve, args=(words, case.path("stderr")))
    process.start()
    try:
        client = Client()
        for line in _lines(Path(case.path("stderr")), process):
            if line.startswith("http://"):
                client.url = line.strip()
                break
        assert client.ask("answers", {"node": "n2", "label": "c"})[0] == 200
        assert client.ask("update", {})[0] == 200
        while (state := client.ask("state")[1])["update"]["running"]:
            pass
        assert state["update"]["error"] in (None, "")
    finally:
        os.kill(process.pid or 0, signal.SIGTERM)
        process.join()
    assert "n2,c" in Path(case.path("labels.csv")).read_text()
    return process.exitcode or 0


def _serve(words: list[str], errors: str) -> None:
    sys.stderr = Path(errors).open("w", encoding="utf-8", buffering=1)  # noqa: SIM115
    sys.exit(run(words))


def _lines(path: Path, process: Any) -> Iterator[str]:
    """Yield the lines that a process writes, until it ends."""
    while not path.exists():
        assert process.is_alive()
    with path.open(encoding="utf-8") as file:
        part = ""
        while True:
            part += file.readline()
            if part.endswith("\n"):
                yield part
                part = ""
            assert process.is_alive(), path.read_text(encoding="utf-8")


COMMANDS = (embed, evaluate, discover, predict, suggest, accept, audit, explore, label, convert, init)
UNSUPPORTED = {("audit", "one class"): "an audit compares classes"}
"""Commands that refuse some labels, and why."""

Combination = tuple[str, str, str, Callable[[Case], int]]


def pairwise(combinations: list[Combination]) -> list[Combination]:
    """Return few combinations such that each pair of values of two factors is in one of them."""

    def pairs(combination: Combination) -> set[Any]:
        return set(itertools.combinations(enumerate(combination), 2))

    missing = set().union(*map(pairs, combinations))
    chosen = []
    while missing:
        best = max(combinations, key=lambda combination: len(pairs(combination) & missing))
        chosen.append(best)
        missing -= pairs(best)
    return chosen


ALL: list[Combination] = list(itertools.product(KINDS, FEATURES, LABELS, COMMANDS))
CHOSEN = ALL if os.environ.get("UNSEEN_MATRIX") == "full" else pairwise(ALL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "features", "labels", "command"),
    CHOSEN,
    ids=lambda value: getattr(value, "__name__", str(value)).replace(" ", "-"),
)
def test_every_command_runs_on_every_kind_of_graph(
    kind: str, features: str, labels: str, command: Callable[[Case], int], tmp_path: Path, capfd: Any
) -> None:
    code = command(Case(tmp_path, kind, features, labels))
    errors = capfd.readouterr().err
    assert "Traceback" not in errors
    if (command.__name__, labels) in UNSUPPORTED:
        assert code == 1
        assert errors.splitlines()[-1].startswith("unseen: ")
    else:
        assert code == 0, errors


def test_all_pairs_are_covered() -> None:
    chosen = pairwise(ALL)
    assert len(chosen) < len(ALL) / 5
    for one, two in itertools.combinations(range(4), 2):
        assert {(c[one], c[two]) for c in chosen} == {(c[one], c[two]) for c in ALL}
