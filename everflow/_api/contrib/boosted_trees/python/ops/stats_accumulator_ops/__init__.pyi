"""Written by `make index`."""
from typing import Any

from everflow.contrib.boosted_trees.accumulators import StatsAccumulator as StatsAccumulator
from everflow.contrib.boosted_trees.accumulators import StatsAccumulatorSaveable as StatsAccumulatorSaveable
