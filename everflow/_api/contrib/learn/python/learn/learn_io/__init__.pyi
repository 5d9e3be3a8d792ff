"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.inputs.frames import HAS_DASK as HAS_DASK
from everflow.contrib.learn.inputs.frames import HAS_PANDAS as HAS_PANDAS
from everflow._api.contrib.learn.python.learn.learn_io import dask_io as dask_io
from everflow._api.contrib.learn.python.learn.learn_io import data_feeder as data_feeder
from everflow._api.contrib.learn.python.learn.learn_io import generator_io as generator_io
from everflow._api.contrib.learn.python.learn.learn_io import graph_io as graph_io
from everflow._api.contrib.learn.python.learn.learn_io import numpy_io as numpy_io
from everflow._api.contrib.learn.python.learn.learn_io import pandas_io as pandas_io
