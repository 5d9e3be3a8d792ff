"""Written by `make index`."""
from typing import Any

from everflow.contrib.slim.nets.plain import overfeat as overfeat
from everflow.contrib.slim.nets.plain import overfeat_arg_scope as overfeat_arg_scope
from everflow.contrib.slim.nets.plain import trunc_normal as trunc_normal
