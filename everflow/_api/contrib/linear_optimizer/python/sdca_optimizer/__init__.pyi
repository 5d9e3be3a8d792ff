"""Written by `make index`."""
from typing import Any

from everflow.contrib.linear_optimizer.optimizer import SDCAOptimizer as SDCAOptimizer
