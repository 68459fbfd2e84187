"""A small graph with hostile names and made-up findings, for everything about the explorer page."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unseen
from unseen.discovery.result import (
    ClassCount,
    Discovery,
    FoundClass,
    HiddenClass,
    LabelAudit,
    SelfTest,
    Suggestion,
)
from unseen.report.explorer import Subject

HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    '=HYPERLINK("http://127.0.0.1/", "click")',
    "@sum",
    "-1+1",
    "<!--<script>",
    "a\u2028b\u2029c&amp;",
    'ü, "quoted"\nline',
    "",
)
N = 120


@pytest.fixture(scope="session")
def subject() -> Subject:
    """Three clusters of 40 nodes in two columns, which are drawn as they are; nobody labelled the third."""
    rng = np.random.default_rng(0)
    ids = [*HOSTILE, *(f"node{i}" for i in range(len(HOSTILE), N))]
    cluster = np.arange(N) % 3
    vectors = np.array([[0, 0], [6, 0], [3, 5]])[cluster] + rng.normal(0, 0.5, (N, 2))
    src, dst = np.arange(N - 3), np.arange(3, N)
    features = np.eye(3)[cluster]
    graph = unseen.Graph.from_edges(
        [ids[i] for i in src],
        [ids[j] for j in dst],
        nodes=ids,
        features=features,
        feature_names=["<b>red</b>", "green", "</script>"],
    )
    names = np.array(["</script>one", "two", "three"])
    truth = unseen.Labels.from_values(names[cluster].tolist(), ids)
    labels = truth.keep(np.arange(0, N, 2), without=["three"])
    hidden = np.setdiff1d(np.arange(N), labels.labelled)
    p = np.where(cluster[hidden] == 2, 0.9, 0.1)
    group = ["new-1" if c == 2 else None for c in cluster[hidden]]
    listed = [ids[i] for i in hidden]
    nodes = pa.table(
        {
            "node": listed,
            "unseen_probability": p,
            "likely_class": [None if c == 2 else names[c] for c in cluster[hidden]],
            "group": group,
        }
    )
    members = tuple(node for node, g in zip(listed, group, strict=True) if g)
    found = Discovery(
        nodes,
        (FoundClass("new-1", 40, ("</script>", "blue"), "words", members, "two", 0.5, 0.9, 0.9),),
        ClassCount(1, 1, 2, ((0, 0.1), (1, 0.5), (2, 0.3))),
        SelfTest((HiddenClass("two", 20, 0.9),), 0.9, 0.1, 0.05, (), "Trust it <b>a little</b>."),
        LabelAudit((("</script>one", 20), ("two", 20)), N, 40, 0.9, 0.5, 0.5, 40.0, ("<i>Few labels.</i>",)),
        unseen.Embedding(vectors, ids),
        pa.table({"node": nodes.column("node"), "no_class_fits": p, "neighbourhood": [None] * len(p)}),
    )
    suggestions = [
        Suggestion(node, "typical of new-1 (blue)", 0.9, None, "new-1")
        for node in (*HOSTILE[:6], *members)[:12]
    ]
    return Subject(unseen.Embedding(vectors, ids), graph, labels, truth, found, suggestions)
