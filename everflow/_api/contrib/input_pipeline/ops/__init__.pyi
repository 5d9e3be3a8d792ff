"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.input_pipeline.ops import gen_input_pipeline_ops as gen_input_pipeline_ops
