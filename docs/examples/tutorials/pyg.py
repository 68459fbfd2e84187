"""
From PyTorch Geometric
======================

A ``Data`` object goes in, and vectors and probabilities come back as tensors, in the order of its nodes.
"""

# %%
# We make a ``Data`` object from a drawn graph; yours comes from a data set or a loader. ``y`` has class numbers, and
# -1 where a node has no label. Classes 3 and 4 are never labelled.

import torch

import unseen

drawn = unseen.planted_partition(500, 5, random_state=0)
data = drawn.graph.to_pyg(drawn.labels)
truth = data.y.clone()
labelled = (torch.rand(500, generator=torch.Generator().manual_seed(0)) < 0.3) & (truth < 3)
data.y = torch.where(labelled, truth, -1)
data

# %%
# Into unseen
# -----------
graph = unseen.Graph.from_pyg(data)
labels = unseen.Labels.from_values(data.y.tolist(), graph.node_ids)
graph, labels

# %%
# RECT, the paper's neural method, and a GCN. Both see the labels of three classes. Afterwards a linear classifier
# gets a tenth of the labels of all five.

split = unseen.completely_imbalanced_split(drawn.labels, label_rate=0.1, unseen=["c3", "c4"], random_state=0)
for method in (
    unseen.GCN(random_state=0),
    unseen.RECT(epochs=50, random_state=0),
    unseen.RECTPlus(random_state=0),
):
    score = unseen.evaluate(method.fit_transform(graph, labels), drawn.labels, split)
    print(f"{type(method).__name__:10} seen {score.seen_f1:.2f}   unseen {score.unseen_f1:.2f}")

# %%
# Back into PyTorch Geometric
# ---------------------------
# Vectors are float32, one row for each node in the order of ``graph.node_ids``, which is the order of ``data``.

vectors = unseen.RECTPlus(random_state=0).fit_transform(graph, labels)
data.x_unseen = torch.from_numpy(vectors.vectors.copy())

found = unseen.discover(graph, labels, random_state=0)
data.p_unseen = torch.zeros(data.num_nodes)
rows = torch.tensor(found.nodes["node"].to_pylist())
data.p_unseen[rows] = torch.tensor(found.nodes["unseen_probability"].to_pylist())
data

# %%
# Nodes of the classes 3 and 4 should come first:

order = data.p_unseen.argsort(descending=True)[:150]
print(f"{(truth[order] >= 3).float().mean():.0%} of the first 150 nodes are of an unlabelled class")

# %%
# ``HeteroData`` works the same way: ``unseen.Graph.from_pyg`` keeps types and relations, and ``graph.to_pyg(labels)``
# gives them back. See :doc:`several_kinds`.
