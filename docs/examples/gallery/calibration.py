"""
Are the probabilities right?
============================

Among nodes with a probability of about 0.8, about 80 % should be of a new class. The leave-one-class-out
test measures it on the classes that it hides.
"""

import matplotlib.pyplot as plt

import unseen

data = unseen.planted_partition(1000, 6, degree_between=5, words_of_class=2, random_state=0)
split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c4", "c5"], random_state=0)
found = unseen.discover(data.graph, split.seen_labels, random_state=0)

figure, axes = plt.subplots(figsize=(4.5, 4))
bins = [one for one in found.self_test.bins if one.n]
axes.plot([0, 1], [0, 1], color="lightgrey")
axes.scatter([one.predicted for one in bins], [one.observed for one in bins], s=[one.n for one in bins])
axes.set_xlabel("probability")
axes.set_ylabel("share that was hidden")
