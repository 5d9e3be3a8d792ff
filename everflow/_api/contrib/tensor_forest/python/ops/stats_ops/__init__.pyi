"""Written by `make index`."""
from typing import Any

from everflow.contrib.tensor_forest.resources import FertileStatsVariable as FertileStatsVariable
from everflow.contrib.tensor_forest.resources import FertileStatsVariableSavable as FertileStatsVariableSavable
from everflow.contrib.tensor_forest.resources import fertile_stats_variable as fertile_stats_variable
