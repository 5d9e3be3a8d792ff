"""What a head solves, and the names of what it predicts."""

from __future__ import annotations

from everflow.api import public


@public("contrib.learn.ProblemType", "contrib.learn.python.learn.estimators.constants.ProblemType")
class ProblemType:
    """The kinds of problems, which decide how a model is served."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


@public("contrib.learn.PredictionKey", "contrib.learn.python.learn.estimators.prediction_key.PredictionKey")
class PredictionKey:
    """The names of predictions."""

    CLASSES = "classes"
    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LOGISTIC = "logistic"
    SCORES = "scores"
    TOP_K = "top_k"
    GENERIC = "output"
