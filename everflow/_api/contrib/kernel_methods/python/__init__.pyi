"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.kernel_methods.python import kernel_estimators as kernel_estimators
from everflow._api.contrib.kernel_methods.python import mappers as mappers
