"""Written by `make index`."""
from typing import Any

from everflow.contrib.slim.datasets import DataProvider as DataProvider
