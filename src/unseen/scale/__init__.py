"""Graphs beyond one machine: partition files, and the distributed entry point (``python -m unseen.scale``)."""
