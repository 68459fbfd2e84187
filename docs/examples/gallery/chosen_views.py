"""
What the default method looked at
=================================

``rect-plus`` tests each view of the graph on the labels it may see, and takes the best ones.
"""

import matplotlib.pyplot as plt

import unseen

data = unseen.planted_partition(600, 5, degree_between=6, words_of_class=2, random_state=0)
split = unseen.completely_imbalanced_split(data.labels, label_rate=0.2, unseen=["c4"], random_state=0)
method = unseen.RECTPlus(random_state=0).fit(data.graph, split.seen_labels)

figure, axes = plt.subplots(figsize=(6, 6))
scores = sorted(method.view_scores_.items(), key=lambda item: item[1])
colours = ["tab:blue" if name in method.views_ else "lightgrey" for name, _ in scores]
axes.barh([name for name, _ in scores], [score for _, score in scores], color=colours)
axes.tick_params(axis="y", labelsize=7)
axes.set_xlabel("share of the labels it finds (leave-one-out); blue: taken")
