"""Written by `make index`."""
from typing import Any

from everflow.contrib.opt.shampoo import at_step as _GetParam
GetParam = _GetParam
