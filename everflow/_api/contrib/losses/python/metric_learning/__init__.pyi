"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.losses.python.metric_learning import metric_loss_ops as metric_loss_ops
