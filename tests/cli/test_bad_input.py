"""Everything that can be wrong on the command line ends in one readable line and exit code 1 (or 2 for usage)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import unseen
from unseen.cli.app import run


def _one_line(ran: tuple[int, str, str], sentence: str, expected: int = 1) -> None:
    code, out, err = ran
    assert code == expected
    assert out == ""
    last = err.strip().splitlines()[-1]
    assert last.startswith("unseen: ")
    assert re.search(sentence, last), last


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["embed", "nowhere.csv", "-o", "v.parquet"], "nowhere.csv"),
        (["embed", "debain", "-o", "v.parquet"], "did you mean 'debian'"),
        (["embed", "debian", "-o", "v.parquet", "--method", "smoothfeat"], "did you mean 'smoothfeats'"),
        (
            ["embed", "debian", "-o", "v.parquet", "--method", "smoothfeats", "--dim", "9999"],
            "--dim is 9999",
        ),
        (["embed", "debian", "-o", "v.parquet", "--unseen", "mial"], "did you mean 'mail'"),
        (["embed", "debian", "-o", "v.parquet", "--label-rate", "0"], "--label-rate .*0"),
        (["embed", "debian", "-o", "v.parquet", "--label-rate", "1"], "--label-rate .*1"),
        (["embed", "debian", "-o", "v.docx"], "docx.*parquet"),
        (["embed", "debian", "-o", "no/such/folder/v.parquet"], "folder"),
        (["evaluate", "nowhere.parquet", "--labels", "debian"], "nowhere.parquet"),
        (["reproduce", "declin"], "did you mean 'decline'"),
        (["reproduce", "f1", "--methods", "rekt"], "unknown method 'rekt'"),
        (["reproduce", "f1", "--rates", "many"], "--rates.*many"),
        (["reproduce", "f1", "--rates", "0.1,30"], "--rates.*between 0 and 1.*got 30"),
        (["reproduce", "f1", "--format", "word"], "unknown style 'word'"),
        (["reproduce", "scalability", "--sizes", "1000.5"], "integer of at least 500 nodes, got 1000.5"),
        (["datasets", "coraa"], "did you mean 'cora'"),
        (["explore", "debian", "-o", "page.pdf"], "page.pdf.*ends in .html, e.g. page.html"),
    ],
)
def test_bad_words(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    _one_line(cli(*words), sentence)


def test_all_classes_unseen(cli: Callable, tmp_path: Path) -> None:
    everything = ",".join(unseen.load_dataset("debian").labels.classes)
    ran = cli("embed", "debian", "-o", tmp_path / "v.parquet", "--unseen", everything)
    _one_line(ran, "all 12 classes are unseen")


def test_a_label_without_a_vector_is_named(cli: Callable, files: Path) -> None:
    assert (
        cli("embed", files / "edges.csv", "-o", files / "v.parquet", "-m", "smoothfeats", "--dim", 2).code
        == 0
    )
    (files / "more.csv").write_text("node,label\na b,x\nü,y\nnobody,x\n", "utf-8")
    _one_line(
        cli("evaluate", files / "v.parquet", "--labels", files / "more.csv"),
        "the embedding has no .*'nobody'",
    )
    _one_line(cli("evaluate", files / "v.parquet", "--labels", "debain"), "did you mean 'debian'")


def test_usage_errors_exit_with_2(cli: Callable) -> None:
    for words in (
        ["embd"],
        ["embed"],
        ["embed", "debian"],
        ["embed", "debian", "-o", "v.parquet", "--seed", "x"],
    ):
        assert cli(*words).code == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["embed", "debian", "--features", "f.csv", "-o", "v.parquet"], "--features needs an edge file"),
        (["embed", "edges.csv", "-o", "v.parquet", "--unseen", "x"], "there are none; give them with --labels"),
        (["suggest", "debian", "--embedding", "v.npz", "-m", "rect"], "leave out --method and --param"),
        (["embed", "debian", "-o", "v.npz", "-m", "rect-l", "--save-model", "v.npz"], "name the same file, v.npz"),
        (["explore"], "there is no graph: name an edge file or .* `unseen init"),
        (["discover", "--embedding", "v.npz"], "there is no graph: name an edge file or .* `unseen init"),
        (["explore", "--embedding", "v.npz", "--method", "rect"], "leave out --method and --param"),
        (["embed", "debian", "-o", "v.npz", "-m", "smoothfeats", "--save-model", "m.npz"], "only .* RECT family"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_exit_with_2(
    cli: Callable, files: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], sentence: str
) -> None:
    monkeypatch.chdir(files)
    _one_line(cli(*words), sentence, 2)


INPUTS = ["--nodes", "nodes.txt", "--features", "features.csv", "--labels", "labels.csv"]
OVERWRITING = [
    ["embed", "edges.parquet", "-o", "edges.parquet"],
    ["embed", "edges.csv", "-o", "v.npz", "-m", "rect-l", "--features", "f.npz", "--save-model", "f.npz"],
    ["embed", "edges.csv", "-o", "m.npz", "--model", "m.npz"],
    ["discover", "edges.csv", *INPUTS, "-o", "edges.csv"],
    ["discover", "edges.csv", *INPUTS, "-o", "found.json", "-o", "features.csv"],
    ["suggest", "edges.csv", *INPUTS, "-o", "labels.csv"],
    ["discover", "edges.csv", *INPUTS, "--embedding", "v.parquet", "-o", "v.parquet"],
    ["suggest", "edges.csv", *INPUTS, "-o", "linked.csv"],
    ["explore", "--embedding", "v.html", "-o", "v.html"],
    ["accept", "labels.csv", "edges.csv", "new-1=mail", "-o", "edges.csv"],
]


@pytest.mark.parametrize("words", OVERWRITING)
def test_an_output_that_is_an_input_is_refused(
    cli: Callable, files: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(files)
    for name in ("edges.parquet", "f.npz", "v.npz", "v.parquet", "m.npz", "v.html"):
        (files / name).write_text("as it was")
    (files / "linked.csv").symlink_to("labels.csv")
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    _one_line(cli(*words), "would be overwritten")
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


def test_an_interrupt_leaves_no_file(cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from unseen.methods.smoothfeats import SmoothFeats

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SmoothFeats, "_fit", interrupted)
    ran = cli("embed", "debian", "-o", tmp_path / "v.parquet", "--method", "smoothfeats")
    _one_line(ran, "interrupted", 130)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_an_unforeseen_error_is_one_line_too(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from unseen.methods.smoothfeats import SmoothFeats

    def broken(*_: object) -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(SmoothFeats, "_fit", broken)
    ran = cli("embed", "debian", "-o", tmp_path / "v.parquet", "--method", "smoothfeats")
    _one_line(ran, "unexpected RuntimeError: two lines .*bug.*--debug")


def test_only_debug_prints_a_traceback(capfd: pytest.CaptureFixture[str], files: Path) -> None:
    words = [
        "embed",
        str(files / "edges.csv"),
        "-o",
        str(files / "v.npz"),
        "-m",
        "smoothfeats",
        "--dim",
        "99",
    ]
    for flag, expected in (("-v", False), ("--debug", True)):
        assert run([*words, flag]) == 1
        err = capfd.readouterr().err
        assert ("Traceback" in err) == expected
        assert err.splitlines()[-1].startswith("unseen: --dim is 99, but at most")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--dim", "99"], "--dim is 99, but"),
        (["--param", "n_components=99"], "--param n_components is 99, but"),
        (["--param", "n-components=x"], "--param n_components must be an integer"),
        (["--param", "steps=-1"], "--param steps must be an integer of at least 0"),
        (["--symmetrize", "mean"], "--symmetrize must be 'max', 'sum' or 'error', got 'mean'"),
        (["--delimiter", "::"], "--delimiter must be one character"),
        (["--absolute", "--drop-negative"], "--drop-negative and --absolute do not go together"),
        (["--labels", "labels.csv", "--label-rate", "2"], "--label-rate must be between 0 and 1"),
    ],
)
def test_messages_name_the_flag(
    cli: Callable, files: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], sentence: str
) -> None:
    monkeypatch.chdir(files)
    ran = cli("embed", "edges.csv", "-o", "v.npz", "-m", "smoothfeats", *words)
    _one_line(ran, sentence)
    assert "`" not in ran.err.strip().splitlines()[-1]


def test_a_word_that_is_no_file_names_the_nearest_file(
    cli: Callable, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    _one_line(cli("embed", "edges", "-o", "v.npz"), "there is no file 'edges'; the nearest .*'edges.csv'")
    _one_line(cli("embed", "debain", "-o", "v.npz"), "there is no file 'debain'; unknown data set .*'debian'")


def test_a_missing_file_is_called_by_the_argument_that_was_typed(tmp_path: Path, cli: Callable) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("node,label\na,x\n", "utf-8")
    assert "check the path given as SOURCE" in cli("discover", tmp_path / "e.csv", "--labels", labels).err
    assert "given as EMBEDDING" in cli("evaluate", tmp_path / "v.npz", "--labels", labels).err
    assert "given as NODES" in cli("accept", labels, tmp_path / "n.csv", "new-1=y", "--in-place").err
    assert "given as LABELS" in cli("accept", tmp_path / "l.csv", labels, "new-1=y", "--in-place").err
