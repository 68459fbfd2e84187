"""`unseen bench discover` on small planted graphs: the figures are those of what happened."""

from __future__ import annotations

import json

import numpy as np
import pytest

import unseen
from unseen.cli.app import run
from unseen_paper.bench import discover as bench
from unseen_paper.bench import discover_time
from unseen_paper.bench.isolated import Measured


@pytest.fixture
def planted(monkeypatch):
    """Take a planted graph for Cora, and no other data set; clear classes, so that the right figures are known."""
    data = unseen.planted_partition(
        240, 5, degree_within=10, degree_between=1, words_of_class=6, words_of_noise=2, random_state=0
    )

    def load(name):
        if name == "cora":
            return data
        msg = f"no {name} here"
        raise unseen.DatasetError(msg)

    monkeypatch.setattr(bench, "load_dataset", load)
    monkeypatch.setattr(bench, "HIDDEN", {"cora": 2, "wiki": 2})
    monkeypatch.setattr(bench, "QUESTIONS", {"cora": 2})
    monkeypatch.setattr(bench, "WORLDS", ("random",))
    monkeypatch.setattr(bench, "RATES", (0.3,))
    monkeypatch.setattr(bench, "COUNTS", (1,))
    return data


@pytest.mark.slow
def test_the_tables_of_a_graph_whose_classes_are_clear(planted, capsys):
    words = ["--methods", "probability,number,groups,questions", "--repeats", "1", "--json", "-v"]
    assert run(["bench", "discover", *words]) == 0
    told = json.loads(capsys.readouterr().out)["tables"]
    probability, number, groups, asked = (table["rows"] for table in told)
    assert [row["graph"] for row in probability] == ["cora"]  # the other data set is not at hand
    assert float(probability[0]["AUROC"].split()[0]) > 0.95
    assert probability[0]["goal"] == "0.96"
    assert (number[0]["draws"], number[0]["exact"], number[0]["off"]) == ("1", "1.00", "0.00")
    assert (number[0]["always 2"], number[0]["named after 6"], number[0]["classes after 6"]) == (
        "1.00",
        "1.00",
        "1.0",
    )
    by_method = {row["method"]: row for row in groups}
    assert set(by_method) == {
        "discover",
        "discover, number of classes given",
        "k-means on the features",
        "k-means on GCN vectors",
    }
    assert float(by_method["discover, number of classes given"]["unseen"]) > 0.9
    assert [row["choice"] for row in asked] == ["suggest", "random", "uncertainty"]
    assert (
        2 <= float(asked[0]["questions, mean"]) <= 10
    )  # one draw: that chance asks more shows in the long run only
    assert asked[0]["all found"] == "1.00"


def test_clusters_are_matched_with_all_classes_at_once():
    codes = np.repeat([0, 1, 2], [20, 15, 10])
    truth = unseen.Labels.from_values(np.array(["a", "b", "c"])[codes].tolist())
    data = unseen.Dataset("small", unseen.Graph.from_edges([0], [1], nodes=range(45)), truth)
    labels = truth.keep([0, 1, 20, 21], without=["c"])
    perfect = bench._clustered(data, labels, unseen.Embedding(np.eye(3)[codes]), 0)
    assert (perfect.accuracy_seen, perfect.accuracy_unseen, perfect.nmi) == (1.0, 1.0, 1.0)
    # The hidden class shares a cluster with a larger labelled one, and three nodes of b are a cluster of their own.
    place = np.where(codes == 2, 0, codes)
    place[22:25] = 2
    merged = bench._clustered(data, labels, unseen.Embedding(np.eye(3)[place]), 0)
    assert merged.accuracy_unseen == 0.0
    assert merged.accuracy_seen == pytest.approx(28 / 31)
    assert merged.accuracy_all == pytest.approx(28 / 41)


def test_unknown_tables_are_refused():
    with pytest.raises(
        unseen.InputError, match=r"unknown table of the benchmark 'group'; did you mean 'groups'"
    ):
        bench.run(methods=["group"])


@pytest.mark.slow
def test_the_jobs_that_are_timed_run(monkeypatch):
    pytest.importorskip("openTSNE")

    def here(module, function, **arguments):
        assert module == discover_time.__name__
        return Measured(1.5, 200.0, 100.0, getattr(discover_time, function)(**arguments)(), 2.5)

    monkeypatch.setattr(discover_time, "measure", here)
    rows = bench.run(methods=["time"], sizes=[400])[0].rows
    assert [row[:5] for row in rows] == [
        (command, "400", "2", "2", "200") for command in ("discover", "suggest", "explore")
    ]
    assert [row[5].split()[1] for row in rows] == ["classes", "nodes", "MB"]
    assert rows[1][5] == "20 nodes"
