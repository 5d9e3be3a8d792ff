"""Written by `make index`."""
from typing import Any

from everflow.contrib.timeseries.state_space.structural import MultiResolutionStructuralEnsemble as MultiResolutionStructuralEnsemble
from everflow.contrib.timeseries.state_space.structural import StructuralEnsemble as StructuralEnsemble
