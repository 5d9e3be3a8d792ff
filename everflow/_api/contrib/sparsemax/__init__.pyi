"""Written by `make index`."""
from typing import Any

from everflow.contrib.sparsemax import sparsemax as sparsemax
from everflow.contrib.sparsemax import sparsemax_loss as sparsemax_loss
