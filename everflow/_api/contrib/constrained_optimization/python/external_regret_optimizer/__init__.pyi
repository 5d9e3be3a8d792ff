"""Written by `make index`."""
from typing import Any

from everflow.contrib.constrained_optimization.optimizers import project_multipliers as __project_multipliers_wrt_euclidean_norm
_project_multipliers_wrt_euclidean_norm = __project_multipliers_wrt_euclidean_norm
