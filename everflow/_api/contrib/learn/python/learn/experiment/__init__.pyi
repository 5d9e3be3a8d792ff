"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.experiment import Experiment as Experiment
