"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.tensor_forest import client as client
from everflow._api.contrib.tensor_forest import python as python
