"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.input_pipeline.python import ops as ops
