"""RSDNE as the paper writes it down."""

from unseen_paper.dense.rsdne import DenseRSDNE, laplacian

__all__ = ["DenseRSDNE", "laplacian"]
