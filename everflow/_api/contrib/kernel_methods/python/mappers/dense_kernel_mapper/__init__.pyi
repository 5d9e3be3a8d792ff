"""Written by `make index`."""
from typing import Any

from everflow.contrib.kernel_methods.mappers import DenseKernelMapper as DenseKernelMapper
from everflow.contrib.kernel_methods.mappers import InvalidShapeError as InvalidShapeError
