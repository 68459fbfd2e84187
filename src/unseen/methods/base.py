"""The contract every method keeps: a scikit-learn style estimator from a graph to an embedding."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, cast

import numpy as np
import scipy.sparse as sp

from unseen.embedding import Embedding
from unseen.engine.run import Run
from unseen.engine.sparse import GraphPart
from unseen.errors import InputError, UnseenError, UnsupportedError, counted, logger
from unseen.graph import Features, Graph, Need
from unseen.ids import Array, is_finite, numbers_of
from unseen.labels import Labels
from unseen.linalg.normalize import column_scale, scale_by_exponent, scale_exponent, standardize
from unseen.linalg.svd import OUT_OF_RANGE
from unseen.methods.homophily import measure_homophily
from unseen.methods.vocabulary import Seed
from unseen.params import Declared

if TYPE_CHECKING:
    from unseen.engine.memory import Job

USUAL_WEIGHTS, USUAL_FEATURES = (2.0**-60, 2.0**60), (2.0**-20, 2.0**40)
"""The largest weight, and the largest feature, are left alone between these."""
WIDEST = 2.0**-500
"""The smallest weight as a share of the largest: a walk would take the square of anything smaller for zero."""

EXAMPLE = """

Examples
--------
>>> import unseen
>>> data = unseen.planted_partition(60, 3, random_state=0)
>>> split = unseen.completely_imbalanced_split(data.labels, label_rate=0.5, unseen=["c2"], random_state=0)
>>> unseen.{cls.__name__}(n_components=8, {few}random_state=0).fit_transform(data.graph, split.seen_labels)
Embedding(60 nodes, 8 columns, by {cls._traits.name})"""
"""What stands in the docstring of a method that has no example of its own."""

Vectors: TypeAlias = "Array | sp.csr_array"
SomeLabels: TypeAlias = "Labels | Iterable[Any] | Mapping[Any, Any] | None"


def warn_no_edges(name: str) -> None:
    """Say that a method which learns from edges alone has nothing to learn from."""
    logger.warning("%s: the graph has no edges between different nodes, so all vectors are zero", name)


@dataclass(frozen=True)
class Traits:
    """What a method is called, what it uses and what it can do, for the code that runs it.

    A subclass that differs from its parent in some of these says ``_traits = replace(Parent._traits, ...)``.
    """

    name: str = ""
    """Registry name."""
    summary: str = ""
    """What `unseen methods` says of it; a class without a summary is not listed there."""
    uses_features: bool = False
    """Whether the vectors depend on the node features, where there are any."""
    uses_labels: bool = False
    """Whether the vectors depend on the labels (if not, they can be learned once for all splits)."""
    labels_choose_params: bool = False
    """Whether labels do no more than choose parameters, those of :meth:`Method._chosen_params`."""
    needs_labels: bool = False
    """Whether the method refuses to work without any label."""
    multilabel: bool = True
    """Whether nodes may have several labels."""
    keeps_scale: bool = False
    """Whether the vectors have the scale of the features, so that unusual ones must stay as they are."""
    averages_neighbours: bool = False
    """Whether it assumes homophily without asking the labels; a notice says so where they show heterophily."""
    needs: Need = field(default_factory=Need)
    """What it uses of a graph beside the undirected, unsigned, single-type graph."""
    default_components: int = 200
    """Columns when `n_components` is None and the graph allows as many."""
    trains_on_parts: bool = False
    """Whether it can be trained on the parts of a graph, by several processes (``python -m unseen.scale``)."""
    can_be_saved: bool = False
    """Whether what it learns is arrays and plain values, so that :meth:`Method.save` can write it."""
    extra: str = ""
    """The extra of unseen that it needs, "neural" for torch; empty if it needs none."""


class Method(Declared):
    """Base of all methods.

    A subclass declares its parameters in its body (see :mod:`unseen.params`) and computes in :meth:`_fit`; what it
    learns ends in ``_``. It gets the graph and the labels it may see and nothing else, so it cannot leak a hidden
    class.

    Attributes
    ----------
    embedding_ : Embedding
        Set by :meth:`fit`.
    n_features_in_ : int or None
        Number of feature columns of the graph it was fitted on, None where that had no features.
    """

    reference: ClassVar[str]
    """The paper to cite."""
    _traits: ClassVar[Traits] = Traits()

    random_state: Seed = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        doc = vars(cls).get("__doc__")
        if doc and cls._traits.summary and ">>> " not in doc:
            few = "epochs=20, " if hasattr(cls, "epochs") else ""
            cls.__doc__ = inspect.cleandoc(doc) + EXAMPLE.format(cls=cls, few=few)
        super().__init_subclass__(**kwargs)

    def fit(self, graph: Graph, labels: SomeLabels = None) -> Self:
        """Learn vectors for every node of `graph`.

        Parameters
        ----------
        graph : Graph, or anything that holds edges
            The nodes to embed; a networkx graph or a list of pairs will do.
        labels : Labels, sequence, mapping, pandas series or str, optional
            What the embedding may know: usually ``split.seen_labels``. A sequence has one entry a
            node (None, NaN, "" or -1 where there is none), a mapping and a series go by ids, a text names a node
            attribute of a networkx graph.

        Returns
        -------
        self
        """
        return self._fit_run(graph, labels, Run())

    def fit_transform(self, graph: Graph, labels: SomeLabels = None) -> Embedding:
        """Learn vectors for every node of `graph` and return them; see :meth:`fit`."""
        return self.fit(graph, labels).embedding_

    def transform(self, graph: Graph) -> Embedding:
        """Return vectors for the nodes of `graph`, new ones included, without training again."""
        if not hasattr(self, "embedding_"):
            from sklearn.exceptions import NotFittedError  # a second of imports that only this sentence needs

            msg = f"this {type(self).__name__} is not fitted yet; call fit first"
            raise NotFittedError(msg)
        whole, graph = self._views(graph)
        columns = None if graph.features is None else graph.features.shape[1]
        fitted = self.n_features_in_
        if fitted is not None and columns != fitted and (columns is not None or self._traits.uses_features):
            msg = f"the graph has {columns or 0} features, at fit time there were {fitted}"
            raise InputError(msg)
        with Run().for_graph(whole, None) as run:
            vectors = self._transform(self._scale(graph, run), run)
        return Embedding(vectors, graph.node_ids, self._name, self.embedding_.params)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted method to a file (numpy arrays and JSON, no pickle), for :meth:`load`.

        The file holds the parameters, what was learnt, the vectors and the node ids; functions among the parameters
        (callbacks, a readout of one's own) are left out.
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

    @classmethod
    def _bytes_needed(cls, job: Job) -> float:  # noqa: ARG003
        """Return the bytes that a fit allocates beside the graph (:mod:`unseen.engine.memory`); 0 if not measured."""
        return 0.0

    @classmethod
    def _smaller_method(cls) -> type[Method]:
        """Return the method to recommend where this one does not fit into memory: itself, or one for parts."""
        return cls

    def _chosen_params(self) -> dict[str, Any]:
        """Return parameters that the fit chose by the labels, and without which vectors are not comparable.

        Whoever fits again on fewer labels, to choose something for these vectors, keeps them.
        """
        return {}

    def _fit_run(self, graph: Graph, labels: SomeLabels, run: Run) -> Self:
        """Do as :meth:`fit` does, with threads, disk, checkpoints and shared work as `run` says."""
        if isinstance(labels, str):
            from unseen.data.objects_plain import as_graph_and_labels

            graph, labels = as_graph_and_labels(graph, labels)
        whole, graph = self._views(graph)
        self._check_params()
        with run.for_graph(whole, self.random_state) as this:
            allowed = self._check_labels(graph, labels, this)
            for learnt in [key for key in vars(self) if key.endswith("_") and not key.startswith("_")]:
                delattr(self, learnt)
            self.n_features_in_ = None if graph.features is None else int(graph.features.shape[1])
            if self._traits.averages_neighbours and this.processes == 1:
                self._warn_if_neighbours_differ(graph, allowed, this)
            vectors = self._fit(self._scale(graph, this, learn=True), allowed, this)
        self._check_vectors(vectors, graph)
        if isinstance(vectors, np.ndarray):
            vectors.setflags(write=False)  # so that the embedding need not copy it
        given = self.get_params(deep=False).items()
        values = {name: value.item() if isinstance(value, np.generic) else value for name, value in given}
        plain = (str, int, float, bool, type(None))
        params = {name: value for name, value in values.items() if isinstance(value, plain)}
        self.embedding_ = Embedding(
            vectors, graph.node_ids, self._name, params | {"n_components": vectors.shape[1]}
        )
        return self

    def _warn_if_neighbours_differ(self, graph: Graph, labels: Labels, run: Run) -> None:
        """Say, once for all fits that share work, that labels show neighbours to differ."""
        homophily = measure_homophily(graph, labels)
        if not homophily.holds:
            sentence = (
                f"{self._name} averages over neighbours, but neighbours differ here: {homophily.share:.0%} of the "
                f"edges between labelled nodes join the same class, {homophily.expected:.0%} would by chance; "
                "rect-plus chooses by the labels what to do"
            )
            run.once(("neighbours differ", self._name), lambda: logger.warning(sentence))

    @property
    def _name(self) -> str:
        return self._traits.name

    def _fit(self, graph: Graph, labels: Labels, run: Run) -> Vectors:
        """Return one row per node; `labels` is aligned with the graph and may be empty."""
        raise NotImplementedError

    def _transform(self, graph: Graph, run: Run) -> Vectors:  # noqa: ARG002
        msg = f"{self._name} cannot embed nodes that were not there at fit time; fit it again on the larger graph"
        raise UnsupportedError(msg)

    def _scale(self, graph: Graph, run: Run, *, learn: bool = False) -> Graph:
        """Return the graph with features and weights of a usual scale; what is learnt holds for new nodes."""
        features = graph.features
        if features is not None and self._traits.uses_features and not self._traits.keeps_scale:
            # squares of 1e150 leave the range of numbers, and features of 1e-9 vanish beside a regularisation
            if learn and (exponent := scale_exponent(numbers_of(features), run, *USUAL_FEATURES)):
                self.feature_exponent_ = exponent
                logger.info("features are scaled by 2^%d for the computation", exponent)
            features = scale_by_exponent(features, getattr(self, "feature_exponent_", 0))
            if learn and (scale := column_scale(features, run)) is not None:
                self.feature_scale_ = scale
                changed = np.count_nonzero(scale[1] != 1)
                sentence = "%d of %d feature columns are standardised (dense or negative values)"
                logger.debug(sentence, changed, len(scale[1]))
            features = standardize(features, getattr(self, "feature_scale_", None))
        part = graph if isinstance(graph, GraphPart) else None
        weights = graph.adjacency.data if part is None else part.adjacency.local.data
        positive = weights[weights > 0]
        ends = run.gather(np.array([[positive.min(initial=np.inf), positive.max(initial=0)]], np.float64))
        least, most = float(ends[:, 0].min()), float(ends[:, 1].max())
        if most and least / most < WIDEST:
            msg = (
                f"edge weights go from {least:g} to {most:g}, which is wider than floating point can work with; "
                "leave out the smallest, or take their logarithm"
            )
            raise InputError(msg)
        if exponent := scale_exponent(weights, run, *USUAL_WEIGHTS):
            logger.info("edge weights are scaled by 2^%d for the computation", exponent)
            scaled = scale_by_exponent(graph.adjacency, exponent)
            if part is not None:
                graph = cast(Graph, replace(part, adjacency=scaled))
            else:
                graph = Graph(scaled, graph.features, graph.node_ids, graph.feature_names, graph.texts)
        return graph if features is graph.features else graph.with_features(features, graph.feature_names)

    def _new_features(self, graph: Graph) -> Features:
        """Return the features of a graph with new nodes; without any at fit time nothing carries over to them."""
        source = vars(self).get("source_") or ("adjacency" if self.n_features_in_ is None else "features")
        if graph.features is None or source != "features":
            what = "one of a kind for each node" if source == "identity" else "rows of the adjacency"
            msg = (
                f"{self._name} cannot embed new nodes here: its features are {what}, so that nothing carries over "
                "to nodes that were not there at fit time; fit again, or give the graph features"
            )
            raise UnsupportedError(msg)
        return graph.features

    def _views(self, graph: Graph | GraphPart) -> tuple[Graph, Graph]:
        """Return the graph that this method works on, where one sentence says what is left out, and its plain view."""
        if not isinstance(graph, (Graph, GraphPart)):
            from unseen.data.objects_plain import as_graph

            graph = as_graph(graph)
        if graph.n_nodes == 0:
            msg = "the graph has no nodes, so there is nothing to embed"
            raise InputError(msg)
        if isinstance(graph, GraphPart):  # it is plain, and has what a graph has, as far as methods look
            return cast(Graph, graph), cast(Graph, graph)
        whole = graph.view(self._traits.needs)
        return whole, whole.plain

    def _check_labels(self, graph: Graph, labels: SomeLabels, run: Run) -> Labels:
        if labels is None:
            labels = Labels(sp.csr_array((len(graph.node_ids), 0), dtype=bool), (), graph.node_ids)
        elif not isinstance(labels, Labels):
            from unseen.data.objects_plain import as_labels

            labels = as_labels(labels, graph)
        labels = labels.align_to(graph)
        if self._traits.needs_labels and not run.count(len(labels.labelled)):
            msg = (
                f"{self._name} learns from labels and there are none; label some nodes or take another method"
            )
            raise InputError(msg)
        if not self._traits.multilabel and labels.is_multilabel:
            msg = f"{self._name} takes one label per node and some nodes have several"
            raise UnsupportedError(msg)
        return labels

    def _check_vectors(self, vectors: Vectors, graph: Graph) -> None:
        """Refuse vectors that the scale of the input has spoiled."""
        values = numbers_of(vectors)
        if not is_finite(values):
            msg = f"{self._name}: {OUT_OF_RANGE}"
            raise UnseenError(msg)
        with np.errstate(over="ignore"):  # the embedding refuses what is too large
            # nearly always the first rows tell
            if any(part.astype(np.float32, copy=False).any() for part in (values[:1000], values)):
                return
        if not self._traits.uses_features and graph.isolated.all():
            warn_no_edges(self._name)
        if not self._traits.uses_features or graph.features is None or not graph.adjacency.nnz:
            return
        if largest := np.abs(numbers_of(graph.features)).max(initial=0.0):
            msg = (
                f"{self._name}: all vectors are zero; the largest feature is {largest:g}, which is too small: scale "
                "the features to about 1"
            )
            raise UnseenError(msg)

    def _components(self, number: int | None, most: int, why: str) -> int:
        """Return how many columns to make: an explicit number must fit, the default is clipped with a notice."""
        default = self._traits.default_components
        if number is None:
            if default > most:
                sentence = "%s: the embedding has %s (the default is %d): %s"
                logger.info(sentence, self._name, counted(most, "dimension"), default, why)
            return min(default, most)
        if number > most:
            msg = (
                f"`n_components` of {type(self).__name__} is {number}, but at most {most} are possible: {why}"
            )
            raise InputError(msg)
        return int(number)


def rows_and_columns(graph: Graph) -> str:
    """Return what limits the columns of a factorisation of the features, as a sentence."""
    if graph.features is None:
        return f"there are {graph.n_nodes} nodes, whose adjacency stands in for features"
    return f"there are {graph.n_nodes} nodes and {graph.features.shape[1]} features"


def copy_unfitted(method: Method, **changes: Any) -> Method:
    """Return a copy of a method that has learned nothing, with some of its parameters changed.

    Examples
    --------
    >>> import unseen
    >>> copy_unfitted(unseen.SmoothFeats(steps=3), teleport=0.5).get_params()["steps"]
    3
    """
    parameters: dict[str, Any] = copy.deepcopy(method.get_params(deep=False))
    return type(method)(**{**parameters, **changes})
