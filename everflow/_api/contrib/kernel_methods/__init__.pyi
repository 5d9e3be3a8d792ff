"""Written by `make index`."""
from typing import Any

from everflow.contrib.kernel_methods.estimators import KernelLinearClassifier as KernelLinearClassifier
from everflow.contrib.kernel_methods.mappers import RandomFourierFeatureMapper as RandomFourierFeatureMapper
from everflow._api.contrib.kernel_methods import python as python
from everflow.contrib.kernel_methods.losses import sparse_multiclass_hinge_loss as sparse_multiclass_hinge_loss
