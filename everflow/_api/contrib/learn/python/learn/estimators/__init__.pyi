"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.learn.python.learn.estimators import _sklearn as _sklearn
from everflow._api.contrib.learn.python.learn.estimators import constants as constants
from everflow._api.contrib.learn.python.learn.estimators import estimator as estimator
from everflow._api.contrib.learn.python.learn.estimators import head as head
from everflow._api.contrib.learn.python.learn.estimators import metric_key as metric_key
from everflow._api.contrib.learn.python.learn.estimators import model_fn as model_fn
from everflow._api.contrib.learn.python.learn.estimators import prediction_key as prediction_key
from everflow._api.contrib.learn.python.learn.estimators import run_config as run_config
from everflow._api.contrib.learn.python.learn.estimators import tensor_signature as tensor_signature
