"""The ways to colour the map, from labels and from what discovery found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from unseen.explorer.content import Content, Ints, category, colouring
from unseen.labels import Labels

EDGES = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Where the scale of probabilities changes colour."""
STEP_NAMES = ("below 10 %", "10 to 25 %", "25 to 50 %", "50 to 75 %", "75 to 90 %", "90 % and more")


def by_label(key: str, name: str, labels: Labels, number: Mapping[str, int]) -> Content:
    """Colour by label; the first one of a node that has several."""
    first = np.zeros(labels.n_nodes, dtype=np.int64)
    starts = labels.indicator.indptr[labels.labelled]
    first[labels.labelled] = labels.indicator.indices[starts] + 1
    several = " (first of several)" if labels.is_multilabel else ""
    categories = [category(each, number[each]) for each in labels.classes]
    return colouring(key, name + several, [category("no label", quiet=True), *categories], first)


def by_name(
    key: str, name: str, values: Sequence[str | None], looks: Mapping[str, Content], nothing: str
) -> Content:
    """Colour by one name per node, among the names of `looks`; None is `nothing`."""
    code = {each: k + 1 for k, each in enumerate(looks)}
    codes = np.fromiter((0 if value is None else code[value] for value in values), np.int64, len(values))
    return colouring(key, name, [category(nothing, quiet=True), *looks.values()], codes)


def by_probability(probability: npt.NDArray[np.float64]) -> Content:
    """Colour by the probability of a hidden class, in steps; NaN are labelled nodes."""
    steps = [category(name, step=k) for k, name in enumerate(STEP_NAMES)]
    codes: Ints = np.searchsorted(EDGES, np.nan_to_num(probability), side="right") + 1
    codes = np.where(np.isnan(probability), 0, codes)
    labelled = category("labelled", quiet=True, hollow=True)
    return colouring("probability", "Hidden-class probability", [labelled, *steps], codes)
