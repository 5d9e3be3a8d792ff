"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.learn.python.learn.utils import export as export
from everflow._api.contrib.learn.python.learn.utils import gc as gc
from everflow._api.contrib.learn.python.learn.utils import input_fn_utils as input_fn_utils
from everflow._api.contrib.learn.python.learn.utils import saved_model_export_utils as saved_model_export_utils
