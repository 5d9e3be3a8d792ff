"""Written by `make index`."""
from typing import Any

from everflow.contrib.mixed_precision.loss_scaling import ExponentialUpdateLossScaleManager as ExponentialUpdateLossScaleManager
from everflow.contrib.mixed_precision.loss_scaling import FixedLossScaleManager as FixedLossScaleManager
from everflow.contrib.mixed_precision.loss_scaling import LossScaleManager as LossScaleManager
from everflow.contrib.mixed_precision.loss_scaling import LossScaleOptimizer as LossScaleOptimizer
