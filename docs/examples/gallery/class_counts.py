"""
How many labels each class has
==============================

The first thing to look at: which classes have labels, and how many.
"""

import matplotlib.pyplot as plt

import unseen

labels = unseen.load_dataset("debian").labels
split = unseen.completely_imbalanced_split(labels, label_rate=0.1, unseen=["mail", "sound"], random_state=0)
all_labels = dict(zip(labels.classes, labels.counts, strict=True))
known = dict(zip(split.seen_labels.classes, split.seen_labels.counts, strict=True))

figure, axes = plt.subplots()
axes.barh(list(all_labels), list(all_labels.values()), color="lightgrey", label="in truth")
axes.barh(list(all_labels), [known.get(name, 0) for name in all_labels], color="tab:blue", label="labelled")
axes.set_xlabel("packages")
axes.legend()
