"""What holds for all of Keras: the float type, the fuzz factor and the order of image axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.api import public

_floatx = "float32"
_epsilon = 1e-7
_image_data_format = "channels_last"


@public("keras.backend.floatx")
def floatx() -> str:
    """The default float type, as a string."""
    return _floatx


@public("keras.backend.set_floatx")
def set_floatx(value: str) -> None:
    """Sets the default float type."""
    global _floatx
    if value not in ("float16", "float32", "float64"):
        raise ValueError(f"Unknown floatx type: {value}")
    _floatx = str(value)


@public("keras.backend.epsilon")
def epsilon() -> float:
    """The small number that keeps divisions and logarithms from zero."""
    return _epsilon


@public("keras.backend.set_epsilon")
def set_epsilon(value: float) -> None:
    """Sets the fuzz factor."""
    global _epsilon
    _epsilon = value


@public("keras.backend.image_data_format")
def image_data_format() -> str:
    """Where images have their channels: "channels_last" or "channels_first"."""
    return _image_data_format


@public("keras.backend.set_image_data_format")
def set_image_data_format(data_format: str) -> None:
    """Sets where images have their channels."""
    global _image_data_format
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError(f"Unknown data_format: {data_format}")
    _image_data_format = str(data_format)


@public("keras.backend.cast_to_floatx")
def cast_to_floatx(x: Any) -> Any:
    """An array in the default float type."""
    return np.asarray(x, dtype=_floatx)
