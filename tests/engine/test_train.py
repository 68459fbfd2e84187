"""The entry point for parts on systems that lack what Linux has."""

from __future__ import annotations

import subprocess
import sys

import pytest

from unseen.engine.train import trainable

WITHOUT_RESOURCE = """
import sys
sys.modules["resource"] = None  # importing it fails, as on Windows
import importlib
for name in ("unseen.scale.__main__", "unseen.cli.scale", "unseen.engine.train"):
    importlib.import_module(name)
"""


def test_it_can_be_imported_where_the_module_resource_is_missing() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_RESOURCE], check=True)


def test_the_methods_themselves_say_whether_they_train_on_parts() -> None:
    pytest.importorskip("torch")
    assert trainable() == ["mfdw", "rect", "rect-l", "rect-n", "rect-plus", "rsdne-light", "smoothfeats"]
