"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.layers.python.layers import embedding_ops as embedding_ops
from everflow._api.contrib.layers.python.layers import layers as layers
from everflow._api.contrib.layers.python.layers import summaries as summaries
from everflow._api.contrib.layers.python.layers import target_column as target_column
from everflow._api.contrib.layers.python.layers import utils as utils
