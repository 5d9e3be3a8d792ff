"""Written by `make index`."""
from typing import Any

from everflow.contrib.kernel_methods.estimators import KernelEstimator as __KernelEstimator
_KernelEstimator = __KernelEstimator
