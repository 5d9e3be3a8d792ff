"""Written by `make index`."""
from typing import Any

from everflow.contrib.linear_optimizer.estimators import SDCALinearRegressor as SDCALinearRegressor
from everflow.contrib.linear_optimizer.estimators import SDCALogisticClassifier as SDCALogisticClassifier
from everflow.contrib.linear_optimizer.estimators import SDCAEstimator as __SDCAEstimator
_SDCAEstimator = __SDCAEstimator
from everflow.contrib.linear_optimizer.estimators import sdca_model_fn as sdca_model_fn
