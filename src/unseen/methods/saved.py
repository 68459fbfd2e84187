"""Methods that can be kept in a file."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from unseen.errors import InputError
from unseen.methods.base import Method

if TYPE_CHECKING:
    from typing import Self


class SavedMethod(Method):
    """A method whose fitted state is arrays and plain values, so that it can be written and read again."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted method to a file (numpy arrays and JSON, no pickle), for :meth:`load`.

        The file holds the parameters, the weights, the vectors and the node ids; functions among the
        parameters (callbacks, a readout of one's own) are left out.
        """
        from unseen.methods.saving import save_method

        save_method(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Return a method that :meth:`save` wrote; the file must hold one of this class."""
        from unseen.methods.saving import load_method

        loaded = load_method(path)
        if not isinstance(loaded, cls):
            msg = f"{path}: the file holds a {type(loaded).__name__}, not a {cls.__name__}"
            raise InputError(msg)
        return loaded
