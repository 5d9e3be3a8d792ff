"""Written by `make index`."""
from typing import Any

from everflow.contrib.bayesflow.monte_carlo import expectation as expectation
from everflow.contrib.bayesflow.monte_carlo import expectation_importance_sampler as expectation_importance_sampler
from everflow.contrib.bayesflow.monte_carlo import expectation_importance_sampler_logspace as expectation_importance_sampler_logspace
