"""Written by `make index`."""
from typing import Any

from everflow.contrib.slim.nets.plain import alexnet_v2 as alexnet_v2
from everflow.contrib.slim.nets.plain import alexnet_v2_arg_scope as alexnet_v2_arg_scope
from everflow.contrib.slim.nets.plain import trunc_normal as trunc_normal
