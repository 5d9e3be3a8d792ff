"""tf.keras.utils.convert_all_kernels_in_model."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.keras.backend.session import batch_get_value, batch_set_value
from everflow.keras.window_arithmetic import convert_kernel

_CONVOLUTIONS = ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose")


@public("keras.utils.convert_all_kernels_in_model", "contrib.keras.api.keras.utils.convert_all_kernels_in_model")
def convert_all_kernels_in_model(model: Any) -> None:
    """Turns the kernels of a model's convolutions round along each axis of space: Theano's become TensorFlow's, and the other way."""
    kernels = [layer.kernel for layer in model.layers if type(layer).__name__ in _CONVOLUTIONS]
    batch_set_value([(kernel, convert_kernel(value)) for kernel, value in zip(kernels, batch_get_value(kernels))])
