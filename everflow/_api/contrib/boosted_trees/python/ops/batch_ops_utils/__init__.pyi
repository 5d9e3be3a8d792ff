"""Written by `make index`."""
from typing import Any

from everflow.contrib.boosted_trees.accumulators import ScheduledOp as ScheduledOp
from everflow.contrib.boosted_trees.accumulators import ScheduledStampedResourceOp as ScheduledStampedResourceOp
from everflow.contrib.boosted_trees.accumulators import run_handler_scheduled_ops as run_handler_scheduled_ops
