"""Experiments: the demonstration on the bundled graph, the paper's tables and figures."""
