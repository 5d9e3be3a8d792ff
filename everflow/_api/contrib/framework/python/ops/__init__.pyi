"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.framework.python.ops import arg_scope as arg_scope
