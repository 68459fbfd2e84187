"""Moved to unseen.data.files; this name goes with the rest of unseen.io."""

from unseen.data.files import (
    AnyPath,
    atomic_path,
    atomic_paths,
    make_folder,
    require_writable,
)
from unseen.data.files import explained as _explained

__all__ = [
    "AnyPath",
    "_explained",
    "atomic_path",
    "atomic_paths",
    "make_folder",
    "require_writable",
]
