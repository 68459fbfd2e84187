"""The command `unseen`: thin, it parses, calls and prints."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 failed with one readable line, 2 wrong usage, 130 interrupted."""
    try:
        from unseen.cli.app import run

        code = run(sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt:  # while the program was still loading
        sys.stderr.write("unseen: interrupted\n")
        code = 130
    sys.exit(code)
