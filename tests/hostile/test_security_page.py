"""SECURITY.md promises what tests hold, and its bounds are those of the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from unseen.data import databases, opened
from unseen.explorer.label.server import REQUEST_SECONDS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_every_test_that_is_named_exists() -> None:
    named = set(re.findall(r"`((?:paper/)?tests/[\w/]+\.py)::(\w+)`", PAGE))
    assert len(named) > 12
    for file, name in named:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        functions = {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
        assert name in functions, f"{file} has no {name}"


def test_every_promise_names_a_test() -> None:
    part = PAGE.partition("## What others can and cannot do")[2].partition("## Bounds")[0]
    promises = [line for line in part.splitlines() if line.startswith("- ")]
    assert promises
    for line in promises:
        assert "`tests/" in line, line


def test_the_numbers_are_those_of_the_code() -> None:
    assert f"{opened.RATIO:,} times its size plus {opened.BASE // 10**6} MB" in PAGE
    assert f"{opened.WORK_BYTES} bytes for each byte of values, {opened.ROW_BYTES} for each row and" in PAGE
    assert f" {opened.ROW_BYTES * opened.NODE_ROWS} for each node of a matrix" in PAGE
    assert f"at most {opened.MAX_DEPTH} levels of brackets" in PAGE
    assert f"{databases.SECONDS} s and {databases.SECONDS_PER_MEGABYTE} s for each megabyte" in PAGE
    assert f"closed after {REQUEST_SECONDS} seconds" in PAGE
    assert opened.VARIABLE in PAGE
