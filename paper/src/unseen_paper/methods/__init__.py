"""The baselines of the paper's comparison, registered as methods of ``unseen`` by entry points."""
