"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.bayesflow import monte_carlo as monte_carlo
