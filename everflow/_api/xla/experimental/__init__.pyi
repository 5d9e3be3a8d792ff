"""Written by `make index`."""
from typing import Any

from everflow.ops.control_flow.compiled import compile as compile
from everflow.ops.control_flow.compiled import jit_scope as jit_scope
