"""`unseen methods` and `unseen datasets`: what there is, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Callable

import unseen


def test_methods(cli: Callable) -> None:
    told = json.loads(cli("methods", "--json").out)
    assert [row["name"] for row in told] == unseen.method_names()
    assert {row["name"]: (row["features"], row["labels"]) for row in told}["rsdne"] == (False, True)
    text = cli("methods").out
    assert all(name in text for name in unseen.method_names())


def test_the_parameters_of_a_method(cli: Callable) -> None:
    told = {row["name"]: row for row in json.loads(cli("methods", "rect-l", "--json").out)}
    assert list(told) == list(unseen.RECTL._parameters)
    assert told["hidden"]["default"] == []
    assert told["epochs"]["allowed"] == "an integer of at least 0"
    assert told["n_components"]["meaning"].startswith("Number of columns; None means 200")
    text = cli("methods", "rect-plus").out
    assert all(name in text for name in unseen.RECTPlus._parameters)
    wrong = cli("methods", "rekt", code=1)
    assert "unknown method 'rekt'" in wrong.err


def test_datasets(cli: Callable) -> None:
    told = json.loads(cli("datasets", "--json").out)
    assert [row["dataset"] for row in told] == list(unseen.dataset_names())
    names, values = "dataset nodes edges_listed classes features", ("debian", 4852, 6928, 12, 1659)
    assert told[0] == dict(zip(names.split(), values, strict=True))
    one = json.loads(cli("datasets", "debian", "--json").out)
    assert one["edges"] == one["edges_listed"] == 6928
    assert one["classes"]["mail"] == 279
    assert "mail" in cli("datasets", "debian").out
