"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.cudnn_rnn.python.ops import cudnn_rnn_ops as cudnn_rnn_ops
