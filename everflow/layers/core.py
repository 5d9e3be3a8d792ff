"""tf.layers: dense, dropout, flatten."""

from __future__ import annotations

from typing import Any

from everflow.api import internal, public
from everflow.arguments import arguments
from everflow.keras.layers import core as keras_core
from everflow.keras.layers import dense as keras_dense
from everflow.layers import base
from everflow.layers.functional import called_once
from everflow.ops.variables.initializers import Zeros


@public("layers.Dense")
@internal("layers.core.FullyConnected")
class Dense(keras_dense.Dense, base.Layer):
    """`activation(inputs @ kernel + bias)`."""

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = Zeros(),
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**arguments(locals()))


dense = public("layers.dense")(internal("layers.core.fully_connected")(called_once(Dense, "dense")))


@public("layers.Dropout")
class Dropout(keras_core.Dropout, base.Layer):
    """Sets a part of the inputs to zero while training."""

    def __init__(self, rate: Any = 0.5, noise_shape: Any = None, seed: int | None = None, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(**arguments(locals()))

    def call(self, inputs: Any, training: Any = False) -> Any:  # type: ignore[override]
        return super().call(inputs, training=training)


@public("layers.dropout")
def dropout(
    inputs: Any, rate: Any = 0.5, noise_shape: Any = None, seed: int | None = None, training: Any = False, name: str | None = None
) -> Any:
    """Sets a part of the inputs to zero while training."""
    return Dropout(rate, noise_shape, seed, name).apply(inputs, training=training)


@public("layers.Flatten")
class Flatten(keras_core.Flatten, base.Layer):
    """All axes but the first as one."""


@public("layers.flatten")
def flatten(inputs: Any, name: str | None = None, data_format: str = "channels_last") -> Any:
    """All axes but the first as one."""
    return Flatten(name=name, data_format=data_format).apply(inputs)
