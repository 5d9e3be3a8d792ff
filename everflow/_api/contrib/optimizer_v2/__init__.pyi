"""Written by `make index`."""
from typing import Any

from everflow.contrib.optimizer_v2.optimizers import AdadeltaOptimizer as AdadeltaOptimizer
from everflow.contrib.optimizer_v2.optimizers import AdagradOptimizer as AdagradOptimizer
from everflow.contrib.optimizer_v2.optimizers import AdamOptimizer as AdamOptimizer
from everflow.contrib.optimizer_v2.optimizers import GradientDescentOptimizer as GradientDescentOptimizer
from everflow.contrib.optimizer_v2.optimizers import MomentumOptimizer as MomentumOptimizer
from everflow.contrib.optimizer_v2.base import OptimizerV2 as OptimizerV2
from everflow.contrib.optimizer_v2.optimizers import RMSPropOptimizer as RMSPropOptimizer
