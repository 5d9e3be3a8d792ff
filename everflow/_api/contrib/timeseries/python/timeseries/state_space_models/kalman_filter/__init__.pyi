"""Written by `make index`."""
from typing import Any

from everflow.contrib.timeseries.state_space.kalman_filter import KalmanFilter as KalmanFilter
