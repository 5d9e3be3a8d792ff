"""Arguments and sizes of convolutions and pooling: tuples, paddings, data formats, lengths of outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.api import internal
from everflow.keras import config


@internal("keras.utils.conv_utils.convert_data_format", "layers.utils.convert_data_format")
def convert_data_format(data_format: str, ndim: int) -> str:
    """`channels_last` as ops spell it for a rank: NWC, NHWC, NDHWC."""
    names = {3: "W", 4: "HW", 5: "DHW"}
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError("Invalid data_format:", data_format)
    if ndim not in names:
        raise ValueError("Input rank not supported:", ndim)
    return f"N{names[ndim]}C" if data_format == "channels_last" else f"NC{names[ndim]}"


@internal("keras.utils.conv_utils.normalize_tuple", "layers.utils.normalize_tuple")
def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    """An int as a tuple of n of them; a tuple of n ints as it is."""
    if isinstance(value, int):
        return (value,) * n
    problem = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    try:
        found = tuple(value)
    except TypeError:
        raise ValueError(problem) from None
    if len(found) != n:
        raise ValueError(problem)
    for item in found:
        try:
            int(item)
        except (ValueError, TypeError):
            raise ValueError(f"{problem} including element {item} of type {type(item)}") from None
    return found


@internal("keras.utils.conv_utils.normalize_data_format", "layers.utils.normalize_data_format")
def normalize_data_format(value: Any) -> str:
    """The data format in lower case, or Keras's own where none is given."""
    found = config.image_data_format() if value is None else value.lower()
    if found not in {"channels_first", "channels_last"}:
        raise ValueError(f'The `data_format` argument must be one of "channels_first", "channels_last". Received: {found}')
    return found


@internal("keras.utils.conv_utils.normalize_padding", "layers.utils.normalize_padding")
def normalize_padding(value: Any) -> Any:
    """The padding in lower case."""
    if isinstance(value, (list, tuple)):
        return value
    found = value.lower()
    if found not in {"valid", "same", "causal"}:
        raise ValueError(
            f'The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only for `Conv1D). Received: {found}'
        )
    return found


@internal("keras.utils.conv_utils.conv_output_length", "layers.utils.conv_output_length")
def conv_output_length(input_length: Any, filter_size: int, padding: str, stride: int, dilation: int = 1) -> Any:
    """How many windows there are along an axis."""
    if input_length is None:
        return None
    if padding not in {"same", "valid", "full", "causal"}:
        raise ValueError(f"Unknown padding: {padding}")
    window = filter_size + (filter_size - 1) * (dilation - 1)
    length = input_length
    if padding == "valid":
        length = input_length - window + 1
    elif padding == "full":
        length = input_length + window - 1
    return (length + stride - 1) // stride


@internal("keras.utils.conv_utils.conv_input_length", "layers.utils.conv_input_length")
def conv_input_length(output_length: Any, filter_size: int, padding: str, stride: int) -> Any:
    """The length of an axis that gives so many windows."""
    if output_length is None:
        return None
    if padding not in {"same", "valid", "full"}:
        raise ValueError(f"Unknown padding: {padding}")
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


@internal("keras.utils.conv_utils.deconv_output_length")
def deconv_output_length(
    input_length: Any, filter_size: int, padding: str, output_padding: Any = None, stride: int = 0, dilation: int = 1
) -> Any:
    """The length of an axis after a transposed convolution."""
    if padding not in {"same", "valid", "full"}:
        raise ValueError(f"Unknown padding: {padding}")
    if input_length is None:
        return None
    filter_size = filter_size + (filter_size - 1) * (dilation - 1)
    if output_padding is None:
        if padding == "valid":
            return input_length * stride + max(filter_size - stride, 0)
        if padding == "full":
            return input_length * stride - (stride + filter_size - 2)
        return input_length * stride
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (input_length - 1) * stride + filter_size - 2 * pad + output_padding


@internal("layers.utils.deconv_output_length")
def deconv_output_length_of_layers(input_length: Any, filter_size: int, padding: str, stride: int) -> Any:
    """The same, as tf.layers asks for it."""
    return deconv_output_length(input_length, filter_size, padding, stride=stride)


@internal("keras.utils.conv_utils.convert_kernel")
def convert_kernel(kernel: np.ndarray) -> np.ndarray:
    """A kernel of Theano for TensorFlow, or the other way: each axis of space turned round."""
    if not 3 <= kernel.ndim <= 5:
        raise ValueError("Invalid kernel shape:", kernel.shape)
    return np.flip(kernel, tuple(range(kernel.ndim - 2))).copy()


_WORDS = {"padding": normalize_padding, "data_format": normalize_data_format}
# In the order in which they are looked at: the first that is wrong is the one that people are told of.
_SIZES = ("kernel_size", "pool_size", "strides", "dilation_rate")


def windows(given: dict[str, Any], rank: int) -> dict[str, Any]:
    """A layer's arguments, those that describe windows as it keeps them: sizes along each axis, words in lower case."""
    sizes = {name: normalize_tuple(given[name], rank, name) for name in _SIZES if name in given}
    words = {name: normalize(given[name]) for name, normalize in _WORDS.items() if name in given}
    return {**given, **sizes, **words}
