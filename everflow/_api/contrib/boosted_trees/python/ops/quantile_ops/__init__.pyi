"""Written by `make index`."""
from typing import Any

from everflow.contrib.boosted_trees.quantiles import QuantileAccumulator as QuantileAccumulator
from everflow.contrib.boosted_trees.quantiles import QuantileAccumulatorSaveable as QuantileAccumulatorSaveable
