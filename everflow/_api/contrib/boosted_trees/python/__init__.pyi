"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.boosted_trees.python import ops as ops
from everflow._api.contrib.boosted_trees.python import utils as utils
