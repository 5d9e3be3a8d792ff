"""Written by `make index`."""
from typing import Any

from everflow.contrib.opt.averaging import GLOBAL as _GLOBAL_VARIABLE_NAME
GLOBAL_VARIABLE_NAME = _GLOBAL_VARIABLE_NAME
