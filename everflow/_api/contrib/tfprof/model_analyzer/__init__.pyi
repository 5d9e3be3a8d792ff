"""Written by `make index`."""
from typing import Any

from everflow.profiler.analyzer import ALL_ADVICE as ALL_ADVICE
from everflow.contrib.tfprof import FLOAT_OPS_OPTIONS as FLOAT_OPS_OPTIONS
from everflow.contrib.tfprof import PRINT_ALL_TIMING_MEMORY as PRINT_ALL_TIMING_MEMORY
from everflow.profiler.context import ProfileContext as ProfileContext
from everflow.profiler.analyzer import Profiler as Profiler
from everflow.contrib.tfprof import TRAINABLE_VARS_PARAMS_STAT_OPTIONS as TRAINABLE_VARS_PARAMS_STAT_OPTIONS
absolute_import: Any
from everflow.contrib.tfprof import advise as advise
division: Any
print_function: Any
from everflow.contrib.tfprof import print_model_analysis as print_model_analysis
