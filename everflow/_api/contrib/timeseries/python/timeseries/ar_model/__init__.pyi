"""Written by `make index`."""
from typing import Any

from everflow.contrib.timeseries.anomaly_ar_model import AnomalyMixtureARModel as AnomalyMixtureARModel
from everflow.contrib.timeseries.prediction_networks import FlatPredictionModel as FlatPredictionModel
from everflow.contrib.timeseries.prediction_networks import LSTMPredictionModel as LSTMPredictionModel
