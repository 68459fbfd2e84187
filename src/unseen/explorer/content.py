"""What an explorer page shows, as values: whatever is None is left out of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.explorer.palette import CLASSES, SHAPES

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Category:
    """One entry of a legend.

    Parameters
    ----------
    name : str
        What the legend says.
    number : int
        Which colour and shape it takes; equal numbers look alike in every colouring.
    caption : str
        What is added to the name of a found class.
    quiet : bool
        Whether its nodes stay in the background.
    hollow : bool
        Whether its nodes are rings, where the first step of a scale looks much like the background.
    step : int or None
        Its place on the scale of probabilities, which has colours of its own.

    Examples
    --------
    >>> Category("mail", 8).to_dict()["shape"]
    1
    """

    name: str
    number: int = 0
    caption: str = ""
    quiet: bool = False
    hollow: bool = False
    step: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it for the page."""
        colours = len(CLASSES["light"])
        plain = self.quiet or self.step is not None
        entry: dict[str, Any] = {
            "name": self.name,
            "caption": self.caption,
            "quiet": self.quiet,
            "colour": self.number % colours,
            "shape": SHAPES.index("ring")
            if self.hollow
            else 0
            if plain
            else self.number // colours % len(SHAPES),
        }
        return entry if self.step is None else {**entry, "step": self.step}


@dataclass(frozen=True, eq=False)
class Colouring:
    """One way to colour the map: a category for every node.

    Examples
    --------
    >>> import numpy as np
    >>> Colouring("label", "Label", (Category("red"),), np.zeros(3, int)).key
    'label'
    """

    key: str
    name: str
    categories: tuple[Category, ...]
    codes: Ints


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of different lengths, one per node: how long each is, all their entries, and what these are called."""

    counts: Ints
    values: Ints
    names: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Words:
    """Features of every node in words, the most telling first.

    Parameters
    ----------
    title : str
        Heading.
    lists : Lists
        Which features to tell of each node.
    total : array
        How many it has in all.
    numbers : array or None
        Value of each entry of `lists`; None where all are 1.
    means : array or None
        Mean of each named feature, to compare with.
    """

    title: str
    lists: Lists
    total: Ints
    numbers: npt.NDArray[np.float32] | None = None
    means: npt.NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Evidence:
    """Why nodes got their probabilities: for each part its two sentences, and ranks from 0 to 1, NaN for none."""

    sentences: tuple[tuple[str, str], ...]
    ranks: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Page:
    """Everything on one explorer page; rows are the nodes drawn.

    Parameters
    ----------
    title, subtitle : str
        Texts at the top.
    node_ids : sequence of str
        One per row.
    positions : array, shape (n, 2)
        The map.
    colourings : sequence of Colouring
        At least one; the first is shown at the start.
    edges : Lists or None
        For each node its neighbours of higher row number.
    labels, truth : Lists or None
        Labels the method saw, and those it did not.
    features : Words or None
        Features in words.
    probability : array or None
        Probability of a hidden class, NaN for labelled nodes.
    evidence : Evidence or None
        Where the probabilities come from.
    found, audit, self_test : dict or None
        Contents of the panel.
    suggestions : sequence of dict or None
        Nodes to label next.
    notes : sequence of str
        What a reader must know about the page.
    """

    title: str
    subtitle: str
    node_ids: Sequence[str]
    positions: npt.NDArray[np.float64]
    colourings: Sequence[Colouring]
    edges: Lists | None = None
    labels: Lists | None = None
    truth: Lists | None = None
    features: Words | None = None
    probability: npt.NDArray[np.float64] | None = None
    evidence: Evidence | None = None
    found: dict[str, Any] | None = None
    audit: dict[str, Any] | None = None
    self_test: dict[str, Any] | None = None
    suggestions: Sequence[dict[str, Any]] | None = None
    notes: Sequence[str] = ()
