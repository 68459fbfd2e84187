"""
Your first graph
================

You have a graph in files, and labels for some of its nodes. In this tutorial you make a vector for every node, find
out what the labels miss, and name what was found.

The same steps on the command line are at the end of each part.
"""

# %%
# Three files
# -----------
# Edges, texts and labels are tables. We write them from a graph that comes with the package: Debian packages, linked
# where one depends on another, with the words of their descriptions. To keep it short we take six of its twelve
# sections.

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

import unseen

debian = unseen.load_dataset("debian")
sections = debian.labels.to_pandas()
six = sections.isin(["database", "editors", "fonts", "mail", "sound", "web"]).to_numpy()
graph = debian.graph.subgraph(six.nonzero()[0])
sections = sections[six]

links = graph.to_networkx()
pd.DataFrame(links.edges, columns=["src", "dst"]).to_csv("edges.csv", index=False)
words = [" ".join(graph.feature_names[k] for k in row.nonzero()[0]) for row in graph.features.toarray()]
pd.DataFrame({"node": graph.node_ids, "text": words}).to_csv("texts.csv", index=False)

# %%
# Nobody thought of ``mail`` and ``sound``, and a third of the other packages got a label. Nodes without a label
# are simply not in the file.

known = sections[~sections.isin(["mail", "sound"])].sample(frac=0.3, random_state=0)
known.rename("label").rename_axis("node").to_csv("labels.csv")
for name in ("edges.csv", "texts.csv", "labels.csv"):
    print(name, *Path(name).read_text().splitlines()[:4], sep="\n    ")

# %%
# Read them
# ---------
# Words of the texts become features. The file of texts is given as the list of nodes, too, because some packages have
# no edge.

data = unseen.read("edges.csv", nodes="texts.csv", text="texts.csv", labels="labels.csv")
data.labels

# %%
# A vector for every node
# -----------------------
# ``RECTPlus`` is the recommended method. It looks only at the labels you give it.

vectors = unseen.RECTPlus(random_state=0).fit_transform(data.graph, data.labels)
vectors.save("vectors.parquet")
vectors["mutt"][:5]

# %%
# Vectors go by node id. They are an ``X`` for scikit-learn, too: here are the packages nearest to a mail program,
# although no label ever said "mail".

from sklearn.neighbors import NearestNeighbors

nearest = NearestNeighbors(n_neighbors=6, metric="cosine").fit(vectors)
rows = nearest.kneighbors(vectors[["mutt"]], return_distance=False)[0]
vectors.node_ids[rows].tolist()

# %%
# On the command line::
#
#     unseen embed edges.csv --nodes texts.csv --text texts.csv --labels labels.csv -o vectors.parquet
#
# What do the labels miss?
# ------------------------

found = unseen.discover(data.graph, data.labels, random_state=0)
print(found.summary())

# %%
# Each node has a probability of belonging to a missing class:

found.nodes.to_pandas().sort_values("unseen_probability", ascending=False).head()

# %%
# The map shows where the groups are. Grey nodes fit a labelled class.

figure, axes = plt.subplots()
found.plot(ax=axes)

# %%
# On the command line::
#
#     unseen discover edges.csv --nodes texts.csv --text texts.csv --labels labels.csv -o nodes.parquet
#
# Name what was found
# -------------------
# Captions and typical members tell what a group is about. Give the groups names; two groups may get the same one.
# Only nodes with a probability of at least 0.8 become labels.

names = {}
for group in found.classes:
    names[group.group] = "mail" if "mail" in group.caption else "sound"
labels = found.accept(names, at_least=0.8)
labels.save("labels-2.csv")
names, labels

# %%
# How right are they? Here we know the truth:

new = labels.to_pandas()[lambda column: column.isin(["mail", "sound"])]
print(f"{(new == sections[new.index]).mean():.0%} of {len(new)} new labels are right")

# %%
# On the command line::
#
#     unseen accept labels.csv nodes.parquet new-1=sound new-2=mail --at-least 0.8 -o labels-2.csv
#
# Next
# ----
# * Look at it: ``unseen explore edges.csv --nodes texts.csv --text texts.csv --labels labels.csv`` writes a page.
# * :doc:`Label in your browser </howto/label>`; the list of missing classes is updated as you go.
# * :doc:`How it works </explanation/discovery>`, and :doc:`what is guaranteed </explanation/guarantees>`.
