"""How sources are read: one value for every reader and every command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict, get_args

from unseen.errors import InputError

if TYPE_CHECKING:
    from unseen.weights import Symmetrize


Missing = Literal["median", "zero", "error"]
"""What to put in place of missing numbers among the features."""


class OptionNames(TypedDict, total=False):
    """The options as keyword arguments, for functions that hand them on."""

    header: bool | None
    delimiter: str | None
    symmetrize: Symmetrize
    drop_negative: bool
    strict: bool
    directed: bool
    absolute: bool
    src: str | None
    dst: str | None
    weight: str | None
    node_column: str | None
    label_column: str | None
    edges_table: str | None
    missing: Missing
    max_memory: int | str | None


@dataclass(frozen=True)
class Options:
    """How sources are read; :func:`unseen.read` says what each option means."""

    header: bool | None = None
    delimiter: str | None = None
    symmetrize: Symmetrize = "max"
    drop_negative: bool = False
    strict: bool = False
    directed: bool = False
    absolute: bool = False
    src: str | None = None
    dst: str | None = None
    weight: str | None = None
    node_column: str | None = None
    label_column: str | None = None
    edges_table: str | None = None
    missing: Missing = "median"
    max_memory: int | str | None = None

    def column_names(self, role: str) -> dict[str, str]:
        """Return the names that were given for columns of a role, by what they stand for."""
        given = {"src": self.src, "dst": self.dst, "weight": self.weight}
        if role != "edges":
            given = {"node": self.node_column, "label": self.label_column if role == "labels" else None}
        return {usual: name for usual, name in given.items() if name}

    @property
    def label_names(self) -> set[str]:
        """The names of columns that hold labels in any table, in lower case."""
        return {"label", *([self.label_column.strip().lower()] if self.label_column else [])}

    def __post_init__(self) -> None:
        from unseen.weights import check_symmetrize

        check_symmetrize(self.symmetrize)
        if self.missing not in get_args(Missing):
            msg = f"`missing` (--missing) must be 'median', 'zero' or 'error', got {self.missing!r}"
            raise InputError(msg)
        if self.drop_negative and self.absolute:
            msg = "`drop_negative` (--drop-negative) and `absolute` (--absolute) do not go together; give one"
            raise InputError(msg)
        character = self.delimiter
        if character is None:
            return
        usable = isinstance(character, str) and len(character) == 1 and character.isascii()
        if not usable or character in '"\n\r\0#':
            msg = f"`delimiter` must be one character such as ',', ';', ' ' or a tab, got {character!r}"
            raise InputError(msg)
