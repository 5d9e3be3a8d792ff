"""Written by `make index`."""
from typing import Any

from everflow.contrib.timeseries.readers import ReaderBaseTimeSeriesParser as ReaderBaseTimeSeriesParser
from everflow.contrib.timeseries.readers import TFExampleReader as TFExampleReader
from everflow.contrib.timeseries.windows import TimeSeriesInputFn as TimeSeriesInputFn
from everflow.contrib.timeseries.readers import TimeSeriesReader as TimeSeriesReader
from everflow.contrib.timeseries.series_of_arrays import canonical_arrays as __canonicalize_numpy_data
_canonicalize_numpy_data = __canonicalize_numpy_data
