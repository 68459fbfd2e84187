"""Ctrl-C while files are written: nothing half-written is left, or its name is printed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from unseen.data import files
from waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.processes]


def leftovers(folder: Path) -> list[Path]:
    return list(folder.glob(".unseen-*"))


def test_ctrl_c_while_the_output_is_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("src,dst\n" + "".join(f"n{i},n{(i + 1) % 200}\n" for i in range(200)))
    (tmp_path / "l.csv").write_text("node,label\n" + "".join(f"n{i},{'abc'[i // 50]}\n" for i in range(150)))
    words = [sys.executable, "-m", "unseen", "discover", "e.csv", "--labels", "l.csv", "-o", "out.csv"]
    for _ in range(2):
        with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
            wait_for(lambda p=process: bool(leftovers(tmp_path)) or p.poll() is not None, "a temporary file")
            process.send_signal(signal.SIGINT)
            told = process.communicate(timeout=120)[1]
        if process.returncode:
            assert process.returncode == 130
            assert "no half-written file was left behind" in told
        assert leftovers(tmp_path) == []
        (tmp_path / "out.csv").unlink(missing_ok=True)


def test_a_file_left_by_an_interrupt_is_removed_or_named(tmp_path: Path) -> None:
    interrupted = [
        files.atomic_path(tmp_path / "out.csv") for _ in range(2)
    ]  # between two steps of the block
    left = interrupted[0].__enter__()
    assert left.exists()
    assert files.remove_temporaries() == []
    assert not left.exists()
    stuck = interrupted[1].__enter__().parent
    tmp_path.chmod(0o500)
    try:
        named = files.remove_temporaries()
        assert named == [path for path in (stuck,) if path.exists()]
    finally:
        tmp_path.chmod(0o700)
