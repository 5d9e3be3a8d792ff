"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.input_pipeline.python.ops import input_pipeline_ops as input_pipeline_ops
