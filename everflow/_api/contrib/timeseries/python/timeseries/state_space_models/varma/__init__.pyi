"""Written by `make index`."""
from typing import Any

from everflow.contrib.timeseries.state_space.varma import VARMA as VARMA
