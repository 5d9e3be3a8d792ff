"""Written by `make index`."""
from typing import Any

from everflow.keras.mixed_precision.loss_scale_optimizer import LossScaleOptimizer as LossScaleOptimizer
