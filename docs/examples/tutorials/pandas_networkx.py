"""
From pandas and networkx
========================

Graphs that are Python objects already need no files. This tutorial takes edges from a data frame and from networkx,
labels from a series, and gives the results back as frames.
"""

# %%
# A frame of edges
# ----------------
# We draw one: 400 nodes in five teams that mostly talk among themselves, and the words they use.

import pandas as pd

import unseen

drawn = unseen.planted_partition(400, 5, random_state=0)
edges = pd.DataFrame(drawn.graph.to_networkx().edges, columns=["from_user", "to_user"])
words = pd.DataFrame(drawn.graph.features.toarray(), columns=drawn.graph.feature_names)
teams = drawn.labels.to_pandas()
edges.head(3)

# %%
# Columns may have any names; say which is which.

graph = unseen.read_graph(
    edges, features=words.rename_axis("node").reset_index(), src="from_user", dst="to_user"
)
graph

# %%
# Labels from a series
# --------------------
# A series goes by its index, so its order does not matter and it may be short. Half of three teams is known, and
# nothing of ``c3`` and ``c4``.

known = teams[teams.isin(["c0", "c1", "c2"])].sample(frac=0.5, random_state=1)
found = unseen.discover(graph, known, random_state=0)
print(found.summary())

# %%
# Back to pandas
# --------------
nodes = found.nodes.to_pandas().set_index("node")
pd.crosstab(nodes["group"].fillna("labelled class"), teams[nodes.index])

# %%
# Vectors are a frame with a row for each node:

vectors = unseen.SmoothFeats(n_components=16, random_state=0).fit_transform(graph)
vectors.to_pandas().iloc[:3, :4]

# %%
# networkx
# --------
# A networkx graph is taken where a graph is. What comes out can be put back as attributes.

import networkx as nx

theirs = nx.karate_club_graph()
club = {node: theirs.nodes[node]["club"] for node in (0, 1, 2, 3, 33, 32, 31, 30)}
vectors = unseen.MFDW(n_components=4, random_state=0).fit_transform(theirs, club)
nx.set_node_attributes(theirs, {node: vectors[node].tolist() for node in vectors}, "vector")
theirs.nodes[5]["vector"]

# %%
# Directions, signs and types of edges are kept where networkx has them: see :doc:`several_kinds`.
#
# In a pipeline of scikit-learn
# -----------------------------
# ``NodeVectors`` turns node ids into vectors. A grid search then cuts folds of nodes, and each fold learns from its
# own labels only.

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

steps = make_pipeline(unseen.NodeVectors(graph, unseen.SmoothFeats(random_state=0)), LogisticRegression())
search = GridSearchCV(steps, {"nodevectors__method__steps": [0, 2]}, cv=3)
search.fit(graph.node_ids, teams[graph.node_ids])
search.best_params_, round(search.best_score_, 3)
