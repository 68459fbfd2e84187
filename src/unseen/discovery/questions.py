"""Which nodes a question is asked about: typical ones of fine groups and of bare parts, and those that tell most."""

from __future__ import annotations

import numpy as np

from unseen.discovery.groups import sort_into_groups
from unseen.discovery.result import CERTAIN
from unseen.discovery.vectors import k_means
from unseen.ids import Floats, Ints, Mask, Singles
from unseen.linalg.normalize import l2_rows

FINE_GROUPS = 6
"""Questions that settle the number of classes, where one to three are missing."""


def fine_questions(metric: Singles, new: Ints, p: Floats, answered: Mask, seed: int) -> list[int]:
    """Return a typical node of each fine group of new nodes that has no answer yet.

    That of the largest group comes first, then always the one least like those before it.
    """
    questions = []
    for rows in sort_into_groups(metric, new, np.maximum(p[new], CERTAIN), FINE_GROUPS, seed, over=1):
        if not answered[rows].any():
            middle = l2_rows((p[rows] @ metric[rows])[None, :])[0]
            questions.append(int(rows[np.argmax((metric[rows] @ middle) * p[rows])]))
    first = np.arange(min(1, len(questions)))
    order = spread_out(metric[questions], np.ones(len(questions)), first, len(questions))
    return [questions[k] for k in order]


def spread_out(vectors: Singles, p: Floats, first: Ints, budget: int) -> Ints:
    """Return rows: those of `first`, then one after another the largest probability times distance to the chosen."""
    selection: list[int] = []
    distance = np.full(len(p), 2.0)
    for step in range(min(budget, len(p))):
        gain = (p + 1e-6) * distance
        gain[selection] = -1.0
        row = int(first[step]) if step < len(first) else int(gain.argmax())
        selection.append(row)
        distance = np.minimum(distance, np.maximum(1 - vectors @ vectors[row], 0.0))
    return np.array(selection, dtype=np.int64)


def find_bare_parts(vectors: Singles, codes: Ints, is_labelled: Mask, is_open: Mask, count: int) -> list[int]:
    """Return a typical node of each part of a class that has fewer labels than its size suggests, the barest first.

    A small missing class that resembles a labelled one lies inside of it or at its border, where labels are rare. The
    vectors have length 1, `codes` are the classes or likely classes of all nodes, and `is_open` says which nodes may be
    asked about.
    """
    found = []
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        rows = rows[:: 1 + len(rows) // 6000]
        k = min(len(rows) // 20, 30)  # parts of at least 20 nodes
        if k < 2:
            continue
        own = l2_rows(vectors[rows] - vectors[rows].mean(axis=0))
        machine = k_means(own, k, 0, n_init=1)
        parts, centres = machine.labels_, machine.cluster_centers_
        labels, sizes = np.bincount(parts, is_labelled[rows], k), np.bincount(parts, minlength=k)
        rate = is_labelled[rows].mean()
        lack = (rate * sizes - labels) / np.sqrt(np.maximum(rate * (1 - rate) * sizes, 1e-12))
        near = np.where(is_open[rows], np.einsum("ij,ij->i", own, centres[parts]), -np.inf)
        for part in range(k):
            best = int(np.argmax(np.where(parts == part, near, -np.inf)))
            if parts[best] == part and np.isfinite(near[best]):
                found.append((-lack[part], int(rows[best])))
    return [row for _, row in sorted(found)[:count]]


def most_telling(vectors: Singles, doubt: Floats, labelled: Singles, first: Ints, budget: int) -> Ints:
    """Return rows: those of `first`, then one after another the node whose label takes most doubt from all nodes.

    A ridge regression on the vectors is the less certain about a node u, the larger u' M^-1 u is, with M = I + the sum
    of x x' over the labelled x. A label of x lowers that by (u' M^-1 x)^2 / (1 + x' M^-1 x). Summed over all u, each by
    its doubt (how probable it is that what is predicted is wrong), this is large for nodes that many doubtful ones are
    like, and small beside labels and rows chosen before. All vectors have length 1.
    """
    inverse = np.linalg.inv(np.eye(vectors.shape[1]) + (labelled.T @ labelled).astype(np.float64))
    doubtful = (vectors.T @ (vectors * doubt[:, None].astype(np.float32))).astype(np.float64)
    known = vectors @ inverse.astype(np.float32)
    variance = np.einsum("ij,ij->i", known, vectors).astype(np.float64)
    gain = np.einsum("ij,ij->i", known @ doubtful.astype(np.float32), known).astype(np.float64)
    selection: list[int] = []
    for step in range(min(budget, len(doubt))):
        telling = gain / (1 + variance)
        telling[selection] = -np.inf
        row = int(first[step]) if step < len(first) else int(telling.argmax())
        selection.append(row)
        # what a label changes, by the formula of Sherman and Morrison
        along, less = inverse @ vectors[row], 1 + variance[row]
        onto, back = vectors @ along.astype(np.float32), inverse @ (doubtful @ along)
        gain += (
            onto * (onto * (along @ doubtful @ along) / less - 2 * (vectors @ back.astype(np.float32))) / less
        )
        variance -= np.square(onto) / less
        inverse -= np.outer(along, along) / less
    return np.array(selection, dtype=np.int64)
