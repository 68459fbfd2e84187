"""
A signed graph
==============

Two camps: friends inside, opponents across, and some links that say nothing. ``rect-plus`` uses the signs. Red links
are negative.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

import unseen

rng = np.random.default_rng(0)
camp = np.repeat([0, 1], 30)
src, dst = rng.integers(60, size=(2, 260))
weight = np.where(camp[src] == camp[dst], 1.0, -1.0) * np.where(rng.random(260) < 0.1, -1, 1)
matrix = np.zeros((60, 60))
matrix[src, dst] = weight
matrix = np.triu(matrix, 1)
graph = unseen.Graph.from_relations([unseen.Relation("says of", None, None, matrix)])
known = ["left" if k < 6 else "right" if 30 <= k < 36 else None for k in range(60)]

vectors = unseen.RECTPlus(random_state=0).fit_transform(graph, known)
places = PCA(2, random_state=0).fit_transform(vectors.vectors)

figure, axes = plt.subplots()
for i, j in zip(*matrix.nonzero(), strict=True):
    axes.plot(
        *places[[i, j]].T, color="tab:red" if matrix[i, j] < 0 else "tab:green", alpha=0.25, linewidth=0.7
    )
axes.scatter(*places.T, c=np.where(camp, "tab:orange", "tab:blue"), zorder=2)
axes.set_axis_off()
