"""Values that `json` does not know, as values that it does (`tensorflow.python.util.serialization`)."""

from __future__ import annotations

import collections.abc
from typing import Any

import numpy as np

from everflow.api import internal
from everflow.graph.shapes import Dimension, TensorShape


@internal("util.serialization.get_json_type")
def get_json_type(obj: Any) -> Any:
    """For `json.dumps(..., default=get_json_type)`: arrays, shapes, layers, functions and proxies of containers."""
    kind = type(obj)
    if hasattr(obj, "get_config"):
        return {"class_name": kind.__name__, "config": obj.get_config()}
    if kind.__module__ == np.__name__:
        return obj.tolist() if isinstance(obj, np.ndarray) else obj.item()
    if isinstance(obj, (TensorShape, Dimension)):
        return obj.value if isinstance(obj, Dimension) else obj.as_list()
    if callable(obj):
        return obj.__name__
    if isinstance(obj, collections.abc.Mapping):
        return dict(obj)
    if hasattr(obj, "__wrapped__"):
        return obj.__wrapped__
    raise TypeError("Not JSON Serializable:", obj)
