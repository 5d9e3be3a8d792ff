"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.models.linear import LinearClassifier as LinearClassifier
from everflow.contrib.learn.models.linear import LinearEstimator as LinearEstimator
from everflow.contrib.learn.models.linear import LinearRegressor as LinearRegressor
from everflow.contrib.learn.models.sdca import UpdateWeightsHook as __SdcaUpdateWeightsHook
_SdcaUpdateWeightsHook = __SdcaUpdateWeightsHook
from everflow.contrib.learn.models.sdca import add_bias_column as __add_bias_column
_add_bias_column = __add_bias_column
from everflow.contrib.learn.models.linear import linear_model_fn as __linear_model_fn
_linear_model_fn = __linear_model_fn
from everflow.contrib.learn.models.sdca import sdca_model_fn as sdca_model_fn
