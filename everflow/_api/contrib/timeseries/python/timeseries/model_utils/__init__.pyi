"""Written by `make index`."""
from typing import Any

from everflow.contrib.timeseries.prediction_times import times_to_predict as _canonicalize_times_or_steps_from_output
canonicalize_times_or_steps_from_output = _canonicalize_times_or_steps_from_output
from everflow.contrib.timeseries.prediction_times import fully_connected as fully_connected
from everflow.contrib.timeseries.prediction_times import parameter_switch as parameter_switch
