"""Written by `make index`."""
from typing import Any

from everflow.ops.user_ops import my_fact as my_fact
