"""Written by `make index`."""
from typing import Any

from everflow.contrib.timeseries.state_space.level_trend import AdderStateSpaceModel as AdderStateSpaceModel
