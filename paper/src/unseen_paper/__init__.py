"""The paper's experiments, claims and benchmarks, run on the library `unseen`."""

__version__ = "0.2.0"
