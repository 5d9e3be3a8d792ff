"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.cudnn_rnn.python import ops as ops
