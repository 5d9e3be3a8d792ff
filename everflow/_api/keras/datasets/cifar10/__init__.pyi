"""Written by `make index`."""
from typing import Any

from everflow.keras.datasets import load_cifar10 as _load_data
load_data = _load_data
