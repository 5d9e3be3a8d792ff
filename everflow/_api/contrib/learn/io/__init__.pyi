"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.experiment import numpy_input_fn as numpy_input_fn
from everflow.contrib.learn.experiment import pandas_input_fn as pandas_input_fn
