"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.models.dnn import DNNClassifier as DNNClassifier
from everflow.contrib.learn.models.dnn import DNNEstimator as DNNEstimator
from everflow.contrib.learn.models.dnn import DNNRegressor as DNNRegressor
from everflow.contrib.learn.models.dnn import dnn_model_fn as __dnn_model_fn
_dnn_model_fn = __dnn_model_fn
