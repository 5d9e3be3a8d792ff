"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.models.logistic import LogisticRegressor as LogisticRegressor
