"""Written by `make index`."""
from typing import Any

from everflow.contrib.slim.datasets import DatasetDataProvider as DatasetDataProvider
