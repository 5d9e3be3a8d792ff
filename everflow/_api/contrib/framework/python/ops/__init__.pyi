"""Written by `make index`."""
from typing import Any

from everflow.contrib.framework.arg_scopes import arg_scope as arg_scope
