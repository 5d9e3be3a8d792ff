"""What features and results of time series models are called."""

from __future__ import annotations

from everflow.api import public
from everflow.contrib.timeseries.publishing import published


@published("feature_keys.State")
class State:
    """The state of a model: whole in a feature, or its tensors one by one in a signature."""

    STATE_TUPLE = "start_tuple"
    STATE_PREFIX = "model_state"


@published("feature_keys.Times")
class Times:
    """When values were seen, or are to be predicted."""

    TIMES = "times"


@published("feature_keys.Values")
class Values:
    """What was seen."""

    VALUES = "values"


@public("contrib.timeseries.TrainEvalFeatures")
class TrainEvalFeatures(Times, Values):
    """What training and evaluation take."""


@published("feature_keys.PredictionFeatures")
class PredictionFeatures(Times, State):
    """What prediction takes."""


@published("feature_keys.FilteringFeatures")
class FilteringFeatures(Times, Values, State):
    """What filtering takes, which brings a state up to date with values."""


@published("feature_keys.PredictionResults")
class PredictionResults(Times):
    """What predictions come with."""


@public("contrib.timeseries.FilteringResults")
class FilteringResults(Times, State):
    """What filtering gives."""


@published("feature_keys.SavedModelLabels")
class SavedModelLabels:
    """The signatures of exported models."""

    PREDICT = "serving_default"
    FILTER = "filter"
    COLD_START_FILTER = "cold_start_filter"
