"""Written by `make index`."""
from typing import Any

from everflow.contrib.timeseries.model import ModelOutputs as ModelOutputs
from everflow.contrib.timeseries.sequential_model import SequentialTimeSeriesModel as SequentialTimeSeriesModel
from everflow.contrib.timeseries.model import TimeSeriesModel as TimeSeriesModel
