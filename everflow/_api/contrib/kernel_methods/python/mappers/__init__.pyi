"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.kernel_methods.python.mappers import dense_kernel_mapper as dense_kernel_mapper
