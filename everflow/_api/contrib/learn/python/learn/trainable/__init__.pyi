"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.estimator import Trainable as Trainable
