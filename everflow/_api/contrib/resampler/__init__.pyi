"""Written by `make index`."""
from typing import Any

from everflow.contrib.resampler import resampler as resampler
