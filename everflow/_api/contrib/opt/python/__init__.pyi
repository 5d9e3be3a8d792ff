"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.opt.python import training as training
