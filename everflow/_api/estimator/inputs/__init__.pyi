"""Written by `make index`."""
from typing import Any

from everflow.estimator.inputs.arrays import numpy_input_fn as numpy_input_fn
from everflow.estimator.inputs.arrays import pandas_input_fn as pandas_input_fn
