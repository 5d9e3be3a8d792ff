"""Written by `make index`."""
from typing import Any

from everflow.contrib.periodic_resample import periodic_resample as periodic_resample
