"""Written by `make index`."""
from typing import Any

from everflow.keras.mixed_precision.loss_scale_optimizer import LossScaleOptimizer as LossScaleOptimizer
from everflow.keras.mixed_precision.policy import Policy as Policy
from everflow.keras.mixed_precision.policy import global_policy as global_policy
from everflow.keras.mixed_precision.policy import set_policy as set_policy
