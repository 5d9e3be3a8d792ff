"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.estimator import BaseEstimator as BaseEstimator
from everflow.contrib.learn.estimator import LearnEstimator as _Estimator
Estimator = _Estimator
from everflow.contrib.learn.exporting import GraphRewriteSpec as GraphRewriteSpec
from everflow.contrib.learn.estimator import SKCompat as SKCompat
from everflow.contrib.learn.estimator import get_input_fn as __get_input_fn
_get_input_fn = __get_input_fn
from everflow.contrib.learn.estimator import server_devices as __get_replica_device_setter
_get_replica_device_setter = __get_replica_device_setter
from everflow.contrib.learn.estimator import infer_real_valued_columns_from_input as infer_real_valued_columns_from_input
from everflow.contrib.learn.estimator import infer_real_valued_columns_from_input_fn as infer_real_valued_columns_from_input_fn
