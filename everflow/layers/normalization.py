"""tf.layers: batch normalization."""

from __future__ import annotations

from typing import Any

from everflow.api import internal, public
from everflow.arguments import arguments
from everflow.keras.layers import normalization as keras_normalization
from everflow.layers import base
from everflow.ops.variables.initializers import Ones, Zeros


@public("layers.BatchNormalization")
@internal("layers.normalization.BatchNorm")
class BatchNormalization(keras_normalization.BatchNormalization, base.Layer):
    """Brings each channel to mean zero and variance one; its update ops are in tf.GraphKeys.UPDATE_OPS."""

    def __init__(
        self,
        axis: Any = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = Zeros(),
        gamma_initializer: Any = Ones(),
        moving_mean_initializer: Any = Zeros(),
        moving_variance_initializer: Any = Ones(),
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: Any = None,
        renorm_momentum: float = 0.99,
        fused: Any = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**arguments(locals()))

    def call(self, inputs: Any, training: Any = False) -> Any:  # type: ignore[override]
        return super().call(inputs, training=training)


@public("layers.batch_normalization")
@internal("layers.normalization.batch_norm")
def batch_normalization(
    inputs: Any,
    axis: Any = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = Zeros(),
    gamma_initializer: Any = Ones(),
    moving_mean_initializer: Any = Zeros(),
    moving_variance_initializer: Any = Ones(),
    beta_regularizer: Any = None,
    gamma_regularizer: Any = None,
    beta_constraint: Any = None,
    gamma_constraint: Any = None,
    training: Any = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_momentum: float = 0.99,
    fused: Any = None,
    virtual_batch_size: int | None = None,
    adjustment: Any = None,
) -> Any:
    """A batch normalization layer, called once."""
    given = arguments(locals())
    call = {key: given.pop(key) for key in ("inputs", "training")}
    return BatchNormalization(_reuse=given.pop("reuse"), _scope=name, **given).apply(**call)
