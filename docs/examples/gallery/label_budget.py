"""
Questions that find every class
===============================

How many hidden classes have a label after each question: asked as ``suggest`` says, and at random.
"""

import matplotlib.pyplot as plt
import numpy as np

import unseen

data = unseen.planted_partition(800, 8, random_state=3)
hidden = ["c4", "c5", "c6", "c7"]
split = unseen.completely_imbalanced_split(data.labels, label_rate=0.2, unseen=hidden, random_state=0)
truth = data.labels.to_pandas()

asked = [one.node for one in unseen.suggest(data.graph, split.seen_labels, budget=20, random_state=0)]
rng = np.random.default_rng(0)
others = np.setdiff1d(data.graph.node_ids, split.seen_labels.node_ids[split.seen_labels.labelled])
orders = [rng.permutation(others)[:20] for _ in range(200)]


def classes_known(nodes):
    return [len(set(truth[nodes[: k + 1]]) & set(hidden)) for k in range(20)]


figure, axes = plt.subplots()
axes.plot(range(1, 21), classes_known(asked), drawstyle="steps-post", label="suggest")
axes.plot(
    range(1, 21), np.mean([classes_known(order) for order in orders], axis=0), label="at random, mean of 200"
)
axes.set_xlabel("questions")
axes.set_ylabel("hidden classes that have a label")
axes.legend(loc="lower right")
