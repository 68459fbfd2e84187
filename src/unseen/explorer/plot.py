"""Pictures for papers and notebooks, by matplotlib: the map of the nodes, with a colour for each class or a scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.data.objects_plain import as_labels
from unseen.embedding import Embedding
from unseen.errors import need_library
from unseen.explorer import palette
from unseen.explorer.layout import lay_out
from unseen.graph import Graph

MARKERS = "o^sDPXv"
"""Shapes of classes, where there are more of these than colours."""


def plot_map(embedding: Embedding, colour: Any = None, *, ax: Any = None, random_state: Any = 0) -> Any:
    """Draw the map of the nodes (t-SNE) and return matplotlib's axes; see :meth:`unseen.Embedding.plot`."""
    need_library("matplotlib", "a plot", "viz")
    if ax is None:
        import matplotlib.pyplot as plt  # so that a notebook shows the picture, as it does those of pandas

        ax = plt.subplots(figsize=(6, 5), layout="constrained")[1]
    places = lay_out(embedding.vectors, random_state)
    size = float(np.clip(2e4 / max(len(places), 1), 2, 30))
    ax.set(xticks=[], yticks=[], aspect="equal")
    values = colour if isinstance(colour, np.ndarray) and colour.dtype.kind == "f" else None
    if values is not None:
        drawn = ax.scatter(*places.T, c=values, s=size, cmap="viridis", linewidths=0)
        ax.figure.colorbar(drawn, ax=ax, shrink=0.7)
        return ax
    n = len(embedding)
    nodes = Graph(sp.csr_array((n, n)), node_ids=embedding.node_ids)
    labels = as_labels([None] * n if colour is None else colour, nodes).align_to(nodes)
    unlabelled = np.flatnonzero(np.diff(labels.indicator.indptr) == 0)
    ax.scatter(*places[unlabelled].T, s=size, linewidths=0, c=palette.QUIET["light"], alpha=0.4)
    hues = palette.CLASSES["light"]
    for k, name in enumerate(labels.classes):
        rows = labels.indicator[:, [k]].nonzero()[0]
        marker = MARKERS[k // palette.SAFE % len(MARKERS)]
        ax.scatter(*places[rows].T, s=size, linewidths=0, c=hues[k % len(hues)], marker=marker, label=name)
    if labels.classes:
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize="small")
    return ax
