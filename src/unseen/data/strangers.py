"""Sentences about nodes that stand in one source and not in another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.data.ids import Numbering
from unseen.errors import InputError

if TYPE_CHECKING:
    from unseen.data.pieces import FeatureRows


def nothing_in_common(one: str, ids: Sequence[Any], other: str, others: Sequence[Any]) -> str:
    """Return the sentence about two sources that share no id, with three of each.

    Examples
    --------
    >>> nothing_in_common("'e.csv'", ["a"], "'l.csv'", [1, 2, 3, 4])
    "'e.csv' and 'l.csv' have no id in common: 'a' there, 1, 2, 3 here"
    """
    shown = [", ".join(repr(each) for each in list(some[:3])) for some in (ids, others)]
    return f"{one} and {other} have no id in common: {shown[0]} there, {shown[1]} here"


def refuse_apart(edges: str, table: FeatureRows | None, numbering: Numbering) -> None:
    """Raise an `InputError` if no node that the edges, or the nodes before them, name has a row of features."""
    named, own = np.concatenate([*numbering.before, *numbering.columns]), numbering.after[0]
    if table is None or table.ids is None or not len(named) or not len(own) or np.isin(named, own).any():
        return
    shown = [numbering.ids[np.unique(part)[:3]].tolist() for part in (named, own)]
    same = nothing_in_common(edges, shown[0], table.source, shown[1])
    msg = f"{same}; check that both files name the nodes in the same way"
    raise InputError(msg)


def missing_features(source: str, missing: int, nodes: str, first: object, numbered: int) -> InputError:
    """Return the error for nodes without features; `numbered` is the number of rows where they name no nodes."""
    remedy = (
        f"it names no nodes, so that its {numbered} rows belong to the nodes 0 to {numbered - 1}: "
        "give the ids with the features, or `nodes` in the order of the rows"
        if numbered
        else "add rows for them (zeros, if nothing is known) or remove these nodes"
    )
    return InputError(f"{source} has no row for {missing} of the {nodes}, the first is {first!r}; {remedy}")
