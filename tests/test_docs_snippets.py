"""Every command and every piece of Python in README and docs runs, page by page, on a graph of 300 nodes."""

from __future__ import annotations

import contextlib
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import unseen
from unseen.cli.app import COMMANDS, make_app

ROOT = Path(unseen.__file__).parents[2]
BUILT = ("run", "project", "tutorials", "gallery", "api")
PAGES = [
    path
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if not set(BUILT) & set(path.relative_to(ROOT).parts) and path.name not in ("commands.md", "methods.md")
]
BLOCK = re.compile(r"(?ms)^( *)```(\w+)\n(.*?)^ *```$")
NOT_RUN = {
    "pip install": "the extras it names are those of pyproject.toml, which is tested below",
    "export": "belongs to the torchrun below it",
    "unseen partition edges --labels": "needs a folder of Dask; tests/engine/test_train.py makes one",
    "torchrun": "takes several machines; tests/engine/test_processes.py runs it on one",
    "unseen label": "serves until Ctrl-C; tests/explorer/test_label_loop.py runs it",
    "make": "runs the demo, which tests/cli/test_demo.py and test_docs.py do, or these tests",
    "python3 -m venv": "makes an environment of the reader's own",
    ". ~": "activates it",
    "unseen reproduce": "needs the paper's graphs; paper/tests/cli/test_reproduce.py runs it",
}
"""Commands by how they begin, and why they are not run here."""
OTHERS = ("cleanlab.md", "graph-databases.md", "single-cells.md")
"""Pages for other libraries, which tests/others runs in environments of their own."""
ELSEWHERE = ("data-frames-on-clusters.md",)
"""Pages whose Python is run elsewhere: tests/engine/test_train.py (Dask)."""
SECTIONS = ("database", "fonts", "web", "mail", "sound")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (ROOT / "docs").is_dir(), reason="needs the source tree, this is an installed copy"
    ),
]


def small_graph() -> unseen.Dataset:
    """Return a planted graph that looks like debian: text ids, words, sections."""
    drawn = unseen.planted_partition(300, 5, random_state=0)
    ids = [f"p{k}" for k in range(300)]
    words = [f"{section}{k}" for section in SECTIONS for k in range(20)]
    for section, named in (("mail", "mail route compose"), ("sound", "sound audio music")):
        start = 20 * SECTIONS.index(section)
        words[start : start + 3] = named.split()  # pages describe classes by such words
    words += [f"noise{k}" for k in range(100)]
    graph = unseen.Graph(drawn.graph.adjacency, drawn.graph.features, ids, words)
    labels = unseen.Labels.from_values([SECTIONS[k] for k in drawn.labels.codes], ids)
    return unseen.Dataset("debian", graph, labels)


def graph_of_types() -> unseen.Dataset:
    """Return authors of two fields and what they wrote."""
    wrote = np.zeros((90, 90))
    for k in range(60):
        wrote[k, 60 + k % 30] = wrote[k, 60 + (k + 2) % 30] = 1
    types = ["author"] * 60 + ["paper"] * 30
    words = {"paper": np.eye(2)[np.arange(30) % 2] + 0.01 * np.arange(60).reshape(30, 2)}
    relation = unseen.Relation("author-paper", "author", "paper", wrote)
    graph = unseen.Graph.from_relations([relation], None, types, words)
    areas = [("AI", "Database")[k % 2] if k < 40 else None for k in range(90)]
    return unseen.Dataset("hgb-dblp", graph, unseen.Labels.from_values(areas))


class Encoder:
    """Stands for a model of sentence-transformers."""

    def __init__(self, name: str) -> None:
        self.name = name

    def encode(self, texts: list[str]) -> Any:
        return np.array([[len(text), text.count(" ")] for text in texts], dtype=np.float32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the files that the pages speak of; `debian` and `hgb-dblp` are small there."""
    data = small_graph()
    monkeypatch.setattr("unseen.data.datasets.load_debian", lambda: data)
    monkeypatch.setattr("unseen_paper.data.published.load_dataset", lambda *_: graph_of_types())
    monkeypatch.chdir(tmp_path)
    links = pd.DataFrame(data.graph.to_networkx().edges, columns=["src", "dst"])
    links.to_csv("edges.csv", index=False)
    words = pd.DataFrame(data.graph.features.toarray(), columns=data.graph.feature_names)
    words.insert(0, "node", data.graph.node_ids)
    words.to_csv("features.csv", index=False)
    words.to_parquet("features.parquet")
    texts = [" ".join(words.columns[1:][row > 0]) for row in words.iloc[:, 1:].to_numpy()]
    for name in ("texts.csv", "descriptions.csv"):
        pd.DataFrame({"node": words["node"], "text": texts}).to_csv(name, index=False)
    sections = data.labels.to_pandas()
    known = sections[~sections.isin(["mail", "sound"])].sample(frac=0.4, random_state=0)
    for name in ("labels.csv", "categories.csv"):
        known.rename("label").rename_axis("node").to_csv(name)
    Path("names.csv").write_text("name,description\nmail,to route and compose mail\n", encoding="utf-8")
    vectors = unseen.SmoothFeats(n_components=8, random_state=0).fit_transform(data.graph)
    for name in ("vectors.parquet", "vectors.w2v.txt"):
        vectors.save(name)
    yield tmp_path
    sys.modules.pop("unseen.methods.degrees", None)


def commands_of(block: str) -> list[list[str]]:
    """Return the lines that are typed, as words."""
    return [shlex.split(line[2:], comments=True) for line in block.splitlines() if line.startswith("$ ")]


def reason_not_to_run(words: list[str]) -> str | None:
    return next((why for start, why in NOT_RUN.items() if " ".join(words).startswith(start)), None)


def run_command(words: list[str], cli: Callable[..., Any]) -> None:
    if words[:3] == ["python", "-m", "unseen.scale"]:
        done = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        return
    assert words[0] == "unseen", f"say in NOT_RUN why this is not run: {' '.join(words)}"
    done = cli(*words[1:])
    assert done.code == 0, f"{' '.join(words)}: {done.err}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_page_runs(page: Path, folder: Path, cli: Callable[..., Any]) -> None:
    blocks = [(kind, text) for _, kind, text in BLOCK.findall(page.read_text(encoding="utf-8"))]
    if not any(kind in ("console", "python", "bash") for kind, _ in blocks):
        pytest.skip("nothing to run")
    if page.name in OTHERS:
        pytest.skip("run by tests/others")
    data = unseen.read("edges.csv", features="features.csv", labels="labels.csv")
    names = {each.__name__: each for each in (unseen, Pipeline, GridSearchCV, LogisticRegression)}
    names |= {"graph": data.graph, "labels": data.labels, "SentenceTransformer": Encoder}
    for kind, text in blocks:
        if kind == "console":
            for words in commands_of(text):
                if reason_not_to_run(words) is None:
                    run_command(words, cli)
        elif kind == "python" and page.name not in ELSEWHERE:
            with contextlib.redirect_stdout(None):
                exec(compile(text, str(page), "exec"), names)
        elif kind == "bash":
            subprocess.run(["bash", "-n"], input=text, text=True, check=True)


def inline_commands() -> list[tuple[str, str]]:
    """Return the commands that stand in sentences, with their page; not those of other distributions, or shortened."""
    files = [*PAGES, *(ROOT / "docs" / "examples").rglob("*.py")]
    typed = [
        (str(path.relative_to(ROOT)), quoted or shown)
        for path in files
        for quoted, shown in re.findall(
            r"(?m)`(unseen [a-z]+ [^`\n]+)`|^#     (unseen .+)$", path.read_text(encoding="utf-8")
        )
    ]
    others = ("unseen bench", "unseen reproduce", "unseen help")
    return [(page, line) for page, line in typed if not line.startswith(others) and "..." not in line]


@pytest.mark.parametrize(("page", "command"), inline_commands())
def test_a_command_in_a_sentence_is_one(page: str, command: str) -> None:
    words = shlex.split(command.split(" | ")[0])
    assert words[1] in COMMANDS
    parser: Any = typer.main.get_command(make_app(words[1])).commands[words[1]]  # type: ignore[attr-defined]
    # raises where an option is not there
    parser.make_parser(typer.Context(parser)).parse_args(args=words[2:])


def test_extras_that_are_named_are_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {
        extra
        for page in PAGES
        for listed in re.findall(r"pip install \"\.\[([\w,]+)\]", page.read_text(encoding="utf-8"))
        for extra in listed.split(",")
    }
    assert named <= set(project["optional-dependencies"])
    assert named >= {"neural", "viz", "label"}


def test_reasons_are_used() -> None:
    typed = [
        " ".join(words)
        for page in PAGES
        for _, kind, text in BLOCK.findall(page.read_text(encoding="utf-8"))
        if kind == "console"
        for words in commands_of(text)
    ]
    for start in NOT_RUN:
        assert any(line.startswith(start) for line in typed), start
