"""Written by `make index`."""
from typing import Any

from everflow.contrib.timeseries.saved_models import cold_start_filter as cold_start_filter
from everflow.contrib.timeseries.saved_models import filter_continuation as filter_continuation
from everflow.contrib.timeseries.saved_models import predict_continuation as predict_continuation
