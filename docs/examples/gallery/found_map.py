"""
Found groups on a map
=====================

Two of six Debian sections have no label. Each colour is a group that discovery found.
"""

import matplotlib.pyplot as plt

import unseen

debian = unseen.load_dataset("debian")
sections = debian.labels.to_pandas()
rows = sections.isin(["database", "editors", "fonts", "mail", "sound", "web"]).to_numpy().nonzero()[0]
graph = debian.graph.subgraph(rows)
labels = debian.labels.of_nodes(graph.node_ids)
split = unseen.completely_imbalanced_split(labels, label_rate=0.3, unseen=["mail", "sound"], random_state=0)

found = unseen.discover(graph, split.seen_labels, random_state=0)
figure, axes = plt.subplots()
found.plot(ax=axes)
axes.set_title("new-1 and new-3 are sound, new-2 is mail")
