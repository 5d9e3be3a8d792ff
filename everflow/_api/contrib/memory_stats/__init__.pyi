"""Written by `make index`."""
from typing import Any

from everflow.contrib.memory_stats import bytes_in_use as _BytesInUse
BytesInUse = _BytesInUse
from everflow.contrib.memory_stats import bytes_limit as _BytesLimit
BytesLimit = _BytesLimit
from everflow.contrib.memory_stats import max_bytes_in_use as _MaxBytesInUse
MaxBytesInUse = _MaxBytesInUse
