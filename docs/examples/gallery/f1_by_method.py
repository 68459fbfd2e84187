"""
F1 by method
============

Six Debian sections, two hidden from the vectors, 10 % of the labels for a linear classifier at the end.
"""

import matplotlib.pyplot as plt
import numpy as np

import unseen

debian = unseen.load_dataset("debian")
sections = debian.labels.to_pandas()
rows = sections.isin(["database", "editors", "fonts", "mail", "sound", "web"]).to_numpy().nonzero()[0]
graph = debian.graph.subgraph(rows)
labels = unseen.Labels.from_values(sections.iloc[rows], graph.node_ids)
split = unseen.completely_imbalanced_split(labels, label_rate=0.1, unseen=["mail", "sound"], random_state=0)

methods = ("mfdw", "rsdne-light", "nodefeats", "gcn", "smoothfeats", "rect-plus")
scores = []
for name in methods:
    vectors = unseen.make_method(name, random_state=0).fit_transform(graph, split.seen_labels)
    scores.append(unseen.evaluate(vectors, labels, split))

figure, axes = plt.subplots(figsize=(6.5, 4))
places = np.arange(len(methods))
axes.bar(places - 0.2, [score.seen_f1 for score in scores], 0.4, label="labelled sections")
axes.bar(places + 0.2, [score.unseen_f1 for score in scores], 0.4, label="hidden sections")
axes.set_xticks(places, methods)
axes.set_ylabel("F1")
axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.12), ncols=2, frameon=False)
