"""
How many classes are missing?
=============================

The number comes with an interval, and with the curve that it was read from.
"""

import matplotlib.pyplot as plt

import unseen

data = unseen.planted_partition(800, 7, random_state=1)
split = unseen.completely_imbalanced_split(
    data.labels, label_rate=0.3, unseen=["c4", "c5", "c6"], random_state=0
)
count = unseen.discover(data.graph, split.seen_labels, random_state=0).count

figure, axes = plt.subplots()
numbers, scores = zip(*count.curve, strict=True)
axes.bar(numbers, scores, color=["tab:red" if n == count.best else "lightgrey" for n in numbers])
axes.set_xlabel("number of missing classes")
axes.set_title(f"best {count.best}, between {count.low} and {count.high}; the truth is 3")
