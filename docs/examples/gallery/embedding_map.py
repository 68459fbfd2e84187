"""
Vectors on a map
================

Smoothed words of the packages of six Debian sections, coloured by section.
"""

import matplotlib.pyplot as plt

import unseen

debian = unseen.load_dataset("debian")
sections = debian.labels.to_pandas()
rows = sections.isin(["database", "editors", "fonts", "mail", "sound", "web"]).to_numpy().nonzero()[0]
graph = debian.graph.subgraph(rows)

vectors = unseen.SmoothFeats(n_components=50, random_state=0).fit_transform(graph)
figure, axes = plt.subplots()
vectors.plot(colour=sections.iloc[rows], ax=axes)
axes.set_title("six sections of Debian")
