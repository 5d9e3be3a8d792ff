"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.problem_types import MetricKey as MetricKey
