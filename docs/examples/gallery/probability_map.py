"""
The probability of a missing class
==================================

Numbers colour the map on a scale: here the probability that a node belongs to a missing class.
"""

import matplotlib.pyplot as plt
import numpy as np

import unseen

data = unseen.planted_partition(800, 6, random_state=0)
split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c4", "c5"], random_state=0)
found = unseen.discover(data.graph, split.seen_labels, random_state=0)

probability = np.zeros(len(found.embedding))
probability[found.nodes["node"].to_numpy()] = found.nodes["unseen_probability"].to_numpy()
figure, axes = plt.subplots()
found.embedding.plot(colour=probability, ax=axes)
axes.set_title("bright: probably of no labelled class")
