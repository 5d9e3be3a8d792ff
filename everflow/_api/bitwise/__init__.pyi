"""Written by `make index`."""
from typing import Any

from everflow.ops.math.bitwise import bitwise_and as bitwise_and
from everflow.ops.math.bitwise import bitwise_or as bitwise_or
from everflow.ops.math.bitwise import bitwise_xor as bitwise_xor
from everflow.ops.math.bitwise import invert as invert
from everflow.ops.math.bitwise import left_shift as left_shift
from everflow.ops.math.bitwise import right_shift as right_shift
