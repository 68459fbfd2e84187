"""Evaluation of a method rather than of vectors: fitted on L' alone, its setting chosen inside L'."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from unseen.embedding import Embedding
from unseen.errors import InputError, logger, unknown_name
from unseen.evaluation.classifier import stratified_folds
from unseen.evaluation.protocol import evaluate
from unseen.evaluation.scores import Score
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.methods.base import Method
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
    random_state: RandomState = 0,
    **options: Any,
) -> Score:
    """Fit a copy of a method on L' and evaluate its vectors; choose its setting inside L' if asked to.

    With a `param_grid`, L' is cut into folds, and each setting is fitted once a fold with the labels of
    that fold hidden from the embedding as well as from the classifier. (An embedding that has seen a
    fold's labels looks better on it than it is.) The best mean micro F1 wins, the first of equals.
    Neither test nodes nor unseen classes are looked at. Methods that use no labels are fitted once a setting.

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
        Folds of L' for that choice.
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
    if not isinstance(method, Method):
        msg = f"`method` must be a method such as unseen.SmoothFeats(), got {method!r}; make_method makes one by name"
        raise InputError(msg)
    settings = _settings(method, param_grid or {})
    chosen: dict[str, Any] = settings[0]
    if len(settings) > 1:
        chosen = _best_setting(method, graph, split.seen_labels, settings, n_folds, random_state, options)
        logger.info("%s: %s chosen inside the seen labels", method.name, chosen)
    embedding = clone(method).set_params(**chosen).fit_transform(graph, split.seen_labels)
    score = evaluate(embedding, labels, split, random_state=random_state, **options)
    return replace(score, params=chosen)


def _settings(method: Method, grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    known = method.get_params(deep=False)
    for name, values in grid.items():
        if name not in known:
            raise unknown_name("parameter of " + type(method).__name__, name, known)
        if isinstance(values, str) or not isinstance(values, Sequence) or not len(values):
            msg = f"`param_grid` must give a list of values for {name!r}, got {values!r}"
            raise InputError(msg)
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _best_setting(
    method: Method,
    graph: Graph,
    seen: Labels,
    settings: list[dict[str, Any]],
    n_folds: int,
    random_state: RandomState,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    folds = _folds(seen, n_folds, random_state)
    best, best_setting = -1.0, settings[0]
    for setting in settings:
        shared = None if method.uses_labels else _embed(method, setting, graph, None)
        figures = []
        for fold in folds:
            embedding = shared or _embed(method, setting, graph, fold.seen_labels)
            figures.append(evaluate(embedding, seen, fold, random_state=random_state, **options).micro_f1)
        if np.mean(figures) > best:
            best, best_setting = float(np.mean(figures)), setting
    return best_setting


def _embed(method: Method, setting: Mapping[str, Any], graph: Graph, labels: Labels | None) -> Embedding:
    return clone(method).set_params(**setting).fit_transform(graph, labels)  # type: ignore[no-any-return]


def _folds(seen: Labels, n_folds: int, random_state: RandomState) -> list[Split]:
    """Return splits of L' whose `seen_labels` lack the fold's labels, and classes that only the fold has."""
    rows = seen.labelled
    if len(rows) < 2:
        msg = f"choosing a setting needs at least two nodes of seen classes in L, got {len(rows)}"
        raise InputError(msg)
    if not isinstance(n_folds, (int, np.integer)) or n_folds < 2:
        msg = f"`n_folds` must be an integer of at least 2, got {n_folds!r}"
        raise InputError(msg)
    number = stratified_folds(seen.indicator[rows].toarray(), n_folds, as_generator(random_state))
    splits = []
    for fold in range(int(number.max()) + 1):
        train, test = rows[number != fold], rows[number == fold]
        left = np.asarray(seen.indicator[train].sum(axis=0)).ravel()
        gone = [name for name, count in zip(seen.classes, left, strict=True) if not count]
        splits.append(Split(train, test, (), seen.keep(train, without=gone)))
    return splits
