"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.linear_optimizer.python import ops as ops
from everflow._api.contrib.linear_optimizer.python import sdca_estimator as sdca_estimator
from everflow._api.contrib.linear_optimizer.python import sdca_optimizer as sdca_optimizer
