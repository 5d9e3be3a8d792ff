"""Convolutions whose windows are as wide as the pictures, as networks slide over the words of a text: one product of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.graph import dtypes
from everflow.ops.core.node import Node
from everflow.ops.linalg.matrix_products import multiply

Kernel = Callable[..., Any]

# With fewer columns, or more rows in a window than this, libraries do well.
FEWEST_COLUMNS = 8
MOST_ROWS = 16


class Rows:
    """A Conv2D op, or one of its gradients: of each window of `height` whole rows a result, `stride` rows apart."""

    def __init__(self, height: int, width: int, stride: int) -> None:
        self.height, self.width, self.stride = height, width, stride

    @classmethod
    def find(cls, node: Node) -> Rows | None:
        """What is known of such a node; None for any other."""
        filter = node.outputs[0].dims if node.type == "Conv2DBackpropFilter" else node.inputs[1].dims
        picture = {"Conv2DBackpropInput": node.outputs, "Conv2DBackpropFilter": node.inputs}.get(node.type, node.inputs)[0].dims
        if filter is None or len(filter) != 4 or picture is None or len(picture) != 4:
            return None
        (height, width, depth, _), strides = filter, node.attr("strides")
        if height is None or width is None or depth is None:
            return None
        if (
            node.outputs[0].dtype not in (dtypes.float32, dtypes.float64)
            or node.attr("data_format") != "NHWC"
            or node.attr("padding") != "VALID"
            or node.attr("dilations") != [1, 1, 1, 1]
            or strides[0] != 1
            or strides[3] != 1
            or min(strides) < 1
            or not FEWEST_COLUMNS <= width
            or not 1 <= height <= MOST_ROWS
            or picture[2] != width
            or picture[3] != depth
        ):
            return None
        return cls(height, width, strides[1])

    def _fits(self, x_shape: Any, filter_shape: Any) -> bool:
        return (
            len(x_shape) == len(filter_shape) == 4
            and x_shape[2] == self.width
            and x_shape[3] == filter_shape[2]
            and x_shape[1] >= self.height
            and 0 not in (*x_shape, *filter_shape)
        )

    def _windows(self, x: Any) -> Any:
        """A row of a matrix for each window: the rows of a window follow each other in memory."""
        x = x.contiguous()
        pictures, height, width, depth = x.shape
        row, count = width * depth, (height - self.height) // self.stride + 1
        return x.as_strided((pictures, count, self.height * row), (height * row, self.stride * row, 1)).reshape(-1, self.height * row)

    def forward(self, general: Kernel) -> Kernel:
        """The kernel of Conv2D, or of one with a bias; `general` does what comes in another form."""

        def run(x: Any, filter: Any, *bias: Any) -> Any:
            if not self._fits(x.shape, filter.shape):
                return general(x, filter, *bias)
            windows, matrix = self._windows(x), filter.reshape(-1, filter.shape[3])
            found = multiply(windows, matrix, *bias)
            return found.view(x.shape[0], -1, 1, filter.shape[3])

        return run

    def filter_gradient(self, general: Kernel, read: Kernel) -> Kernel:
        """The kernel of Conv2DBackpropFilter."""

        def run(x: Any, sizes: Any, dy: Any) -> Any:
            dims = read(sizes)
            if not self._fits(x.shape, dims) or tuple(dy.shape) != self._result(x.shape, dims):
                return general(x, sizes, dy)
            return multiply(self._windows(x).t(), dy.reshape(-1, dims[3])).view(dims)

        return run

    def input_gradient(self, general: Kernel, read: Kernel) -> Kernel:
        """The kernel of Conv2DBackpropInput."""

        def run(sizes: Any, filter: Any, dy: Any) -> Any:
            dims = read(sizes)
            if not self._fits(dims, filter.shape) or tuple(dy.shape) != self._result(dims, filter.shape):
                return general(sizes, filter, dy)
            pictures, count, _, channels = dy.shape
            windows = multiply(dy.reshape(-1, channels), filter.reshape(-1, channels).t()).view(pictures, count, self.height, -1)
            found = dy.new_zeros((pictures, dims[1], windows.shape[3]))
            for i in range(self.height):
                found[:, i : i + count * self.stride : self.stride] += windows[:, :, i]
            return found.view(list(dims))

        return run

    def _result(self, x: Any, filter: Any) -> tuple[int, int, int, int]:
        return x[0], (x[1] - self.height) // self.stride + 1, 1, filter[3]
