"""Moved to unseen.data.datasets and unseen.data.generators; this name goes when nothing uses it."""

from unseen.data.datasets import Dataset, dataset_names, load_dataset
from unseen.data.generators import planted_partition, random_graph

__all__ = ["Dataset", "dataset_names", "load_dataset", "planted_partition", "random_graph"]
