"""Written by `make index`."""
from typing import Any

from everflow.graph.constants import constant_value as constant_value
from everflow.graph.constants import constant_value_as_shape as constant_value_as_shape
from everflow._api.contrib.util import loader as loader
from everflow.graph.tensor_proto import make_ndarray as make_ndarray
from everflow.graph.tensor_proto import make_tensor_proto as make_tensor_proto
