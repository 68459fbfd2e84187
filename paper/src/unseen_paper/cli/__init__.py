"""The commands that this distribution adds to `unseen`."""

from unseen.cli import options
from unseen.errors import InputError


def numbers(text: str, flag: str) -> list[float]:
    """Split a comma-separated list of numbers."""
    try:
        return [float(part) for part in options.names(text)]
    except ValueError:
        msg = f"`{flag}` takes numbers separated by commas, got {text!r}"
        raise InputError(msg) from None
