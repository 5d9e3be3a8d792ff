"""Written by `make index`."""
from typing import Any

from everflow.contrib.timeseries.feature_keys import FilteringFeatures as FilteringFeatures
from everflow.contrib.timeseries.feature_keys import PredictionFeatures as PredictionFeatures
from everflow.contrib.timeseries.feature_keys import PredictionResults as PredictionResults
from everflow.contrib.timeseries.feature_keys import SavedModelLabels as SavedModelLabels
from everflow.contrib.timeseries.feature_keys import State as State
from everflow.contrib.timeseries.feature_keys import Times as Times
from everflow.contrib.timeseries.feature_keys import Values as Values
