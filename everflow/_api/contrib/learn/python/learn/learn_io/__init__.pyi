"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.learn.python.learn.learn_io import numpy_io as numpy_io
