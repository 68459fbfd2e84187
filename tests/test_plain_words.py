"""The language of the project: phrases that must not come back, short sentences, short pages, plain names."""

from __future__ import annotations

import ast
import re
import statistics
from pathlib import Path

import pytest

import unseen

SOURCE = Path(unseen.__file__).parent
ROOT = SOURCE.parent.parent
pytestmark = pytest.mark.skipif(
    not (ROOT / "docs" / "conf.py").exists(), reason="needs the source tree, this is an installed copy"
)
PHRASES = (
    *("is told how much", "what is none", "edges are none", "listened to", "nothing speaks against"),
    *("to whom it belongs", "did not come about", "begun without a word", "make vectors that serve"),
    *("to look at all of it", "finds out anew", "what becomes of", "without their sign", "was folded"),
    *("need it so", "and 60 of the rest", "stands in no other", "as a header would"),
    *("such questions settle", "columns together", "of missing classes are", "if of a labelled class"),
    *("in a hidden class", "let go", "take it, with my answers", "take it as it is", "keep mine"),
    *("suffer from", "what holds here", "is refused in a sentence", "found again", "labels in doubt"),
    *("the plain graph", "is said", "anew", "nobody labelled", "one corner", "self-test"),
)
"""Wording of earlier versions, in lower case; none of it may be in the product or its documentation."""
NAMES = {
    *("settled", "joined", "kept", "told", "beside", "together", "around", "more", "rest"),
    *("own", "each", "alone", "listed", "given", "wanted", "said"),
}
"""Names that are bare participles, prepositions or pronouns."""
MADE = {"run", "project", "tutorials", "gallery", "api"}
"""Folders of docs/ that a build writes."""
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [
    page for page in PAGES if not MADE & set(page.relative_to(ROOT).parts) and "reference" not in page.parts
]
REFERENCE = ("formats.md", "performance.md", "scale.md", "users.md")
"""Pages of figures and tables to look things up in."""


def product_files() -> list[Path]:
    files = [path for path in SOURCE.rglob("*") if path.suffix in (".py", ".pyi", ".js", ".html", ".css")]
    examples = (ROOT / "docs" / "examples").rglob("*.py")
    return [*files, *PAGES, *examples, ROOT / "SECURITY.md", ROOT / "CONTRIBUTING.md"]


def sentence_lengths(text: str) -> list[int]:
    """Return the number of words of every sentence, without code, tables and headings."""
    text = re.sub(r"(?s)```.*?```|\$\$.*?\$\$", "", text)
    text = re.sub(r"(?m)^\s*\|.*$|^#.*$", "", text)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "x", text))
    paragraphs = re.split(r"\n\s*\n|\n(?=\s*[-*\d])", text)
    sentences = [
        part for paragraph in paragraphs for part in re.split(r"(?<=[.!?:])\s+", " ".join(paragraph.split()))
    ]
    return [len(sentence.split()) for sentence in sentences if len(sentence.split()) > 2]


def test_phrases_of_earlier_versions_do_not_come_back() -> None:
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, PHRASES))})\b")
    found = {
        str(path.relative_to(ROOT)): sorted(set(pattern.findall(path.read_text(encoding="utf-8").lower())))
        for path in product_files()
    }
    assert not {path: phrases for path, phrases in found.items() if phrases}


def test_sentences_of_the_pages_are_short() -> None:
    lengths = [length for page in PAGES for length in sentence_lengths(page.read_text(encoding="utf-8"))]
    assert statistics.median(lengths) <= 18


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_short(page: Path) -> None:
    most = 700 if page.parent.name == "howto" else 1200
    text = page.read_text(encoding="utf-8")
    assert page.name in REFERENCE or len(text.split()) <= most
    assert page.name in REFERENCE or statistics.median(sentence_lengths(text) or [0]) <= 18


def test_no_function_is_called_by_a_bare_participle_and_a_class_name_means_one_thing() -> None:
    places: dict[str, set[Path]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.name.strip("_") not in NAMES, f"{path.relative_to(SOURCE)}: {node.name}"
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name.strip("_"), set()).add(path.relative_to(SOURCE))
    assert not {name: paths for name, paths in places.items() if len(paths) > 1}
