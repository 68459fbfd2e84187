"""The paper's tables as data, under this package's names for methods and data sets."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources

TITLES = {
    "nodefeats": "NodeFeats",
    "mfdw": "MFDW",
    "line": "LINE",
    "lshm": "LSHM",
    "lde": "LDE",
    "mmdw": "MMDW",
    "tadw": "TADW",
    "dgi": "DGI",
    "gcn": "GCN",
    "appnp": "APPNP",
    "rsdne": "RSDNE",
    "rsdne-light": "RSDNE*",
    "rect-n": "RECT-N",
    "rect-l": "RECT-L",
    "rect": "RECT",
}
"""Registry name -> name in the paper, in the order of its tables."""

DATASETS = ("citeseer", "cora", "wiki", "ppi", "blogcatalog")
MULTI = ("ppi", "blogcatalog")
"""Those without features, whose nodes have several labels."""
RATES = (0.1, 0.3, 0.5)


@cache
def paper_f1() -> dict[tuple[str, float, str], tuple[float, float]]:
    """Return Tables 3 and 4: (data set, label rate, method) -> (micro F1, macro F1).

    Examples
    --------
    >>> paper_f1()["citeseer", 0.3, "rect"]
    (0.7403, 0.6919)
    >>> len(paper_f1())
    201
    """
    names = {title: name for name, title in TITLES.items()}
    return {
        (row["dataset"], float(row["label_rate"]), names[row["method"]]): (
            float(row["micro_f1"]),
            float(row["macro_f1"]),
        )
        for row in _rows("paper_f1.csv")
    }


@cache
def paper_decline() -> dict[tuple[str, int, float], float]:
    """Return Table 1: (method, number of unseen classes, label rate) -> accuracy on Citeseer.

    Examples
    --------
    >>> paper_decline()["gcn", 2, 0.1]
    0.4761
    """
    return {
        (row["method"].lower(), int(row["unseen_classes"]), float(row["label_rate"])): float(row["accuracy"])
        for row in _rows("paper_decline.csv")
    }


def paper_claims() -> list[dict[str, str]]:
    """Return the claims of section 6 and of Table 1: id, section, what is claimed, a quotation.

    Examples
    --------
    >>> paper_claims()[0]["section"]
    '1 problem (Table 1)'
    """
    return _rows("paper_claims.csv")


def _rows(name: str) -> list[dict[str, str]]:
    text = resources.files("unseen_paper.experiments").joinpath("data", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
