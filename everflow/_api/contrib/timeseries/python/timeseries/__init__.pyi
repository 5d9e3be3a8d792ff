"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.timeseries.python.timeseries import ar_model as ar_model
from everflow._api.contrib.timeseries.python.timeseries import estimators as estimators
from everflow._api.contrib.timeseries.python.timeseries import feature_keys as feature_keys
from everflow._api.contrib.timeseries.python.timeseries import head as head
from everflow._api.contrib.timeseries.python.timeseries import input_pipeline as input_pipeline
from everflow._api.contrib.timeseries.python.timeseries import math_utils as math_utils
from everflow._api.contrib.timeseries.python.timeseries import model as model
from everflow._api.contrib.timeseries.python.timeseries import model_utils as model_utils
from everflow._api.contrib.timeseries.python.timeseries import saved_model_utils as saved_model_utils
from everflow._api.contrib.timeseries.python.timeseries import state_management as state_management
from everflow._api.contrib.timeseries.python.timeseries import state_space_models as state_space_models
