"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.models.debugging import DebugClassifier as DebugClassifier
from everflow.contrib.learn.models.debugging import DebugRegressor as DebugRegressor
from everflow.contrib.learn.models.debugging import debug_model_fn as debug_model_fn
