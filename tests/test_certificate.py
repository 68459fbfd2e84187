"""Random answers prove how many nodes of classes without a label are left, and keep their order in files."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

import unseen
from unseen.data.labels_file import Answer, answer_table, answers_of, labels_of_answers
from unseen.data.read import read_label_list
from unseen.discovery.suggest import draw_questions
from unseen.labels import Labels, Status

N = 1000


def labels_with(new: list[bool], pools: list[int] | None = None, n: int = N) -> Labels:
    """Return labels whose first nodes answered random questions; `new` says which ones named a class first."""
    pools = pools or [n - k for k in range(len(new))]
    labels = Labels.from_values(
        [f"class {k}" if is_new else "old" for k, is_new in enumerate(new)] + [None] * (n - len(new))
    )
    statuses = [
        Status(drawn="random", pool=pool, is_new=is_new) for pool, is_new in zip(pools, new, strict=True)
    ]
    return replace(labels, answers=dict(enumerate(statuses)))


def smallest(pools: list[int], n_new: int, alpha: float) -> int:
    """Return the bound by the definition, tried one number after the other."""
    bar = math.log(3 ** (n_new + 1) / (2 * alpha))
    d = 1
    while d < min(pools) and sum(-math.log(1 - d / pool) for pool in pools) < bar:
        d += 1
    return d - 1


@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize(
    "new", [[False] * 30, [True] + [False] * 40, [False, True, False, True] + [False] * 90]
)
def test_the_bound_is_the_smallest_number_that_the_martingale_refuses(new, alpha):
    certificate = labels_with(new).certificate(alpha)
    last = max((k + 1 for k, is_new in enumerate(new) if is_new), default=0)
    pools = [N - k for k in range(last, len(new))]
    assert certificate.at_most == smallest(pools, sum(new), alpha)
    assert (certificate.n_answers, certificate.n_new, certificate.run) == (len(new), sum(new), len(pools))
    assert certificate.share == certificate.at_most / N


@pytest.mark.parametrize(
    ("run", "n_new", "share"), [(67, 0, 0.05), (169, 0, 0.02), (88, 1, 0.05), (223, 1, 0.02)]
)
def test_runs_without_a_new_class_that_prove_five_and_two_percent(run, n_new, share):
    large = 20_000
    new = [True] * n_new + [False] * run
    enough = labels_with(new, [large] * len(new), large)
    assert enough.certificate().share < share
    assert replace(enough, answers=dict(list(enough.answers.items())[:-1])).certificate().share >= share


def test_the_number_of_answers_that_are_still_needed_is_enough_and_one_less_is_not():
    certificate = labels_with([False] * 67).certificate()
    assert certificate.target == 0.03
    more = [False] * (67 + certificate.n_more)
    assert labels_with(more).certificate().share <= 0.03 < labels_with(more[:-1]).certificate().share
    assert certificate.sentence == (
        f"95 % sure: at most 4.7 % of the nodes belong to classes without a label; {certificate.n_more} more random "
        "answers without a new class make it 3 %"
    )


def test_without_random_answers_nothing_is_proven():
    certificate = Labels.from_values(["a", None, None]).certificate()
    assert (certificate.at_most, certificate.n_answers) == (2, 0)
    assert "No random question was answered" in certificate.sentence


def test_a_question_without_an_answer_counts_as_a_new_class_until_it_is_answered():
    labels = labels_with([False] * 60)
    skipped = Labels.from_values([None if k == 30 else name for k, name in enumerate(values_of(labels))])
    for status in ("skipped", "unknown", ""):
        asked = {**labels.answers, 30: Status(status, drawn="random", pool=970)}
        certificate = replace(skipped, answers=asked).certificate()
        assert (certificate.n_new, certificate.run) == (1, 29)
    # the last questions are only asked: nothing is known about them, and nothing claimed
    last = Labels.from_values([None if k == 59 else name for k, name in enumerate(values_of(labels))])
    asked = {**labels.answers, 59: Status("", drawn="random", pool=941)}
    assert replace(last, answers=asked).certificate().run == 59


def values_of(labels: Labels) -> list[str | None]:
    lists = labels.to_lists()
    return [lists.get(node, [None])[0] for node in labels.node_ids.tolist()]


@pytest.mark.parametrize("alpha", [0, 1, -0.1, True, "0.05"])
def test_a_level_that_is_no_probability_is_refused(alpha):
    with pytest.raises(unseen.InputError, match="`alpha`"):
        Labels.from_values(["a"]).certificate(alpha)


def test_estimates_of_what_is_missing():
    named = ["x", "y", "z", "z", "old", "old", "old", "old", "old", "old"]
    labels = Labels.from_values([*named, "old", *[None] * 89])
    answers = {k: Status(drawn="random", pool=99 - k, is_new=k < 3) for k in range(10)}
    certificate = replace(labels, answers=answers).certificate()
    assert certificate.expected_share == 0.2  # x and y were named once
    assert certificate.missing_classes == 0  # 2 * 1 / (2 * 2)
    few = replace(labels, answers={k: answers[k] for k in (0, 1, 2, 4)})
    assert few.certificate().expected_share == 0.75 - 0.25  # z is a label, too, that nobody was asked for


FILE = """node,label,status,drawn,pool
a,red,,,
b,blue,,random,90
c,red,,score,
d,blue,,random,88
e,,skipped,random,88
f,,,random,88
g,green,,group,
"""


def test_order_and_marks_are_read_from_files(tmp_path):
    (tmp_path / "labels.csv").write_text(FILE)
    labels = read_label_list(tmp_path / "labels.csv")
    statuses = {node: (str(s), s.drawn, s.pool, s.is_new) for node, s in labels.answers.items()}
    assert statuses == {
        "b": ("", "random", 90, True),
        "c": ("", "score", 0, False),
        "d": ("", "random", 88, False),
        "e": ("skipped", "random", 88, False),
        "f": ("", "random", 88, False),
    }
    assert labels.guesses == {"g"}
    for other in (pickle.loads(pickle.dumps(labels)), labels_of_answers(answers_of(labels), list("abcdefg"))):
        assert other.guesses == {"g"}
        assert [vars(status) for status in other.answers.values()] == [
            vars(s) for s in labels.answers.values()
        ]


@pytest.mark.parametrize("name", ["labels.csv", "labels.parquet", "labels.tsv"])
def test_what_is_saved_is_read_back(tmp_path, name):
    (tmp_path / "first.csv").write_text(FILE)
    labels = read_label_list(tmp_path / "first.csv")
    labels.save(tmp_path / name)
    again = read_label_list(tmp_path / name)
    assert {node: vars(status) for node, status in again.answers.items()} == {
        node: vars(status) for node, status in labels.answers.items()
    }
    assert again.guesses == labels.guesses
    assert again.certificate() == replace(labels, node_ids=labels.node_ids).certificate()


def test_answers_in_rows_that_were_there_before_are_ordered_by_their_pools(tmp_path):
    """Then a class that a random answer named first is new, though another answer to it has an earlier row."""
    rows = ["a,red,,", "b,blue,score,", "c,,,", "d,red,random,70", "e,blue,random,90", "f,,,"]
    (tmp_path / "labels.csv").write_text("\n".join(["node,label,drawn,pool", *rows]) + "\n")
    answers = read_label_list(tmp_path / "labels.csv").answers
    assert [(node, s.is_new) for node, s in answers.items() if s.drawn == "random"] == [
        ("e", True),
        ("d", False),
    ]


@pytest.mark.parametrize(
    ("cells", "message"), [("red,random,", "size of its pool"), ("red,often,7", "the drawn is")]
)
def test_wrong_cells_are_refused_with_their_line(tmp_path, cells, message):
    (tmp_path / "labels.csv").write_text(f"node,label,drawn,pool\na,red,random,9\nb,{cells}\n")
    with pytest.raises(unseen.InputError, match=rf"line 3.*{message}"):
        read_label_list(tmp_path / "labels.csv")


def test_columns_of_these_names_with_other_content_belong_to_the_user(tmp_path):
    (tmp_path / "labels.csv").write_text("node,label,drawn,pool\na,red,Monday,swimming\n")
    assert not read_label_list(tmp_path / "labels.csv").answers


def test_a_table_of_labels_without_questions_has_no_such_columns():
    labels = replace(Labels.from_values(["x", None]), answers={1: "skipped"}, guesses=[0])
    assert answer_table(labels).column_names == ["node", "label", "status"]
    assert answers_of(labels)["0"] == Answer(("x",), "", "group")


@pytest.fixture(scope="module")
def planted() -> tuple[unseen.Dataset, Labels]:
    data = unseen.planted_partition(240, 4, random_state=0)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c3"], random_state=0)
    return data, split.seen_labels


@pytest.mark.slow
def test_random_questions_come_first_and_again_until_they_are_answered(planted):
    data, labels = planted
    ask = lambda own, **given: unseen.suggest(data.graph, own, budget=4, random=3, random_state=0, **given)  # noqa: E731
    found = unseen.discover(data.graph, labels, random_state=0)
    questions = ask(labels, discovery=found)
    assert [each.drawn for each in questions] == ["random"] * 3 + ["score"] * 4
    assert {each.pool for each in questions[:3]} == {240 - len(labels.labelled)}
    assert {each.pool for each in questions[3:]} == {None}
    assert len({each.node for each in questions}) == 7
    assert all("drawn at random" in each.reason for each in questions[:3])
    again = ask(labels, discovery=found)
    assert [each.node for each in again] == [each.node for each in questions]
    truth = {node: names[0] for node, names in data.labels.to_lists().items()}
    answered = labels.with_answers(questions[1:], [truth[each.node] for each in questions[1:]])
    assert ask(answered)[0].node == questions[0].node
    assert labels.with_answers(questions[1:], truth).answers == answered.answers  # by node, too
    assert answered.certificate().n_answers == 2


@pytest.mark.slow
def test_nodes_that_were_labelled_with_their_group_stay_in_the_pool(planted):
    data, labels = planted
    found = unseen.discover(data.graph, labels, random_state=0)
    accepted = found.accept({"new-1": "mine"})
    assert accepted.guesses
    after = unseen.discover(data.graph, accepted, random_state=0)
    questions = unseen.suggest(data.graph, accepted, budget=1, random=240, discovery=after, random_state=0)
    random = [each for each in questions if each.drawn == "random"]
    assert {each.pool for each in random} == {240 - len(labels.labelled)} == {len(random)}
    guessed = [each for each in random if each.node in accepted.guesses]
    assert {each.replaces for each in guessed} == {"mine"}
    answered = accepted.with_answers(guessed[:1], ["c3"])
    assert answered.to_lists()[guessed[0].node] == ["c3"]
    assert guessed[0].node not in answered.guesses


def test_every_node_of_the_pool_is_drawn_equally_often():
    labels = replace(Labels.from_values(["x", *[None] * 9]), answers={1: "skipped"})
    first = np.bincount([draw_questions(labels, 1, seed)[0].node for seed in range(4000)], minlength=10)
    assert first[:2].tolist() == [0, 0]
    assert np.abs(first[2:] - 500).max() < 4.5 * np.sqrt(500 * 7 / 8)


@pytest.mark.slow
def test_once_nothing_new_is_found_all_questions_are_random(planted, caplog):
    data, _ = planted
    known = data.labels.keep(np.flatnonzero(np.random.default_rng(0).random(240) < 0.4))
    found = unseen.discover(data.graph, known, random_state=0)
    assert not found.classes
    with caplog.at_level("INFO", "unseen"):
        questions = unseen.suggest(data.graph, known, budget=10, random=2, discovery=found, random_state=0)
    assert [each.drawn for each in questions] == ["random"] * 12
    assert "all questions are drawn at random" in caplog.text
    assert {each.drawn for each in unseen.suggest(data.graph, known, budget=10, discovery=found)} == {"score"}
