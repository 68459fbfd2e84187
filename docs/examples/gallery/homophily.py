"""
Do linked nodes share a class?
==============================

For each Debian section, the share of its dependencies that stay inside, and what chance would give.
"""

import matplotlib.pyplot as plt
import numpy as np

import unseen

data = unseen.load_dataset("debian")
ends = data.graph.adjacency.tocoo()
classes = data.labels.codes
inside = [np.mean(classes[ends.col[classes[ends.row] == k]] == k) for k in range(len(data.labels.classes))]
chance = [np.mean(classes[ends.col] == k) for k in range(len(data.labels.classes))]

figure, axes = plt.subplots()
axes.barh(data.labels.classes, inside, color="tab:blue", label="share of links inside")
axes.barh(data.labels.classes, chance, height=0.3, color="tab:orange", label="by chance")
axes.set_xlim(0, 1)
axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.12), ncols=2, frameon=False)
