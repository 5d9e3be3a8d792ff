"""Written by `make index`."""
from typing import Any

from everflow.train.loss_scaling import DynamicLossScale as DynamicLossScale
from everflow.train.loss_scaling import FixedLossScale as FixedLossScale
from everflow.train.loss_scaling import LossScale as LossScale
from everflow.train.loss_scaling import MixedPrecisionLossScaleOptimizer as MixedPrecisionLossScaleOptimizer
from everflow.train.tracking.checkpoint import PythonState as PythonState
from everflow.train.loss_scaling import disable_mixed_precision_graph_rewrite as disable_mixed_precision_graph_rewrite
from everflow.train.loss_scaling import enable_mixed_precision_graph_rewrite as enable_mixed_precision_graph_rewrite
