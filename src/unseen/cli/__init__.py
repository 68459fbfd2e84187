"""The command `unseen`: thin, it parses, calls and prints."""

from __future__ import annotations

import sys
from collections.abc import Sequence

_process = {"is_ours": False}


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 failed with one readable line, 2 wrong usage, 130 interrupted."""
    _process["is_ours"] = True
    try:
        from unseen.cli.app import run

        code = run(sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt:  # while the program was still loading
        sys.stderr.write("unseen: interrupted\n")
        code = 130
    sys.exit(code)


class _NoPandas:  # `sys.modules["pandas"] = None` is not enough: compiled modules take the None for pandas
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:  # noqa: ARG002
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


def skip_pandas() -> None:
    """Keep pyarrow from loading pandas at its first conversion: 0.8 s for what no command needs.

    pyarrow looks once, here in vain, and again where somebody asks for a data frame. In a process that is not the
    command's own nothing is done.
    """
    if not _process["is_ours"] or "pandas" in sys.modules:
        return
    import pyarrow as pa

    finder = _NoPandas()
    sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(finder)  # type: ignore[arg-type]
