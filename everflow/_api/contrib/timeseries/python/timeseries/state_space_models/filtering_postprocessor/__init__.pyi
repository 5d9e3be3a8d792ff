"""Written by `make index`."""
from typing import Any

from everflow.contrib.timeseries.state_space.postprocessing import FilteringStepPostprocessor as FilteringStepPostprocessor
from everflow.contrib.timeseries.state_space.postprocessing import StateInterpolatingAnomalyDetector as StateInterpolatingAnomalyDetector
from everflow.contrib.timeseries.state_space.postprocessing import cauchy_alternative_to_gaussian as cauchy_alternative_to_gaussian
