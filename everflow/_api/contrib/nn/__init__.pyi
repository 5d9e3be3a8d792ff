"""Written by `make index`."""
from typing import Any

from everflow.ops.math.ranking import nth_element as nth_element
