"""Evaluation: the classifier, the metrics and the protocol."""

from unseen.evaluation.methods import evaluate_method, fit_and_evaluate
from unseen.evaluation.protocol import clustering_scores, evaluate, evaluate_many
from unseen.evaluation.scores import ClusteringScore, Score, ScoreSummary

__all__ = [
    "ClusteringScore",
    "Score",
    "ScoreSummary",
    "clustering_scores",
    "evaluate",
    "evaluate_many",
    "evaluate_method",
    "fit_and_evaluate",
]
