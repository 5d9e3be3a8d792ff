"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.models.sdca import SVM as SVM
