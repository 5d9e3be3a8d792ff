"""Written by `make index`."""
from typing import Any

from everflow.contrib.input_pipeline import obtain_next as obtain_next
from everflow._api.contrib.input_pipeline import python as python
