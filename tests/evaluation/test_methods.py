"""Methods are fitted on L' alone, and their settings chosen inside it."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
import pytest

import unseen
from unseen.engine.run import Run
from unseen.methods.base import Method, Traits


class Spy(Method):
    """Vectors that hold the labels given, plus noise; notes which labels it was shown."""

    _traits = Traits("spy", uses_labels=True)
    shown: ClassVar[list[unseen.Labels]] = []

    cheat: Annotated[float, "Share of the labels in the vectors."] = 0.0

    def _fit(self, graph: unseen.Graph, labels: unseen.Labels, run: Run) -> Any:
        Spy.shown.append(labels)
        columns = np.zeros((graph.n_nodes, 6))
        columns[:, : len(labels.classes)] = labels.indicator.toarray()
        return np.c_[self.cheat * columns, (1 - self.cheat) * graph.features]


@pytest.fixture
def world() -> tuple[unseen.Graph, unseen.Labels, unseen.Split]:
    rng = np.random.default_rng(0)
    code = rng.integers(4, size=120)
    features = np.eye(4)[code] @ rng.normal(size=(4, 8)) + 0.7 * rng.normal(size=(120, 8))
    graph = unseen.Graph.from_edges(range(119), range(1, 120), features=features)
    labels = unseen.Labels.from_values([f"c{k}" for k in code], graph.node_ids)
    split = unseen.completely_imbalanced_split(labels, label_rate=0.5, unseen=["c0"], random_state=0)
    Spy.shown.clear()
    return graph, labels, split


def test_the_method_sees_the_seen_labels_only(world: tuple) -> None:
    graph, labels, split = world
    method = Spy(random_state=0)
    score = unseen.evaluate_method(method, graph, labels, split, C=1.0)
    assert [shown is split.seen_labels for shown in Spy.shown] == [True]
    assert not hasattr(method, "embedding_")
    assert dict(score.params) == {}
    embedding = Spy(random_state=0).fit_transform(graph, split.seen_labels)
    assert score == unseen.evaluate(embedding, labels, split, C=1.0)


def test_c_is_chosen_on_folds_whose_labels_the_embedding_does_not_see(world: tuple) -> None:
    graph, labels, split = world
    score = unseen.evaluate_method(Spy(cheat=0.5, random_state=0), graph, labels, split)
    final, *folds = Spy.shown
    assert final is split.seen_labels
    assert len(folds) == 3
    hidden = [set(final.labelled) - set(fold.labelled) for fold in folds]
    assert all(hidden)
    assert sorted(row for rows in hidden for row in rows) == final.labelled.tolist(), "each label hidden once"
    assert score.C > 0
    Spy.shown.clear()
    unseen.evaluate_method(Spy(cheat=0.5, random_state=0), graph, labels, split, n_refits=1)
    assert len(Spy.shown) == 2
    assert Spy.shown[1].labelled.tolist() == folds[0].labelled.tolist(), "the first of the folds"
    lonely = unseen.Split(split.train, split.test, ("c0",), labels.keep(split.train[:0], without=["c0"]))
    with pytest.raises(unseen.InputError, match="at least two nodes of seen classes"):
        unseen.evaluate_method(Spy(), graph, labels, lonely, param_grid={"cheat": [0.0, 1.0]})


def test_a_choice_hides_the_folds_labels_from_the_embedding(world: tuple) -> None:
    graph, labels, split = world
    # copying the labels looks perfect wherever they were shown, and is worthless elsewhere
    score = unseen.evaluate_method(
        Spy(), graph, labels, split, param_grid={"cheat": [1.0, 0.0]}, random_state=0
    )
    assert dict(score.params) == {"cheat": 0.0}
    folds, final = Spy.shown[:-1], Spy.shown[-1]
    assert len(folds) == 6
    assert final is split.seen_labels
    for shown in folds:
        assert "c0" not in shown.classes
        assert set(shown.labelled) < set(split.seen_labels.labelled)
    hidden = [set(split.seen_labels.labelled) - set(shown.labelled) for shown in folds[:3]]
    assert sorted(set().union(*hidden)) == split.seen_labels.labelled.tolist()
    assert sum(map(len, hidden)) == len(split.seen_labels.labelled)


@pytest.mark.slow
def test_a_choice_never_looks_at_test_nodes_or_unseen_classes(world: tuple) -> None:
    graph, labels, split = world
    codes = labels.codes.copy()
    rng = np.random.default_rng(1)
    away = np.setdiff1d(np.arange(120), split.seen_labels.labelled)
    codes[away] = rng.permutation(codes[away])
    other = unseen.Labels.from_values([f"c{k}" for k in codes], graph.node_ids)
    grid = {"steps": [0, 2], "teleport": [0.1, 0.9]}
    method = unseen.SmoothFeats(n_components=4, random_state=0)
    chosen = [
        unseen.evaluate_method(method, graph, truth, split, param_grid=grid).params
        for truth in (labels, other)
    ]
    assert chosen[0] == chosen[1]


class LabelFree(Method):
    """The features scaled column by column; never looks at labels."""

    _traits = Traits("label-free", uses_features=True)

    n_fits: ClassVar[int] = 0

    first: Annotated[float, "Factor of the first four columns."] = 1.0

    def _fit(self, graph: unseen.Graph, labels: unseen.Labels, run: Run) -> Any:
        LabelFree.n_fits += 1
        return np.asarray(graph.features) * np.repeat([self.first, 1.0], 4)


class TakesLabels(LabelFree):
    """The same, as a method that is given labels."""

    _traits = Traits("takes-labels", uses_features=True, uses_labels=True)


def test_a_setting_is_chosen_by_one_rule_with_labels_and_without(world: tuple) -> None:
    graph, labels, _ = world
    grid = {"first": [0.01, 0.2, 1.0, 5.0]}
    chosen = []
    for seed in range(8):
        split = unseen.completely_imbalanced_split(labels, label_rate=0.3, unseen=["c0"], random_state=seed)
        options = {"param_grid": grid, "hide_classes": True, "random_state": seed}
        LabelFree.n_fits = 0
        free = unseen.evaluate_method(LabelFree(), graph, labels, split, **options).params["first"]
        assert LabelFree.n_fits == 4, "one fit a setting serves all folds"
        assert free == unseen.evaluate_method(TakesLabels(), graph, labels, split, **options).params["first"]
        chosen.append(free)
    assert len(set(chosen)) > 1, "otherwise this proves little"


@pytest.mark.parametrize(("grid", "fits"), [({}, 1), ({"views": [("plain/raw",), ("weighted/raw",)]}, 7)])
def test_vectors_that_labels_only_chose_need_no_fits_for_c(
    world: tuple, monkeypatch: pytest.MonkeyPatch, grid: dict, fits: int
) -> None:
    graph, labels, split = world
    views = []
    original = unseen.RECTPlus._fit
    monkeypatch.setattr(
        unseen.RECTPlus, "_fit", lambda self, *a: views.append(self.views) or original(self, *a)
    )
    method = unseen.RECTPlus(n_components=4, random_state=0)
    score = unseen.evaluate_method(method, graph, labels, split, param_grid=grid)
    assert len(views) == fits
    assert score.C > 0


def test_a_class_of_one_node_may_vanish_from_a_fold(world: tuple) -> None:
    graph, labels, split = world
    codes = labels.codes
    rare = np.flatnonzero(codes == 1)[1:]
    train = np.setdiff1d(split.train, rare)
    train = np.union1d(train, np.flatnonzero(codes == 1)[:1])
    test = np.setdiff1d(np.arange(120), train)
    hand_made = unseen.Split(train, test, ("c0",), labels.keep(train, without=["c0"]))
    score = unseen.evaluate_method(Spy(), graph, labels, hand_made, param_grid={"cheat": [0.0, 0.5]})
    assert min(len(shown.classes) for shown in Spy.shown) == 2
    assert score.micro_f1 > 0.5


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"param_grid": {"chea": [1]}}, "unknown parameter of Spy 'chea'; did you mean 'cheat'"),
        ({"param_grid": {"cheat": "ab"}}, "`param_grid` must give a list of values for 'cheat'"),
        ({"param_grid": {"cheat": []}}, "`param_grid` must give a list of values for 'cheat'"),
        (
            {"param_grid": {"cheat": [0.0, 1.0]}, "n_folds": 1},
            "`n_folds` must be an integer of at least 2, got 1",
        ),
        ({"n_refits": 0}, "`n_refits` must be an integer of at least 1"),
        ({"method": "rect"}, "`method` must be a method"),
    ],
)
def test_bad_input_gets_a_sentence(world: tuple, options: dict, match: str) -> None:
    graph, labels, split = world
    with pytest.raises(unseen.InputError, match=match):
        unseen.evaluate_method(
            **{"method": Spy(), "graph": graph, "labels": labels, "split": split, **options}
        )


def test_a_setting_can_be_chosen_with_seen_classes_hidden_too(world: tuple) -> None:
    graph, labels, split = world
    grid = {"cheat": [0.0, 0.5]}
    unseen.evaluate_method(Spy(random_state=0), graph, labels, split, param_grid=grid, hide_classes=True)
    choosing, rest = Spy.shown[:6], Spy.shown[6:]
    hidden = [set(split.seen_labels.classes) - set(shown.classes) for shown in choosing]
    assert hidden[:3] == hidden[3:], "all settings are tried on the same folds"
    assert all(len(names) == 1 for names in hidden), "two of the three seen classes are left"
    assert len(set.union(*hidden)) == 3, "other classes in every fold"
    assert all(set(shown.classes) == set(split.seen_labels.classes) for shown in rest)
