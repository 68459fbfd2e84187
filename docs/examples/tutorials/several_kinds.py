"""
A graph with several kinds of nodes
===================================

Authors write papers, papers appear at venues. Authors have a field of work, and some fields have no label. Papers
have words; authors and venues have no features at all.
"""

# %%
# Tables
# ------
# A table of nodes with a column ``type``, one of edges, and the features of each type that has some. We draw 300
# authors of four fields, and what they wrote.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import unseen

rng = np.random.default_rng(0)
fields = np.array(["biology", "chemistry", "physics", "history"])
authors = [f"author-{k}" for k in range(300)]
field = dict(zip(authors, rng.choice(fields, 300), strict=True))
venues = {name: [f"{name}-{k}" for k in range(3)] for name in fields}

papers, edges = {}, []
for k in range(700):
    first = authors[rng.integers(300)]
    papers[f"paper-{k}"] = field[first]
    same = [name for name in authors if field[name] == field[first]]
    edges += [(writer, f"paper-{k}") for writer in {first, *rng.choice(same, 2)}]
    place = field[first] if rng.random() < 0.7 else rng.choice(fields)
    edges.append((f"paper-{k}", rng.choice(venues[place])))

kinds = dict.fromkeys(authors, "author") | dict.fromkeys(papers, "paper")
kinds |= dict.fromkeys((name for three in venues.values() for name in three), "venue")
nodes = pd.DataFrame({"node": list(kinds), "type": list(kinds.values())})
words = rng.poisson(0.2, (700, 40))
for row, name in enumerate(papers.values()):
    start = 10 * int(np.flatnonzero(fields == name)[0])
    words[row, start : start + 10] += rng.poisson(0.3, 10)
paper_words = pd.DataFrame(words, columns=[f"{fields[k // 10]}-word-{k % 10}" for k in range(40)])
paper_words.insert(0, "node", list(papers))
nodes["type"].value_counts()

# %%
# Read
# ----
# Relations get their names from the types at their ends.

known = {name: field[name] for name in authors[:120] if field[name] in ("biology", "chemistry")}
data = unseen.read(
    pd.DataFrame(edges, columns=["src", "dst"]),
    nodes,
    features={"paper": paper_words},
    labels=pd.DataFrame({"node": list(known), "label": list(known.values())}),
)
data.graph.relations

# %%
# What is missing among authors
# -----------------------------
# Labels are of authors, so it is authors that are looked at. ``rect-plus`` follows paths of relations: an author's
# papers, their words, their venues.

found = unseen.discover(data.graph, data.labels, random_state=0)
print(found.summary())

# %%
# Beside the truth:

table = found.nodes.to_pandas().set_index("node")
pd.crosstab(table["group"].fillna("labelled class"), pd.Series(field)[table.index])

# %%
# Vectors of all nodes
# --------------------
# Every node gets a vector, whatever its type. Methods that do not use relations work on the undirected,
# single-type graph; a notice says so.

vectors = unseen.RECTPlus(random_state=0).fit_transform(data.graph, data.labels)
only = unseen.Embedding(vectors[authors], authors)
figure, axes = plt.subplots()
only.plot(field, ax=axes)

# %%
# On the command line::
#
#     unseen discover edges.csv --nodes nodes.csv --features paper=papers.csv --labels labels.csv
#
# More about directions, signs and paths: :doc:`/relations`.
