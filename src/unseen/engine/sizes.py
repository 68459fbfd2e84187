"""Sizes of memory in words, `2GB`, `500 MB`, and how much this process has held."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from unseen.errors import InputError

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?)(I?)B?\s*", re.IGNORECASE)


def parse_size(text: str, flag: str = "--memory") -> int:
    """Return the bytes that a text like ``2GB`` or ``512MiB`` means.

    Examples
    --------
    >>> parse_size("2GB"), parse_size("1.5 MiB"), parse_size("1000")
    (2000000000, 1572864, 1000)
    """
    found = _SIZE.fullmatch(text)
    if found is None:
        msg = f"`{flag}` takes a size such as 500MB or 2GB, got {text!r}"
        raise InputError(msg)
    number, unit, binary = found.groups()
    unit = unit.upper()
    factor = 1024 ** "KMGT".index(unit) * 1024 if binary and unit else _UNITS[unit]
    return int(float(number) * factor)


def shown_size(n_bytes: float) -> str:
    """Return bytes as a person reads them.

    Examples
    --------
    >>> shown_size(2_560_000_000), shown_size(900)
    ('2.6 GB', '900 B')
    """
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.1f} {name}"
    return f"{n_bytes:.0f} B"


def peak_bytes() -> float:
    """Return the most memory that this process has held so far; 0 where the system does not say.

    Examples
    --------
    >>> peak_bytes() >= 0
    True
    """
    status = Path("/proc/self/status")
    if status.is_file():  # getrusage would count the parent's memory too: it survives the start of a program
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) * 1024.0
    try:
        import resource  # not on Windows
    except ImportError:
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
