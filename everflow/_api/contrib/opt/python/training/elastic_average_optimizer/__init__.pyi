"""Written by `make index`."""
from typing import Any

GLOBAL_STEP: Any
from everflow.contrib.opt.averaging import GLOBAL as _GLOBAL_VARIABLE_NAME
GLOBAL_VARIABLE_NAME = _GLOBAL_VARIABLE_NAME
from everflow.contrib.opt.averaging import LOCAL as _LOCAL_VARIABLE_NAME
LOCAL_VARIABLE_NAME = _LOCAL_VARIABLE_NAME
