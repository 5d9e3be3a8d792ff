"""Written by `make index`."""
from typing import Any

from everflow.profiler.context import ProfileContext as ProfileContext
from everflow._api.contrib.tfprof import model_analyzer as model_analyzer
from everflow._api.contrib.tfprof import tfprof_logger as tfprof_logger
