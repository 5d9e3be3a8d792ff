"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.metric_specs import MetricSpec as MetricSpec
