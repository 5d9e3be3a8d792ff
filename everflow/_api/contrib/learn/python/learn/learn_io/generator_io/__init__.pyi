"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.inputs.generators import generator_input_fn as generator_input_fn
