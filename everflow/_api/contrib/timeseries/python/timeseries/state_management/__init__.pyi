"""Written by `make index`."""
from typing import Any

from everflow.contrib.timeseries.state_managers import ChainingStateManager as ChainingStateManager
from everflow.contrib.timeseries.state_managers import FilteringOnlyStateManager as FilteringOnlyStateManager
from everflow.contrib.timeseries.state_managers import PassthroughStateManager as PassthroughStateManager
from everflow.contrib.timeseries.state_managers import OverridableStateManager as __OverridableStateManager
_OverridableStateManager = __OverridableStateManager
