"""
The leave-one-class-out test
============================

Discovery hides each labelled class in turn and measures how well it is recovered. The bars are the AUROC of each class:
0.5 is chance, 1 is perfect.
"""

import matplotlib.pyplot as plt

import unseen

data = unseen.load_dataset("debian")
split = unseen.completely_imbalanced_split(
    data.labels, label_rate=0.3, unseen=["mail", "sound"], random_state=0
)
found = unseen.discover(data.graph, split.seen_labels, random_state=0)

figure, axes = plt.subplots()
turns = sorted(found.self_test.classes, key=lambda turn: turn.auroc)
axes.barh([turn.name for turn in turns], [turn.auroc for turn in turns], color="tab:green")
axes.axvline(0.5, color="grey", linestyle=":")
axes.set_xlim(0.4, 1)
axes.set_xlabel("AUROC when hidden")
