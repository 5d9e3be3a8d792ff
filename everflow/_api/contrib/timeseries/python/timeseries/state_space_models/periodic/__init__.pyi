"""Written by `make index`."""
from typing import Any

from everflow.contrib.timeseries.state_space.periodic import CycleStateSpaceModel as CycleStateSpaceModel
from everflow.contrib.timeseries.state_space.periodic import ResolutionCycleModel as ResolutionCycleModel
