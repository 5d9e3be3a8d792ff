"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.constrained_optimization.python import external_regret_optimizer as external_regret_optimizer
from everflow._api.contrib.constrained_optimization.python import swap_regret_optimizer as swap_regret_optimizer
