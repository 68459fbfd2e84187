"""Evaluation of a method rather than of vectors: fitted on L' alone, its setting chosen inside L'."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unseen.embedding import Embedding
from unseen.engine.run import Run, Shared, libraries_on_one_thread
from unseen.errors import InputError, logger, unknown_name
from unseen.evaluation.classifier import (
    GRID,
    candidate_unit,
    figure_of_merit,
    scores_along_path,
    stratified_folds,
)
from unseen.evaluation.metrics import best_labels
from unseen.evaluation.protocol import check_labels_and_split, evaluate, select_vectors
from unseen.evaluation.scores import Score
from unseen.graph import Graph
from unseen.ids import Ints
from unseen.labels import Labels
from unseen.methods.base import Method, copy_unfitted
from unseen.params import Limits, check_argument
from unseen.randomness import RandomState, as_generator
from unseen.splits import Split


def evaluate_method(
    method: Method,
    graph: Graph,
    labels: Labels,
    split: Split,
    *,
    param_grid: Mapping[str, Sequence[Any]] | None = None,
    n_folds: int = 3,
    n_refits: int | None = None,
    hide_classes: bool = False,
    random_state: RandomState = 0,
    **options: Any,
) -> Score:
    """Fit a copy of a method on L' and evaluate its vectors; choose its setting inside L' if asked to.

    An embedding that has seen a node's label looks better on that node than it is. So whatever is
    chosen by cross-validation for a method that uses labels, the classifier's C and with a
    `param_grid` the setting, is chosen on folds whose labels are hidden from the embedding as well as from
    the classifier: the method is fitted once more per fold. A setting is chosen inside L' (best mean of micro and macro
    F1, the first of equals); neither test nodes nor unseen classes are looked at. C is the classifier's own, which
    sees all of L. Methods that use no labels are fitted once per setting.

    Parameters
    ----------
    method : Method
        Left as it is; a copy is fitted.
    graph : Graph
        The nodes to embed.
    labels : Labels
        All labels; the method gets ``split.seen_labels`` only.
    split : Split
        As for :func:`unseen.evaluate`.
    param_grid : mapping of str to sequence, optional
        Values to try for parameters of the method; every combination is tried.
    n_folds : int
        Folds for these choices.
    n_refits : int, optional
        How many of these folds a method that uses labels is fitted for, where three more fits are too expensive; all of
        them if not given.
    hide_classes : bool
        Hide some of the seen classes, other ones in every fold, from the fits that choose a setting (not from their
        classifier): so a setting is chosen that serves classes the method was not told of. Without it the choice
        favours settings that give up the unseen classes for the seen ones.
    random_state : None, int or numpy Generator
        Seed of the folds, here and for the classifier's C. The method has its own.
    **options
        `classifier`, `C` and `scale` of :func:`unseen.evaluate`.

    Returns
    -------
    Score
        The chosen setting is in ``params``.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.load_dataset("debian")
    >>> split = unseen.completely_imbalanced_split(data.labels, label_rate=0.1, unseen=["mail"], random_state=0)
    >>> method = unseen.SmoothFeats(n_components=50, random_state=0)
    >>> score = unseen.evaluate_method(method, data.graph, data.labels, split, param_grid={"teleport": [0.1, 1.0]})
    >>> dict(score.params)
    {'teleport': 0.1}
    """
    options |= {"n_folds": n_folds, "n_refits": n_refits, "hide_classes": hide_classes}
    options |= {"param_grid": param_grid, "random_state": random_state}
    return fit_and_evaluate(method, graph, labels, split, **options)[1]


@libraries_on_one_thread()
def fit_and_evaluate(
    method: Method,
    graph: Graph,
    labels: Labels,
    split: Split,
    *,
    shared: Shared | None = None,
    param_grid: Mapping[str, Sequence[Any]] | None = None,
    n_folds: int = 3,
    n_refits: int | None = None,
    hide_classes: bool = False,
    random_state: RandomState = 0,
    **options: Any,
) -> tuple[Embedding, Score]:
    """Do as :func:`evaluate_method` does, and return the vectors beside their score.

    `shared` keeps work on the graph that does not depend on the labels for other calls; without it, for this one.
    """
    if not isinstance(method, Method):
        msg = f"`method` must be a method such as unseen.SmoothFeats(), got {method!r}; make_method makes one by name"
        raise InputError(msg)
    check_labels_and_split(labels, split)
    settings = _list_settings(method, param_grid or {})
    check_argument("n_refits", n_refits, int | None, Limits(1))
    scale, seen = bool(options.get("scale")), split.seen_labels
    run = Run(shared=Shared(graph) if shared is None else shared)
    folds = _cut_folds(labels, seen, split.train, n_folds, random_state)[:n_refits]
    choice, setting = _Choice(method, graph, folds, scale, run), settings[0]
    if len(settings) > 1:
        if len(seen.labelled) < 2:
            msg = (
                f"choosing a setting needs at least two nodes of seen classes in L, got {len(seen.labelled)}"
            )
            raise InputError(msg)
        hiding = _hide_classes(folds, random_state) if hide_classes else folds
        figures = [max(choice.score_candidates(each, seen, hiding), default=-1.0) for each in settings]
        setting = settings[int(np.argmax(figures))]
        logger.info("%s: %s chosen inside the seen labels", method._traits.name, setting)
    if not method._traits.uses_labels:
        embedding = choice.embed(setting, None)
    else:  # C is chosen on refits that lack a fold's labels
        model = copy_unfitted(method, **setting)._fit_run(graph, seen, run)
        embedding = model.embedding_
        # vectors that labels only chose have seen none, and the classifier may choose C on them as they are
        chosen_alone = method._traits.labels_choose_params and len(settings) == 1
        usual = options.get("classifier", "linear") == "linear" and options.get("C") is None
        if usual and folds and not chosen_alone:
            figures = choice.score_candidates({**setting, **model._chosen_params()}, labels, folds)
            unit = candidate_unit(select_vectors(embedding, labels, split.train, scale=scale))
            options = {**options, "C": (GRID[int(np.argmax(figures))] if figures else GRID[0]) * unit}
    score = evaluate(embedding, labels, split, random_state=random_state, **options)
    return embedding, replace(score, params=setting)


def _list_settings(method: Method, grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    if not isinstance(grid, Mapping):
        msg = f"`param_grid` must map parameters to lists of values, got {grid!r}"
        raise InputError(msg)
    parameters = method.get_params(deep=False)
    for name, values in grid.items():
        if name not in parameters:
            raise unknown_name("parameter of " + type(method).__name__, name, parameters)
        if isinstance(values, str) or not isinstance(values, Sequence) or not len(values):
            msg = f"`param_grid` must give a list of values for {name!r}, got {values!r}"
            raise InputError(msg)
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


@dataclass(frozen=True, eq=False)
class _Choice:
    """Choices for a method, on folds of L whose labels its embedding does not see."""

    method: Method
    graph: Graph
    folds: list[Split]
    scale: bool
    run: Run
    embeddings: dict[str, list[Embedding]] = field(default_factory=dict)

    def score_candidates(self, setting: dict[str, Any], labels: Labels, folds: list[Split]) -> list[float]:
        """Return the `figure_of_merit` of every candidate for C over the labelled rows of held-out folds."""
        key = repr(setting)
        embeddings = self.embeddings.get(key) if folds is self.folds else None
        if embeddings is None:
            embeddings = [self.embed(setting, fold.seen_labels) for fold in folds]
        if folds is self.folds:  # both choices, of the setting and of C, look at these
            self.embeddings[key] = embeddings
        truths, paths = [], []
        labelled = np.diff(labels.indicator.indptr) > 0
        for fold, embedding in zip(folds, embeddings, strict=True):
            train, test = (rows[labelled[rows]] for rows in (fold.train, fold.test))
            if len(train) and len(test):
                vectors = select_vectors(embedding, labels, np.r_[train, test], scale=self.scale)
                truth = labels.indicator[train].toarray()
                paths.append(scores_along_path(vectors[: len(train)], truth, vectors[len(train) :]))
                truths.append(labels.indicator[test].toarray())
        figures = []
        for scores in zip(*paths, strict=True):
            pairs = zip(scores, truths, strict=True)
            predicted = [best_labels(each, truth.sum(axis=1)) for each, truth in pairs]
            figures.append(figure_of_merit(np.vstack(truths), np.vstack(predicted)))
        return figures

    def embed(self, setting: dict[str, Any], labels: Labels | None) -> Embedding:
        """Return the vectors of a setting; without a use for labels one fit serves all folds and splits."""
        copy = copy_unfitted(self.method, **setting)
        if self.method._traits.uses_labels:
            return copy._fit_run(self.graph, labels, self.run).embedding_
        key = type(copy), repr(sorted(copy.get_params(deep=False).items()))
        assert self.run.shared is not None
        return self.run.shared.once(key, lambda: copy._fit_run(self.graph, None, self.run).embedding_)


def _cut_folds(
    labels: Labels, seen: Labels, rows: Ints, n_folds: int, random_state: RandomState
) -> list[Split]:
    """Cut `rows` into folds; the `seen_labels` of each lack the fold's labels, and classes that only it has."""
    check_argument("n_folds", n_folds, int, Limits(2))
    if len(rows) < 2:
        return []
    rng = as_generator(random_state)
    visible = np.diff(seen.indicator.indptr)[rows] > 0
    number = np.zeros(len(rows), dtype=np.int64)
    for part, part_labels in ((visible, seen), (~visible, labels)):
        if part.any():  # L' is cut without a look at the unseen classes
            number[part] = stratified_folds(part_labels.indicator[rows[part]].toarray(), n_folds, rng)
    splits = []
    for fold in range(int(number.max()) + 1):
        train, test = rows[number != fold], rows[number == fold]
        left = np.asarray(seen.indicator[train].sum(axis=0)).ravel()
        gone = [name for name, count in zip(seen.classes, left, strict=True) if not count]
        if len(gone) < len(seen.classes):  # a fold that leaves the method nothing to learn from tells nothing
            splits.append(Split(train, test, (), seen.keep(train, without=gone)))
    return splits


def _hide_classes(folds: list[Split], random_state: RandomState) -> list[Split]:
    """Hide a third of the seen classes from the method, other ones in every fold; two at least are left."""
    if not folds:
        return folds
    classes = sorted({name for fold in folds for name in fold.seen_labels.classes})
    order = as_generator(random_state).permutation(len(classes))
    parts = max(3, len(folds))
    hiding = []
    for k, fold in enumerate(folds):
        hidden = [classes[i] for i in order[k::parts] if classes[i] in fold.seen_labels.classes]
        hidden = hidden[: max(len(fold.seen_labels.classes) - 2, 0)]
        left = fold.seen_labels.keep(fold.train, without=hidden)
        hiding.append(replace(fold, seen_labels=left) if len(left.labelled) else fold)
    return hiding
