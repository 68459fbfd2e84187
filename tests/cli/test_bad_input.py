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


REFUSED = {
    "nowhere.csv": (1, "embed nowhere.csv -o v.parquet"),
    "there is no file 'debain'; unknown data set .*did you mean 'debian'": (1, "embed debain -o v.parquet"),
    "there is no file 'edges'; the nearest .*'edges.csv'": (1, "embed edges -o v.npz"),
    "did you mean 'smoothfeats'": (1, "embed debian -o v.parquet --method smoothfeat"),
    "--dim is 9999": (1, "embed debian -o v.parquet --method smoothfeats --dim 9999"),
    "did you mean 'mail'": (1, "embed debian -o v.parquet --unseen mial"),
    "--label-rate .*0": (1, "embed debian -o v.parquet --label-rate 0"),
    "--label-rate .*1": (1, "embed debian -o v.parquet --label-rate 1"),
    "docx.*parquet": (1, "embed debian -o v.docx"),
    "folder": (1, "embed debian -o no/such/folder/v.parquet"),
    "nowhere.parquet": (1, "evaluate nowhere.parquet --labels debian"),
    "did you mean 'decline'": (1, "reproduce declin"),
    "unknown method 'rekt'": (1, "reproduce f1 --methods rekt"),
    "--rates.*many": (1, "reproduce f1 --rates many"),
    "--rates.*between 0 and 1.*got 30": (1, "reproduce f1 --rates 0.1,30"),
    "unknown style 'word'": (1, "reproduce f1 --format word"),
    "integer of at least 500 nodes, got 1000.5": (1, "reproduce scalability --sizes 1000.5"),
    "did you mean 'cora'": (1, "datasets coraa"),
    "page.pdf.*ends in .html, e.g. page.html": (1, "explore debian -o page.pdf"),
    "all 4852 nodes have a label, so there is nothing to discover": (1, "discover debian"),
    "there are no labels; give those of at least one class with --labels": (1, "discover edges.csv"),
    "there are no labels to audit; give them with --labels": (1, "audit edges.csv"),
    "the suffix '.xlsx' is unknown": (1, "discover debian -o x.xlsx"),
    "unknown class 'post'": (1, "discover debian --unseen post"),
    "unknown method 'rekt'.*": (1, "discover debian --unseen mail -m rekt"),
    "--features needs an edge file": (2, "embed debian --features f.csv -o v.parquet"),
    "there are none; give them with --labels": (2, "embed edges.csv -o v.parquet --unseen x"),
    "leave out --method and --param": (2, "suggest debian --embedding v.npz -m rect"),
    "name the same file, v.npz": (2, "embed debian -o v.npz -m rect-l --save-model v.npz"),
    "there is no graph: name an edge file or .* `unseen init": (2, "explore"),
    "there is no graph: .* `unseen init": (2, "discover --embedding v.npz"),
    "there are no labels; .* at least one class with": (1, "predict edges.csv"),
    "cannot be combined .* leave out --method": (2, "explore --embedding v.npz --method rect"),
    "only .* RECT family": (2, "embed debian -o v.npz -m smoothfeats --save-model m.npz"),
}
"""What the last line says, the exit code, and the command."""


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_done_is_one_line(
    cli: Callable, files: Path, monkeypatch: pytest.MonkeyPatch, sentence: str
) -> None:
    monkeypatch.chdir(files)
    code, words = REFUSED[sentence]
    _one_line(cli(*words.split()), sentence, code)


def test_all_classes_unseen(cli: Callable, tmp_path: Path) -> None:
    everything = ",".join(unseen.load_dataset("debian").labels.classes)
    ran = cli("embed", "debian", "-o", tmp_path / "v.parquet", "--unseen", everything)
    _one_line(ran, "all 12 classes are unseen")


def test_a_label_without_a_vector_is_named(cli: Callable, files: Path) -> None:
    words = f"embed {files}/edges.csv -o {files}/v.parquet -m smoothfeats --dim 2"
    cli(*words.split(), code=0)
    (files / "more.csv").write_text("node,label\na b,x\nü,y\nnobody,x\n", "utf-8")
    ran = cli("evaluate", files / "v.parquet", "--labels", files / "more.csv")
    _one_line(ran, "the embedding has no .*'nobody'")
    _one_line(cli("evaluate", files / "v.parquet", "--labels", "debain"), "did you mean 'debian'")


def test_usage_errors_exit_with_2(cli: Callable) -> None:
    for words in ("embd", "embed", "embed debian", "embed debian -o v.parquet --seed x"):
        assert cli(*words.split()).code == 2


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
    words = f"embed {files}/edges.csv -o {files}/v.npz -m smoothfeats --dim 99".split()
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


def test_a_missing_file_is_called_by_the_argument_that_was_typed(tmp_path: Path, cli: Callable) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("node,label\na,x\n", "utf-8")
    assert "check the path given as SOURCE" in cli("discover", tmp_path / "e.csv", "--labels", labels).err
    assert "given as EMBEDDING" in cli("evaluate", tmp_path / "v.npz", "--labels", labels).err
    assert "given as NODES" in cli("accept", labels, tmp_path / "n.csv", "new-1=y", "--in-place").err
    assert "given as LABELS" in cli("accept", tmp_path / "l.csv", labels, "new-1=y", "--in-place").err
