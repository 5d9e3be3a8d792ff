"""Written by `make index`."""
from typing import Any

from everflow.contrib.timeseries.estimators import LSTMAutoRegressor as LSTMAutoRegressor
from everflow.contrib.timeseries.estimators import StateSpaceRegressor as StateSpaceRegressor
