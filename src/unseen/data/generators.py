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
    smallest = n_nodes // n_classes
    check_argument("degree_within", degree_within, float, Limits(0, smallest - 1), MOST)
    most_between = n_nodes - smallest - (n_nodes % n_classes > 0)
    check_argument("degree_between", degree_between, float, Limits(0, most_between), MOST)
    columns = n_classes * n_words_per_class + n_noise_words
    if n_words_per_class:
        check_argument("words_of_class", words_of_class, float, Limits(0, n_words_per_class), MOST)
    others = columns - n_words_per_class
    if others:
        check_argument("words_of_noise", words_of_noise, float, Limits(0, others), MOST)
    rng = as_generator(random_state)
    codes = rng.permutation(np.arange(n_nodes) % n_classes)
    members = [np.flatnonzero(codes == c) for c in range(n_classes)]
    within = degree_within / max(n_nodes / n_classes - 1, 1)
    between = degree_between / max(n_nodes - n_nodes / n_classes, 1)
    blocks = [
        _block(members[a], members[b], min(within if a == b else between, 1.0), rng)
        for a in range(n_classes)
        for b in range(a, n_classes)
    ]
    src, dst = np.concatenate(blocks, axis=1)
    features = _words(codes, n_classes, n_words_per_class, n_noise_words, words_of_class, words_of_noise, rng)
    names = [f"c{c}_word{k}" for c in range(n_classes) for k in range(n_words_per_class)]
    names += [f"noise{k}" for k in range(n_noise_words)]
    adjacency = unweighted_adjacency(src, dst, n_nodes)
    graph = Graph(adjacency, features if columns else None, feature_names=tuple(names) or None)
    one_each = (np.ones(n_nodes, dtype=bool), codes, np.arange(n_nodes + 1))
    indicator = sp.csr_array(one_each, shape=(n_nodes, n_classes))
    classes = tuple(f"c{c}" for c in range(n_classes))
    return Dataset("planted-partition", graph, Labels(indicator, classes, graph.node_ids))


def planted_roles(
    n_nodes: int = 1200, n_levels: int = 5, *, degree: float = 12.0, random_state: RandomState = None
) -> Dataset:
    """Make a graph whose classes are levels of activity and not communities; it has no features.

    An edge joins two nodes by their activities alone. The activity of each level is 1.9 times that of the level below,
    and nodes of a level differ by a factor of about 1.3.

    Parameters
    ----------
    n_nodes, n_levels : int
        Number of nodes and of levels, which have as many nodes each and are named ``level0``, ``level1``, ...
    degree : float
        Mean number of neighbours, before edges that are drawn twice are merged.
    random_state : None, int or Generator
        Seed of everything drawn.

    Examples
    --------
    >>> planted_roles(200, random_state=0).labels
    Labels(200 nodes, 200 labelled, 5 classes, single-label)
    """
    check_argument("n_levels", n_levels, int, Limits(1))
    check_argument("n_nodes", n_nodes, int, Limits(n_levels))
    check_argument("degree", degree, float, Limits(0, n_nodes - 1))
    rng = as_generator(random_state)
    codes = rng.permutation(np.arange(n_nodes) % n_levels)
    activity = 1.9**codes * np.exp(0.25 * rng.standard_normal(n_nodes))
    ends = rng.choice(n_nodes, (2, int(n_nodes * degree / 2)), p=activity / activity.sum())
    src, dst = ends[:, ends[0] != ends[1]]
    graph = Graph(unweighted_adjacency(src, dst, n_nodes), None)
    return Dataset("planted-roles", graph, Labels.from_values([f"level{c}" for c in codes], graph.node_ids))


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
    numbers = _distinct(possible, edges, as_generator(random_state))
    low, high = _pair(numbers)
    return Graph(unweighted_adjacency(low, high, n_nodes))


def _block(first: Ints, second: Ints, probability: float, rng: np.random.Generator) -> Ints:
    """Return the edges between two groups, or inside one, each pair with the given probability."""
    inside = first is second
    pairs = len(first) * (len(first) - 1) // 2 if inside else len(first) * len(second)
    numbers = _distinct(pairs, int(rng.binomial(pairs, probability)), rng)
    if inside:
        low, high = _pair(numbers)
        return np.stack([first[low], first[high]])
    return np.stack([first[numbers // len(second)], second[numbers % len(second)]])


def _words(
    codes: Ints,
    n_classes: int,
    n_own: int,
    n_noise: int,
    mean_own: float,
    mean_noise: float,
    rng: np.random.Generator,
) -> sp.csr_array:
    """Return binary words: some of a node's own class, some of all other columns."""
    n, columns = len(codes), n_classes * n_own + n_noise
    own = _distinct(n * n_own, int(rng.binomial(n * n_own, mean_own / n_own)) if n_own else 0, rng)
    others = columns - n_own
    noise = _distinct(n * others, int(rng.binomial(n * others, mean_noise / others)) if others else 0, rng)
    own_rows, own_columns = np.divmod(own, max(n_own, 1))
    own_columns = own_columns + codes[own_rows] * n_own
    noise_rows, noise_columns = np.divmod(noise, max(others, 1))
    # Skip the node's own block, so that the expected number of its words is exactly what was asked for.
    noise_columns = noise_columns + np.where(noise_columns >= codes[noise_rows] * n_own, n_own, 0)
    rows, words = np.r_[own_rows, noise_rows], np.r_[own_columns, noise_columns]
    return sp.coo_array((np.ones(len(rows), dtype=np.float32), (rows, words)), shape=(n, columns)).tocsr()


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
