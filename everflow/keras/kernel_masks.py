"""Which inputs each output of a convolution sees."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from everflow.api import internal
from everflow.keras.window_arithmetic import conv_output_length


@internal("keras.utils.conv_utils.conv_kernel_mask")
def conv_kernel_mask(input_shape: Any, kernel_shape: Any, strides: Any, padding: str) -> Any:
    """True where an output's window holds an input: the axes of the inputs, then those of the outputs."""
    if padding not in {"same", "valid"}:
        raise NotImplementedError(f'Padding type {padding} not supported. Only "valid" and "same" are implemented.')
    rank = len(input_shape)
    kernel_shape = (kernel_shape,) * rank if isinstance(kernel_shape, int) else kernel_shape
    strides = (strides,) * rank if isinstance(strides, int) else strides
    if not rank == len(kernel_shape) == len(strides):
        raise ValueError(
            f"Number of strides, input and kernel dimensions must all match. Received: {len(strides)}, {rank}, {len(kernel_shape)}."
        )
    sizes = tuple(min(n, conv_output_length(n, k, padding, s)) for n, k, s in zip(input_shape, kernel_shape, strides))
    mask = np.zeros((*input_shape, *sizes), bool)
    for place in itertools.product(*map(range, sizes)):
        # With "same" a window lies around its place; it may reach over the border.
        starts = [i * s - (k // 2 if padding == "same" else 0) for i, s, k in zip(place, strides, kernel_shape)]
        window: Any = tuple(slice(max(0, start), max(0, start + k)) for start, k in zip(starts, kernel_shape))
        mask[(*window, *place)] = True
    return mask
