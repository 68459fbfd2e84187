"""Every parameter of the methods: its type, its limits and its meaning, once.

A method's class body takes them with a default of its own, ``epochs: Epochs = 200``, and may narrow the limits:
``max_iter: Annotated[Rounds, Limits(1)] = 20``. A second alias of a name is for a really different meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from unseen.params import Limits
from unseen.randomness import RandomState

if TYPE_CHECKING:
    from unseen.engine.steps import Epoch
else:
    Epoch = Any

# what every method has, or nearly
Seed = Annotated[
    RandomState,
    Limits(0),
    "Seed of everything random, which belongs to node ids and not to rows. The same seed gives the same bits for any "
    "number of threads.",
]
Columns = Annotated[
    int | None,
    Limits(1),
    "Number of columns; None means {cls._traits.default_components}, or as many as the graph allows.",
]
Device = Annotated[
    str,
    'Where to compute: "cpu", "cuda", or "cuda:1" for the second GPU; "auto" takes a GPU where there is one.',
]
Callbacks = Annotated[
    Iterable[Callable[[Epoch], object]] | Callable[[Epoch], object] | None,
    "Functions that are called after every epoch or round with what is known of it; a true answer stops the training.",
]

# training
Epochs = Annotated[int, Limits(0), "Passes over the graph, at most."]
Rounds = Annotated[int, Limits(0), "Rounds of the alternation, at most."]
LearningRate = Annotated[float, Limits(0, open_low=True), "Step size of Adam."]
RoundTolerance = Annotated[
    float, Limits(0), "Stop when a round lowers the loss by less than this share of it."
]
EpochTolerance = Annotated[
    float,
    Limits(0),
    "Stop when the loss has fallen by less than this share of itself in ten epochs; 0: never.",
]
KeepOnInterrupt = Annotated[
    bool, "Whether Ctrl-C ends the training with the best state so far instead of an error."
]
Dropout = Annotated[
    float, Limits(0, 0.99), "Share of the inputs of every layer that is dropped in each epoch."
]
WeightDecay = Annotated[float, Limits(0), "Weight of the squared norm of the first layer."]
RowNormalize = Annotated[bool, "Whether each node's features are divided by their sum, as the authors do."]

# features and layers of the RECT family
FeatureSource = Annotated[
    Literal["auto", "adjacency", "identity"],
    '"auto" takes the graph\'s features, and rows of the adjacency where it has none.',
]
LayerInput = Annotated[
    Literal["svd", "raw"],
    "What the GCN layer that learns from labels gets: the features after SVD, or the row-normalised features.",
]
DescriptionColumns = Annotated[
    int | None,
    Limits(1),
    "Dimensions of the class-semantic descriptions; None means 200, or as many as the features allow.",
]
UnitRows = Annotated[
    Literal["auto"] | bool,
    'Whether each node\'s features are scaled to length 1 before the SVD. "auto" does so where they are counts or '
    "weights: no value is negative, and some are neither 0 nor 1. Rows of the adjacency stay as they are.",
]
Readout = Annotated[
    Literal["mean", "median"] | Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]],
    "What turns the features of a class into its description. A function gets one row per node and returns one row.",
]
Hidden = Annotated[
    Sequence[int], Limits(1), "Widths of further GCN layers before the one that gives the vectors."
]
Balance = Annotated[
    float, Limits(0, 1), "Weight of the semantic loss, between 0 (structure only) and 1 (semantics only)."
]

# random walks and noise
Walks = Annotated[int, Limits(1), "Random walks from each node, over all epochs together."]
WalkLength = Annotated[int, Limits(2), "Nodes of a walk."]
Window = Annotated[int, Limits(1), "How far apart two nodes of a pair are at most."]
PairsPerNode = Annotated[
    float, Limits(0, open_low=True), "Pairs drawn in an epoch, for each node on average."
]
OwnContext = Annotated[bool, "Whether the other side of a pair has vectors of its own."]
Negatives = Annotated[int, Limits(0), "K: how many noise nodes count against each edge or pair."]

# smoothing
Steps = Annotated[int, Limits(0), "How often vectors are averaged over the neighbours."]
Teleport = Annotated[float, Limits(0, 1), "Share of its own start that a node keeps in each step."]

# factorisation
Regularisation = Annotated[float, Limits(0, open_low=True), "Weight of the regularisation."]
LabelWeight = Annotated[float, Limits(0), "Weight of the labels; 0 leaves them out."]
OptionalLabelWeight = Annotated[
    float | None,
    Limits(0),
    "Weight of the label terms; 0 leaves them out. None means 1, the paper's, and less on a dense graph.",
]
Solver = Annotated[Literal["als", "gradient"], "Alternating least squares, or the paper's gradient descent."]
StepRule = Annotated[Literal["bold", "armijo"], 'How ``solver="gradient"`` chooses its step length.']
Start = Annotated[
    Literal["svd", "uniform"],
    "Start from the singular value decomposition of M, or from uniform random numbers.",
]
Neighbors = Annotated[
    int,
    Limits(1),
    "k, the intra-class neighbours of a labelled node; a class with fewer other nodes has all of them.",
]
Candidates = Annotated[
    int | None,
    Limits(1),
    "Random nodes of the same class among which a labelled node looks for its neighbours; None means 20 times "
    "`n_neighbors`.",
]
IntraClass = Annotated[
    Literal["adaptive", "random"] | None,
    "The k nearest of the same class, chosen each round; k random ones, drawn once; or no J_intra.",
]
InterClass = Annotated[bool, "Whether J_inter is there."]

# RECT+
Views = Annotated[
    Literal["auto"] | Sequence[str],
    'Which views to take: "auto" chooses with the labels, names fix them. A name is a base and what the graph does to '
    "it: ``weighted`` or ``plain``, followed by ``/raw``, ``/near``, ``/middle``, ``/far`` or ``/second``; "
    "``weighted/twice``; ``walk`` or ``sharp-walk``, followed by ``/raw`` or ``/near``; ``rows/raw``, ``eigen/raw`` "
    "and ``degree/raw``.",
]
