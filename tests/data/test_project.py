"""The project file: what is written is read back, and every mistake is an error with line and key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from unseen.data.project import read_project, relative_path, write_project
from unseen.params import Limits, Parameter

DECLARED = {
    name: Parameter.from_hint(name, Annotated[hint, limits, "A meaning."], None)
    for name, hint, limits in (
        ("graph", str, Limits()),
        ("labels", list[Path] | None, Limits()),
        ("features", list[str] | None, Limits()),
        ("text", Path | None, Limits()),
        ("label_column", str | None, Limits()),
        ("seed", int, Limits(0)),
        ("label_rate", float | None, Limits()),
        ("directed", bool, Limits()),
    )
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("edges.csv", "labels.csv", "more.csv", "f=1.csv"):
        (tmp_path / name).write_text("a,b\n")
    return tmp_path


def read(folder: Path, text: str | bytes) -> dict[str, Any]:
    path = folder / "unseen.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return dict(read_project(path, DECLARED).values)


def test_paths_are_relative_to_the_project_file(folder: Path) -> None:
    values = read(folder, GRAPH + 'labels = ["labels.csv", "more.csv"]\nfeatures = "paper=more.csv"\n')
    assert values["graph"] == str(folder / "edges.csv")
    assert values["labels"] == [str(folder / "labels.csv"), str(folder / "more.csv")]
    assert values["features"] == [f"paper={folder / 'more.csv'}"]
    one = read(folder, 'graph = "debian"\nlabels = "labels.csv"\nfeatures = "f=1.csv"')  # no type, but a name
    assert list(one.values()) == ["debian", [str(folder / "labels.csv")], [str(folder / "f=1.csv")]]
    assert read(folder, b'\xef\xbb\xbfgraph = "edges.csv"\r\nseed = 3\r\n')["seed"] == 3
    assert relative_path(folder / "a" / "b.csv", folder) == "a/b.csv"
    assert relative_path(folder / "b.csv", folder / "a") == "../b.csv"


GRAPH = 'graph = "edges.csv"\n'
MISTAKES = {
    "an unknown key": (GRAPH + '\nlable = "a.csv"', "line 3: unknown key 'lable'; did you mean 'labels'"),
    "a table": (GRAPH + "[labels2]\na = 1", "line 2: unknown table 'labels2'"),
    "a number for a file": (GRAPH + 'labels = [\n  "labels.csv",\n  3,\n]', "line 2: labels must be .* got 3"),
    "true for a number": (GRAPH + "seed = true", "line 2: seed must be an integer of at least 0, got true"),
    "a negative seed": (GRAPH + "seed = -1", "line 2: seed must be an integer of at least 0, got -1"),
    "a text for a number": (GRAPH + 'label_rate = "x"', 'line 2: label_rate must be a number, got "x"'),
    "a number for a switch": (GRAPH + "directed = 1", "line 2: directed must be true or false, got 1"),
    "a list for a text": ('graph = ["edges.csv"]', "line 1: graph must be a text"),
    "a date": (GRAPH + "label_column = 2020-01-01", "line 2: label_column must be a text .*2020"),
    "a missing file": (GRAPH + '# a comment\ntext = "lables.csv"', "line 3: there is no .*'labels.csv'; .* text"),
    "a missing graph": ('seed = 0\ngraph = "edgs.csv"', "line 2: there is no .*'edges.csv'; correct .* graph"),
    "no graph": ("seed = 0", "the key 'graph' is missing"),
    "no quotes": ("seed = 0\ngraph = edges.csv\n", "line 2: this is not valid TOML .*'graph = edges.csv'"),
    "an open list": (GRAPH + 'labels = ["labels.csv"', "line 2: this is not valid TOML"),
    "the same key twice": (GRAPH + GRAPH, "line 2: this is not valid TOML"),
    "no text": (b'graph = "\xff.csv"', "not a text in UTF-8"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_an_error_with_line_and_key(folder: Path, mistake: str) -> None:
    text, sentence = MISTAKES[mistake]
    with pytest.raises(unseen.InputError, match=rf"unseen\.toml.*{sentence}"):
        read(folder, text)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0), st.booleans(), st.floats(0, 1))
@settings(max_examples=50, deadline=None)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, text: str, number: int, switch: bool, share: float
) -> None:
    folder = tmp_path_factory.mktemp("project")
    (folder / "edges.csv").touch()
    values: dict[str, object] = {"graph": "edges.csv", "label_column": text, "seed": number}
    values |= {"directed": switch, "label_rate": share}
    write_project(folder / "unseen.toml", values)
    project = read_project(folder / "unseen.toml", DECLARED)
    assert project.values == {**values, "graph": str(folder / "edges.csv")}
