"""Written by `make index`."""
from typing import Any

from everflow.contrib.timeseries.heads import TimeSeriesRegressionHead as TimeSeriesRegressionHead
from everflow.contrib.timeseries.heads import state_to_dictionary as state_to_dictionary
