"""Parameters of the baselines alone; those that they share with other methods are in `unseen.methods.vocabulary`."""

from __future__ import annotations

from typing import Annotated

from unseen.params import Limits

FallingRate = Annotated[
    float, Limits(0, open_low=True), "First step size of Adam; it falls linearly to zero."
]
Patience = Annotated[int, Limits(1), "Stop after so many epochs without an improvement."]
ValidationShare = Annotated[
    float,
    Limits(0, 0.9),
    "Share of the labelled nodes that is kept for deciding when to stop; where that is no node, the training nodes "
    "decide.",
]
Propagate = Annotated[
    bool, "Whether the vectors are spread like the predictions; if not, they are the hidden layer."
]
GraphWeight = Annotated[float, Limits(0), "Weight of the graph against the labels."]
Slack = Annotated[
    float,
    Limits(0, open_low=True),
    "Weight of the slack in the SVM, which sees the vectors scaled to a mean square length of 1.",
]
NormalizeFeatures = Annotated[
    bool,
    "Whether the reduced features get rows of length 1, so that no node weighs more for having more words.",
]
