"""RECT as the paper writes it down."""

from unseen_paper.dense.rect import (
    dense_features,
    propagation_matrix,
    structure_loss,
    train_rect,
    train_rect_l,
    train_rect_n,
    walk_matrix,
)

__all__ = [
    "dense_features",
    "propagation_matrix",
    "structure_loss",
    "train_rect",
    "train_rect_l",
    "train_rect_n",
    "walk_matrix",
]
