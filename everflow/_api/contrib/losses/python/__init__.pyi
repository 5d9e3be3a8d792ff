"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.losses.python import metric_learning as metric_learning
