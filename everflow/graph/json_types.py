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
    if hasattr(obj, "get_config"):
        return {"class_name": obj.__class__.__name__, "config": obj.get_config()}
    if type(obj).__module__ == np.__name__:
        return obj.tolist() if isinstance(obj, np.ndarray) else obj.item()
    if isinstance(obj, TensorShape):
        return obj.as_list()
    if isinstance(obj, Dimension):
        return obj.value
    if callable(obj):
        return obj.__name__
    if isinstance(obj, collections.abc.Mapping):
        return dict(obj)
    if hasattr(obj, "__wrapped__"):
        return obj.__wrapped__
    raise TypeError("Not JSON Serializable:", obj)
