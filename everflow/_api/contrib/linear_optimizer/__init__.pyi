"""Written by `make index`."""
from typing import Any

from everflow.contrib.linear_optimizer.optimizer import SDCAOptimizer as SDCAOptimizer
from everflow.estimator.canned.sdca_model import ContribSDCAModel as _SdcaModel
SdcaModel = _SdcaModel
from everflow.estimator.canned.sdca_model import ShardedMutableDenseHashTable as ShardedMutableDenseHashTable
from everflow.estimator.canned.sdca_model import SparseFeatureColumn as SparseFeatureColumn
from everflow._api.contrib.linear_optimizer import python as python
