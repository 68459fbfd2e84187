"""Folders that commands write into."""

from __future__ import annotations

from pathlib import Path

from unseen.errors import OutputError


def make_folder(folder: Path) -> None:
    """Create a folder if need be; one readable line if that cannot be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot create the folder {folder}: {error.strerror or error}; name another one"
        raise OutputError(msg) from None
