"""
Labelling to the end with the app
=================================

``unseen label`` serves a page on which you look at the graph, name groups, answer questions and update. This tutorial
plays it through from start to end. The page is for people; here a script gives the answers, over the same requests
that the page uses.

.. image:: /images/label-light.png
   :alt: The page of the app: a found group is selected to be labelled
"""

# %%
# Files
# -----
# A graph of 300 nodes in five classes. A third of the nodes of three classes is labelled.

import atexit
import json
import subprocess
import sys
import time
import urllib.request

import pandas as pd

import unseen

drawn = unseen.planted_partition(300, 5, random_state=2)
truth = drawn.labels.to_pandas()
truth.index = truth.index.astype(str)
pd.DataFrame(drawn.graph.to_networkx().edges, columns=["src", "dst"]).to_csv("edges.csv", index=False)
words = pd.DataFrame(drawn.graph.features.toarray(), columns=drawn.graph.feature_names)
words.rename_axis("node").to_csv("features.csv")
known = truth[truth.isin(["c0", "c1", "c2"])].sample(frac=0.35, random_state=0)
known.rename("label").rename_axis("node").to_csv("labels.csv")

# %%
# Start the app
# -------------
# On a terminal you would type::
#
#     unseen label edges.csv --features features.csv --labels labels.csv
#
# It finds out what the labels miss, prints an address and opens it in the browser.

words = ["label", "edges.csv", "--features", "features.csv", "--labels", "labels.csv", "--no-browser"]
app = subprocess.Popen(
    [sys.executable, "-c", "from unseen.cli import main; main()", *words], stderr=subprocess.PIPE, text=True
)
_ = atexit.register(app.kill)
address = next(line.strip() for line in app.stderr if line.startswith("http://"))


def ask(name, body=None):
    """Send one request of the page."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address + name, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


# %%
# The questions
# -------------
# *Label next* asks the most telling questions first. We answer all of them with the truth; on the page it is one key
# each.


def answer_questions(budget):
    """Answer the first questions of the page, which are those of ``unseen suggest``."""
    data = unseen.read("edges.csv", features="features.csv", labels="labels.csv")
    questions = unseen.suggest(data.graph, data.labels, budget=budget, random_state=0)
    for question in questions:
        state = ask("answers", {"node": question.node, "label": truth[question.node]})
    print(question.reason)
    return state["classes"]


answer_questions(12)

# %%
# A mistake is taken back by *undo*, over sessions too:

node = truth.index[0]
print(ask("answers", {"node": node, "label": "oops"})["classes"])
print(ask("undo", {})["classes"])

# %%
# Update
# ------
# *Update* finds anew what is missing, with the answers.

started = ask("update", {})
while ask("state")["update"]["running"]:
    time.sleep(0.2)
findings = ask("state?revision=0&findings=0")["findings"]
findings["found"]["count"]["best"], "missing class"

# %%
# A few labels of the new classes are not enough to tell them from the rest. So we go on.

answer_questions(12)

# %%
# The end
# -------
# Ctrl-C ends the app. Every answer was on disk before the page said *saved*; the file as it was before the first
# answer is ``labels.csv.bak``.

app.terminate()
_ = app.wait()
app.stderr.close()
pd.read_csv("labels.csv")["label"].value_counts()

# %%
# Now every class has labels. Is anything still missing?

data = unseen.read("edges.csv", features="features.csv", labels="labels.csv")
print(unseen.discover(data.graph, data.labels, random_state=0).summary())

# %%
# All keys, files and options: :doc:`/labelling`.
