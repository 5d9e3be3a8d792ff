"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.inputs.frames import HAS_PANDAS as HAS_PANDAS
from everflow.contrib.learn.inputs.frames import PANDAS_DTYPES as PANDAS_DTYPES
from everflow.contrib.learn.inputs.frames import extract_pandas_data as extract_pandas_data
from everflow.contrib.learn.inputs.frames import extract_pandas_labels as extract_pandas_labels
from everflow.contrib.learn.inputs.frames import extract_pandas_matrix as extract_pandas_matrix
from everflow.contrib.learn.inputs.frames import pandas_input_fn as pandas_input_fn
