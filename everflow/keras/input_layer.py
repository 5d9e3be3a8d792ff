"""Inputs of functional models: placeholders with a layer of their own."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.dtypes import DTypeLike
from everflow.keras import config
from everflow.keras.backend.values import placeholder
from everflow.keras.layer import Layer
from everflow.keras.naming import get_uid
from everflow.keras.node import KerasHistory, Node
from everflow.keras.symbolic import is_symbolic_tensor


@public("keras.layers.InputLayer")
@internal("keras.engine.input_layer.InputLayer")
class InputLayer(Layer):
    """The place where a model's input comes in."""

    def __init__(
        self,
        input_shape: Any = None,
        batch_size: Any = None,
        dtype: DTypeLike | None = None,
        input_tensor: Any = None,
        sparse: bool = False,
        name: str | None = None,
        ragged: bool = False,
        **kwargs: Any,
    ) -> None:
        if sparse and ragged:
            raise ValueError("Cannot set both sparse and ragged to True in a Keras input.")
        if "batch_input_shape" in kwargs:
            given = kwargs.pop("batch_input_shape")
            if input_shape is not None and given is not None:
                raise ValueError("Only provide the input_shape OR batch_input_shape argument to InputLayer, not both at the same time.")
            batch_size, input_shape = given[0], given[1:]
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments: {list(kwargs)}")
        if not name:
            name = f"input_{get_uid('input')}"
        if dtype is None:
            dtype = config.floatx() if input_tensor is None else input_tensor.dtype.base_dtype.name
        super().__init__(dtype=dtype, name=name)
        self.sparse, self.ragged, self.batch_size = sparse, ragged, batch_size
        self.built = self.supports_masking = True
        if input_tensor is None:
            sizes = [input_shape] if isinstance(input_shape, int) else input_shape
            if isinstance(sizes, tf.TensorShape):
                sizes = sizes.as_list()
            self._batch_input_shape: Any = None if sizes is None else (batch_size, *sizes)
            input_tensor = placeholder(self._batch_input_shape, dtype=dtype, sparse=sparse, ragged=ragged, name=self.name)
            self.is_placeholder = True
        else:
            if not is_symbolic_tensor(input_tensor):
                raise ValueError(f"Input tensors of a model must be symbolic. Received: {input_tensor}")
            self.is_placeholder = False
            self._batch_input_shape = tuple(input_tensor.shape.as_list())
        input_tensor._keras_mask = None
        Node(self, [], [], [], [input_tensor], [input_tensor])
        input_tensor._keras_history = KerasHistory(self, 0, 0)

    def get_config(self) -> dict[str, Any]:
        """The shape, type and name."""
        return {"batch_input_shape": self._batch_input_shape, **{n: getattr(self, n) for n in ("dtype", "sparse", "ragged", "name")}}


@public("keras.Input", "keras.layers.Input")
@internal("keras.engine.input_layer.Input", "keras.layers.Input")
def Input(
    shape: Any = None,
    batch_size: Any = None,
    name: str | None = None,
    dtype: DTypeLike | None = None,
    sparse: bool = False,
    tensor: Any = None,
    ragged: bool = False,
    **kwargs: Any,
) -> Any:
    """A symbolic tensor that stands for a model's input."""
    if "batch_shape" in kwargs:
        kwargs["batch_input_shape"] = kwargs.pop("batch_shape")
        if shape is not None:
            raise ValueError("Only provide the `shape` OR `batch_input_shape` argument to Input, not both at the same time.")
    elif shape is None and tensor is None:
        raise ValueError(
            "Please provide to Input either a `shape` or a `tensor` argument. Note that `shape` does not include the batch dimension."
        )
    else:
        kwargs["input_shape"] = shape
        kwargs["batch_size"] = batch_size
    layer = InputLayer(name=name, dtype=dtype, sparse=sparse, input_tensor=tensor, ragged=ragged, **kwargs)
    outputs = layer._inbound_nodes[0].output_tensors
    return outputs[0] if len(outputs) == 1 else outputs
