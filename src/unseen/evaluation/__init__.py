"""Evaluation: the classifier, the metrics and the protocol."""

from unseen.evaluation.clustering import ClusteringScore, clustering_scores
from unseen.evaluation.methods import evaluate_method, fit_and_evaluate
from unseen.evaluation.protocol import evaluate, evaluate_many
from unseen.evaluation.scores import Score, ScoreSummary

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
