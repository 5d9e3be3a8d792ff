"""Symbolic inputs for models that say nothing of their inputs before they see data."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.graph.sparse_tensor import SparseTensor, SparseTensorValue
from everflow.graph.tensor import Tensor
from everflow.keras.backend.graph import get_graph
from everflow.keras.backend.values import placeholder
from everflow.keras.config import floatx
from everflow.keras.symbolic import is_symbolic_tensor


@internal("keras.engine.training_utils.ModelInputs")
class ModelInputs:
    """The names of inputs and placeholders for them, after data."""

    def __init__(self, inputs: Any) -> None:
        self._inputs = inputs
        self._is_dict = isinstance(inputs, dict)
        self._is_single = not isinstance(inputs, (list, tuple, dict)) or isinstance(inputs, SparseTensorValue)
        if isinstance(inputs, tuple) and not self._is_single:
            self._inputs = list(inputs)
        if self._is_dict:
            self._input_names = sorted(inputs)
            self._flat = [inputs[k] for k in self._input_names]
        else:
            self._flat = [inputs] if self._is_single else list(inputs)
            self._input_names = [f"input_{i + 1}" for i in range(len(self._flat))]

    def get_input_names(self) -> list[str]:
        """The names: keys in order, or numbered."""
        return self._input_names

    def get_symbolic_inputs(self, return_single_as_list: bool = False) -> Any:
        """Placeholders like the data; symbolic tensors as they are."""
        made = []
        with get_graph().as_default():
            for name, v in zip(self._input_names, self._flat):
                made.append(v if is_symbolic_tensor(v) else _place(v, name))
        if self._is_dict:
            return dict(zip(self._input_names, made))
        return made[0] if self._is_single and not return_single_as_list else made

    def as_dict(self) -> Any:
        """(name, value) of each input."""
        yield from zip(self._input_names, self._flat)


def _place(value: Any, name: str) -> Any:
    if isinstance(value, (list, float, int)):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.ndim == 1:
        # Such arrays are fed as columns.
        value = np.expand_dims(value, 1)
    if isinstance(value, (SparseTensor, SparseTensorValue)) or hasattr(value, "tocoo"):
        shape = value.dense_shape if not hasattr(value, "tocoo") else value.shape
        if isinstance(shape, Tensor):
            shape = tf.get_static_value(shape)
        data = value.values if not hasattr(value, "tocoo") else value.data
        return placeholder(shape=(None, *(int(d) for d in shape[1:])), dtype=tf.as_dtype(data.dtype), sparse=True, name=name)
    if hasattr(value, "nested_row_splits"):
        shape = tuple(getattr(value.shape, "as_list", lambda: list(value.shape))())
        return placeholder(shape=(None, *shape[1:]), dtype=value.dtype, ragged=True, name=name)
    shape = tuple(value.shape.as_list() if hasattr(value.shape, "as_list") else value.shape)
    dtype = tf.as_dtype(value.dtype)
    if isinstance(value, np.ndarray) and dtype.is_floating:
        dtype = tf.as_dtype(floatx())
    return placeholder(shape=(None, *shape[1:]), dtype=dtype, name=name)
