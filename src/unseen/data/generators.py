"""Graphs made to order: a planted partition with features, and the paper's scalability graph."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from unseen.data.datasets import Dataset, unweighted_adjacency
from unseen.errors import InputError
from unseen.graph import Graph
from unseen.ids import Ints
from unseen.labels import Labels
from unseen.params import Limits, check_argument
from unseen.randomness import RandomState, as_generator

MOST = " for a graph of this size"


def planted_partition(
    n_nodes: int = 300,
    n_classes: int = 5,
    *,
    degree_within: float = 6.0,
    degree_between: float = 2.0,
    n_words_per_class: int = 20,
    n_noise_words: int = 100,
    words_of_class: float = 4.0,
    words_of_noise: float = 4.0,
    random_state: RandomState = None,
) -> Dataset:
    """Make a graph whose classes are known: more edges inside a class, and words that hint at it.

    Parameters
    ----------
    n_nodes : int
        Number of nodes, spread over the classes as evenly as possible, in random order.
    n_classes : int
        Number of classes, named ``c0``, ``c1``, ...
    degree_within, degree_between : float
        Expected number of neighbours of a node in its own class and in all the others.
    n_words_per_class, n_noise_words : int
        Columns of features that belong to each class, and to none.
    words_of_class, words_of_noise : float
        Expected number of a node's words from its own class, and from all other columns.
    random_state : None, int or Generator
        Seed of everything drawn.

    Returns
    -------
    Dataset
        Every node is labelled; node ids are 0 ... n - 1; features are called ``c0_word3`` or ``noise7``.

    Examples
    --------
    >>> import unseen
    >>> unseen.planted_partition(100, 4, random_state=0).labels
    Labels(100 nodes, 100 labelled, 4 classes, single-label)
    """
    check_argument("n_classes", n_classes, int, Limits(1))
    check_argument("n_nodes", n_nodes, int, Limits(n_classes))
    check_argument("n_words_per_class", n_words_per_class, int, Limits(0))
    check_argument("n_noise_words", n_noise_words, int, Limits(0))
    smallest, columns = n_nodes // n_classes, n_classes * n_words_per_class + n_noise_words
    n_others = columns - n_words_per_class
    check_argument("degree_within", degree_within, float, Limits(0, smallest - 1), MOST)
    most_between = n_nodes - smallest - (n_nodes % n_classes > 0)
    check_argument("degree_between", degree_between, float, Limits(0, most_between), MOST)
    if n_words_per_class:
        check_argument("words_of_class", words_of_class, float, Limits(0, n_words_per_class), MOST)
    if n_others:
        check_argument("words_of_noise", words_of_noise, float, Limits(0, n_others), MOST)
    rng = as_generator(random_state)
    codes = rng.permutation(np.arange(n_nodes) % n_classes)
    members = [np.flatnonzero(codes == c) for c in range(n_classes)]
    within = degree_within / max(n_nodes / n_classes - 1, 1)
    between = degree_between / max(n_nodes - n_nodes / n_classes, 1)
    edges = []
    for a, first in enumerate(members):
        low, high = _pair(_draw(len(first) * (len(first) - 1) // 2, within, rng))
        edges.append(np.stack([first[low], first[high]]))
        for second in members[a + 1 :]:
            low, high = np.divmod(_draw(len(first) * len(second), between, rng), len(second))
            edges.append(np.stack([first[low], second[high]]))
    src, dst = np.concatenate(edges, axis=1)
    graph = Graph(unweighted_adjacency(src, dst, n_nodes))
    if columns:
        own_rows, own = np.divmod(
            _draw(n_nodes * n_words_per_class, words_of_class / max(n_words_per_class, 1), rng),
            max(n_words_per_class, 1),
        )
        noise_rows, noise = np.divmod(
            _draw(n_nodes * n_others, words_of_noise / max(n_others, 1), rng), max(n_others, 1)
        )
        own = own + codes[own_rows] * n_words_per_class
        # Skip the node's own block, so that the expected number of its words is exactly what was asked for.
        noise = noise + np.where(noise >= codes[noise_rows] * n_words_per_class, n_words_per_class, 0)
        ends = np.r_[own_rows, noise_rows], np.r_[own, noise]
        entries = np.ones(len(ends[0]), dtype=np.float32), ends
        names = [f"c{c}_word{k}" for c in range(n_classes) for k in range(n_words_per_class)]
        names += [f"noise{k}" for k in range(n_noise_words)]
        graph = graph.with_features(sp.csr_array(entries, shape=(n_nodes, columns)), names)
    indicator = sp.csr_array(
        (np.ones(n_nodes, dtype=bool), codes, np.arange(n_nodes + 1)), (n_nodes, n_classes)
    )
    classes = tuple(f"c{c}" for c in range(n_classes))
    return Dataset("planted-partition", graph, Labels(indicator, classes, graph.node_ids))


def random_graph(n_nodes: int, *, n_edges: int | None = None, random_state: RandomState = None) -> Graph:
    """Make a graph of edges drawn uniformly, without self-loops or repeats: the paper's scalability graph.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    n_edges : int, optional
        Number of different undirected edges; ``2 * n_nodes`` when not given, as in the paper, or
        all there can be in a graph of fewer than five nodes.
    random_state : None, int or Generator
        Seed of the draw.

    Returns
    -------
    Graph
        Without features; node ids are 0 ... n - 1.

    Examples
    --------
    >>> import unseen
    >>> unseen.random_graph(1000, random_state=0)
    Graph(1000 nodes, 2000 edges, no features)
    """
    check_argument("n_nodes", n_nodes, int, Limits(1))
    possible = n_nodes * (n_nodes - 1) // 2
    edges = min(2 * n_nodes, possible) if n_edges is None else n_edges
    check_argument("n_edges", edges, int, Limits(0))
    if edges > possible:
        msg = f"`n_edges` is {edges}, but {n_nodes} nodes have only {possible} pairs; ask for fewer edges"
        raise InputError(msg)
    low, high = _pair(_distinct(possible, edges, as_generator(random_state)))
    return Graph(unweighted_adjacency(low, high, n_nodes))


def _draw(population: int, probability: float, rng: np.random.Generator) -> Ints:
    """Draw each number below `population` with the same probability, at most 1."""
    return _distinct(population, int(rng.binomial(population, min(probability, 1.0))), rng)


def _distinct(population: int, size: int, rng: np.random.Generator) -> Ints:
    """Draw `size` different numbers below `population`, sorted, in memory of the order of `size`."""
    if 2 * size > population:
        mask = np.ones(population, dtype=bool)
        mask[_distinct(population, population - size, rng)] = False
        return np.flatnonzero(mask)
    numbers = np.zeros(0, dtype=np.int64)
    while len(numbers) < size:  # at most half is taken, so a round at least halves what is missing
        missing = size - len(numbers)
        more = rng.integers(population, size=missing + missing * size // population + 16, dtype=np.int64)
        numbers = np.sort(np.r_[numbers, more])  # np.unique hashes, which is ten times slower here
        numbers = numbers[np.r_[True, numbers[1:] != numbers[:-1]]]
    # All numbers have had the same chance; which of the surplus goes is drawn, too.
    return np.delete(numbers, rng.choice(len(numbers), len(numbers) - size, replace=False))


def _pair(number: Ints) -> tuple[Ints, Ints]:
    """Return the pair low < high of each number: 0 is (0, 1), 1 is (0, 2), 2 is (1, 2), 3 is (0, 3), ..."""
    high = ((1 + np.sqrt(1 + 8 * number.astype(np.float64))) / 2).astype(np.int64)
    # The square root of a large number may be off by one either way.
    high -= high * (high - 1) // 2 > number
    high += high * (high + 1) // 2 <= number
    return number - high * (high - 1) // 2, high
