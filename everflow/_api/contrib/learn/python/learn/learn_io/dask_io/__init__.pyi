"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.inputs.frames import HAS_DASK as HAS_DASK
from everflow.contrib.learn.inputs.frames import extract_dask_data as extract_dask_data
from everflow.contrib.learn.inputs.frames import extract_dask_labels as extract_dask_labels
