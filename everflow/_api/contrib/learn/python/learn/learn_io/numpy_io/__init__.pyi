"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.inputs.generators import numpy_input_fn as numpy_input_fn
