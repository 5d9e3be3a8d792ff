"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.timeseries.python.timeseries.state_space_models import filtering_postprocessor as filtering_postprocessor
from everflow._api.contrib.timeseries.python.timeseries.state_space_models import kalman_filter as kalman_filter
from everflow._api.contrib.timeseries.python.timeseries.state_space_models import level_trend as level_trend
from everflow._api.contrib.timeseries.python.timeseries.state_space_models import periodic as periodic
from everflow._api.contrib.timeseries.python.timeseries.state_space_models import state_space_model as state_space_model
from everflow._api.contrib.timeseries.python.timeseries.state_space_models import structural_ensemble as structural_ensemble
from everflow._api.contrib.timeseries.python.timeseries.state_space_models import varma as varma
