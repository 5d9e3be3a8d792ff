"""Written by `make index`."""
from typing import Any

from everflow.contrib.slim.summaries import analyze_ops as analyze_ops
from everflow.contrib.slim.summaries import analyze_vars as analyze_vars
from everflow.contrib.slim.summaries import tensor_description as tensor_description
