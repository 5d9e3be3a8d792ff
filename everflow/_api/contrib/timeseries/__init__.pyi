"""Written by `make index`."""
from typing import Any

from everflow.contrib.timeseries.ar_model import ARModel as ARModel
from everflow.contrib.timeseries.estimators import ARRegressor as ARRegressor
from everflow.contrib.timeseries.readers import CSVReader as CSVReader
from everflow.contrib.timeseries.feature_keys import FilteringResults as FilteringResults
from everflow.contrib.timeseries.readers import NumpyReader as NumpyReader
from everflow.contrib.timeseries.heads import OneShotPredictionHead as OneShotPredictionHead
from everflow.contrib.timeseries.windows import RandomWindowInputFn as RandomWindowInputFn
from everflow.contrib.timeseries.estimators import StructuralEnsembleRegressor as StructuralEnsembleRegressor
from everflow.contrib.timeseries.estimators import TimeSeriesRegressor as TimeSeriesRegressor
from everflow.contrib.timeseries.feature_keys import TrainEvalFeatures as TrainEvalFeatures
from everflow.contrib.timeseries.windows import WholeDatasetInputFn as WholeDatasetInputFn
from everflow.contrib.timeseries.windows import predict_continuation_input_fn as predict_continuation_input_fn
from everflow._api.contrib.timeseries import python as python
