"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.pieces import mean_squared_error_regressor as mean_squared_error_regressor
from everflow.contrib.learn.pieces import softmax_classifier as softmax_classifier
