"""The plan follows the protocol: which classes are hidden, with which seeds, how often."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import unseen
from unseen.labels import Labels
from unseen_paper.experiments.catalog import EXPERIMENTS, Choice
from unseen_paper.experiments.paper import DATASETS, RATES, paper_decline, paper_f1
from unseen_paper.experiments.plan import f1_runs, hidden_sets


def labels_with(n_classes: int) -> Labels:
    return Labels.from_values([f"c{k % n_classes}" for k in range(10 * n_classes)])


def test_every_pair_is_hidden_once_on_citeseer_and_cora() -> None:
    assert len(set(hidden_sets("citeseer", labels_with(6)))) == 15
    assert len(set(hidden_sets("cora", labels_with(7)))) == 21


def test_the_others_get_twenty_draws_of_five() -> None:
    sets = hidden_sets("wiki", labels_with(17))
    assert len(sets) == 20
    assert {len(names) for names in sets} == {5}
    assert sets == hidden_sets("wiki", labels_with(17))


@pytest.mark.parametrize("dataset", ["citeseer", "wiki"])
def test_fewer_splits_are_a_part_of_more(dataset: str) -> None:
    labels = labels_with(6 if dataset == "citeseer" else 17)
    few = set(f1_runs(dataset, labels, ["smoothfeats"], [0.1], 3))
    assert len(few) == 3
    assert few <= set(f1_runs(dataset, labels, ["smoothfeats"], [0.1]))


def test_the_paper_is_whole() -> None:
    assert len(paper_f1()) == 201
    assert {key[0] for key in paper_f1()} == set(DATASETS)
    assert {key[1] for key in paper_f1()} == set(RATES)
    assert len(paper_decline()) == 18


def test_every_experiment_plans_runs(paper_graph: Callable[[str], unseen.Dataset]) -> None:
    paper_graph("citeseer")
    for name, experiment in EXPERIMENTS.items():
        runs = experiment.runs(Choice(["citeseer"], ["rsdne"], [0.3], 2))
        assert runs, name
        assert {run.method for run in runs} == {"rsdne"}
        assert len({run.seed for run in runs if not run.unseen}) in (0, 2), (
            f"{name} plans more than two splits"
        )
        assert len(set(runs)) == len(runs), f"{name} plans a run twice"
        assert {run.dataset for run in runs} == {"citeseer"}


@pytest.mark.parametrize(
    ("name", "method"), [("alpha", "rect"), ("dimension", "nodefeats"), ("ablation", "rect")]
)
def test_a_method_without_the_parameter_is_left_out(
    name: str, method: str, paper_graph: Callable[[str], unseen.Dataset]
) -> None:
    paper_graph("citeseer")
    assert EXPERIMENTS[name].runs(Choice(["citeseer"], [method], [0.3], 2)) == []


def test_methods_for_one_label_are_left_out_where_nodes_have_several(
    paper_graph: Callable[[str], unseen.Dataset],
) -> None:
    paper_graph("ppi")
    for name in ("f1", "seen-classes", "balanced"):
        assert EXPERIMENTS[name].runs(Choice(["ppi"], ["mmdw"], [0.3], 1)) == [], name


@pytest.mark.parametrize("name", ["decline", "seen-classes"])
def test_hidden_classes_are_added_to_those_of_the_same_draw(
    name: str, paper_graph: Callable[[str], unseen.Dataset]
) -> None:
    """So that a decline compares the same labelled nodes, and no class is hidden more often than others."""
    classes = paper_graph("citeseer").labels.classes
    runs = EXPERIMENTS[name].runs(Choice(["citeseer"], ["gcn"], [0.5]))
    hidden = {(run.seed, len(run.unseen)): set(run.unseen) for run in runs}
    assert len(hidden) == len(runs)
    for (seed, size), names in hidden.items():
        assert size == 0 or hidden[seed, size - 1] < names
    for size in {size for _, size in hidden}:
        counts = [sum(c in names for (_, s), names in hidden.items() if s == size) for c in classes]
        assert max(counts) - min(counts) <= 1
