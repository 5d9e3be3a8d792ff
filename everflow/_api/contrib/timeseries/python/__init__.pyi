"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.timeseries.python import timeseries as timeseries
