"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.learn_runner import _default_schedule as __get_default_schedule
_get_default_schedule = __get_default_schedule
from everflow.contrib.learn.learn_runner import run as run
from everflow.contrib.learn.learn_runner import tune as tune
