"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.boosted_trees import python as python
