"""Initializers whose matrices or convolutions keep the norm of their input."""

from __future__ import annotations

import itertools
import math
from typing import Any

from everflow import api
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.convert import constant
from everflow.ops.variables.initializers import Initializer, floating, sizes


def orthogonal_columns(a: Any) -> Any:
    """The Q of a random matrix, with the signs that make it uniform among the orthogonal ones."""
    q, r = api.find("qr")(a, full_matrices=False)
    q *= api.find("sign")(api.find("diag_part")(r))
    return q


class _Scaled(Initializer):
    """What the initializers of this module are given."""

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: dtypes.DTypeLike = dtypes.float32) -> None:
        self.gain = gain
        self.dtype = floating(dtype)
        self.seed = seed

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


@public("orthogonal_initializer", "initializers.orthogonal", "keras.initializers.Orthogonal", "keras.initializers.orthogonal")
@internal("ops.init_ops.Orthogonal")
class Orthogonal(_Scaled):
    """An orthogonal matrix; more dimensions are flattened to rows and columns first."""

    def __call__(self, shape: Any, dtype: dtypes.DTypeLike | None = None, partition_info: Any = None) -> Any:
        shape = sizes(shape)
        if len(shape) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = math.prod(shape[:-1]), shape[-1]
        wide = rows < columns
        a = api.find("random_normal")(
            (columns, rows) if wide else (rows, columns), dtype=self.dtype if dtype is None else dtype, seed=self.seed
        )
        q = orthogonal_columns(a)
        if wide:
            q = api.find("matrix_transpose")(q)
        return self.gain * api.find("reshape")(q, shape)


@public("contrib.framework.convolutional_delta_orthogonal")
@internal("ops.init_ops.ConvolutionDeltaOrthogonal", "ops.init_ops.convolutional_delta_orthogonal")
class ConvolutionDeltaOrthogonal(_Scaled):
    """A convolution that is orthogonal at its centre and zero elsewhere."""

    def __call__(self, shape: Any, dtype: dtypes.DTypeLike | None = None, partition_info: Any = None) -> Any:
        shape, dtype = sizes(shape), self.dtype if dtype is None else dtype
        if not 3 <= len(shape) <= 5:
            raise ValueError("The tensor to initialize must be at least three-dimensional and at most five-dimensional")
        if shape[-2] > shape[-1]:
            raise ValueError("In_filters cannot be greater than out_filters.")
        q = orthogonal_columns(api.find("random_normal")([shape[-1], shape[-1]], dtype=dtype, seed=self.seed))
        q = q[: shape[-2], :]
        q *= constant(self.gain, dtype=dtype)
        centre = [(size - 1) // 2 for size in shape[:-2]]
        return api.find("scatter_nd")([centre], api.find("expand_dims")(q, 0), shape)


class _ConvolutionOrthogonal(_Scaled):
    """An orthogonal convolution, built by convolving small ones (Xiao et al., 2018). A kernel is {position: matrix}."""

    axes = 0
    _rank_error = ""

    def __call__(self, shape: Any, dtype: dtypes.DTypeLike | None = None, partition_info: Any = None) -> Any:
        shape, dtype = sizes(shape), self.dtype if dtype is None else dtype
        if len(shape) != self.axes + 2:
            raise ValueError(self._rank_error)
        if shape[-2] > shape[-1]:
            raise ValueError("In_filters cannot be greater than out_filters.")
        if len(set(shape[:-2])) > 1:
            raise ValueError("Kernel sizes must be equal.")
        kernel = self._orthogonal_kernel(shape[0], shape[-2], shape[-1])
        kernel *= constant(self.gain, dtype=dtype)
        return kernel

    def _next_seed(self) -> int | None:
        seed = self.seed
        if seed:
            self.seed = seed + 1
        return seed

    def _orthogonal_matrix(self, n: int) -> Any:
        return orthogonal_columns(api.find("random_normal")([n, n], dtype=self.dtype, seed=self._next_seed()))

    def _symmetric_projection(self, n: int) -> Any:
        """A random projection onto a subspace of random size."""
        q = self._orthogonal_matrix(n)
        mask = api.find("cast")(api.find("random_normal")([n], seed=self._next_seed()) > 0, self.dtype)
        c = api.find("multiply")(q, mask)
        return api.find("matmul")(c, api.find("matrix_transpose")(c))

    def _block_orth(self, *projections: Any) -> dict[Any, Any]:
        """An orthogonal kernel of size two along each axis: products of projections and their complements."""
        if len({p.shape.as_list()[0] for p in projections}) > 1:
            raise ValueError("The dimension of the matrices must be the same.")
        identity = api.find("eye")(projections[0].shape.as_list()[0], dtype=self.dtype)
        kernel = {}
        for position in itertools.product((0, 1), repeat=self.axes):
            factors = [identity - p if side else p for p, side in zip(projections, position)]
            product = factors[0]
            for factor in factors[1:]:
                product = api.find("matmul")(product, factor)
            kernel[position] = product
        return kernel

    def _matrix_conv(self, m1: dict[Any, Any], m2: dict[Any, Any]) -> dict[Any, Any]:
        """The convolution of two kernels."""
        origin = (0,) * self.axes
        n = m1[origin].shape.as_list()[0]
        if n != m2[origin].shape.as_list()[0]:
            raise ValueError("The entries in matrices m1 and m2 must have the same dimensions!")
        k, l = round(len(m1) ** (1 / self.axes)), round(len(m2) ** (1 / self.axes))
        found = {}
        for position in itertools.product(range(k + l - 1), repeat=self.axes):
            total = api.find("zeros")([n, n], self.dtype)
            for first in itertools.product(*(range(min(k, p + 1)) for p in position)):
                second = tuple(p - f for p, f in zip(position, first))
                if all(s < l for s in second):
                    total += api.find("matmul")(m1[first], m2[second])
            found[position] = total
        return found

    def _orthogonal_kernel(self, ksize: int, cin: int, cout: int) -> Any:
        if cin > cout:
            raise ValueError(f"The number of input channels (cin={cin}) cannot exceed the number of output channels (cout={cout}).")
        orthogonal = self._orthogonal_matrix(cout)[0:cin, :]
        if ksize == 1:
            for _ in range(self.axes):
                orthogonal = api.find("expand_dims")(orthogonal, 0)
            return orthogonal
        kernel = self._random_block(cout)
        for _ in range(ksize - 2):
            kernel = self._matrix_conv(kernel, self._random_block(cout))
        kernel = {position: api.find("matmul")(orthogonal, matrix) for position, matrix in kernel.items()}
        return self._stacked(kernel, ksize)

    def _random_block(self, n: int) -> dict[Any, Any]:
        return self._block_orth(*[self._symmetric_projection(n) for _ in range(self.axes)])

    def _stacked(self, kernel: dict[Any, Any], size: int, prefix: tuple[int, ...] = ()) -> Any:
        if len(prefix) == self.axes:
            return kernel[prefix]
        return api.find("stack")([self._stacked(kernel, size, (*prefix, i)) for i in range(size)])


internal("ops.init_ops.ConvolutionOrthogonal")(_ConvolutionOrthogonal)


@public("contrib.framework.convolutional_orthogonal_1d")
@internal("ops.init_ops.ConvolutionOrthogonal1D", "ops.init_ops.convolutional_orthogonal_1d")
class ConvolutionOrthogonal1D(_ConvolutionOrthogonal):
    """An orthogonal convolution along one axis."""

    axes = 1
    _rank_error = "The tensor to initialize must be three-dimensional"


@public("contrib.framework.convolutional_orthogonal_2d")
@internal("ops.init_ops.ConvolutionOrthogonal2D", "ops.init_ops.convolutional_orthogonal_2d")
class ConvolutionOrthogonal2D(_ConvolutionOrthogonal):
    """An orthogonal convolution along two axes."""

    axes = 2
    _rank_error = "The tensor to initialize must be four-dimensional"


@public("contrib.framework.convolutional_orthogonal_3d")
@internal("ops.init_ops.ConvolutionOrthogonal3D", "ops.init_ops.convolutional_orthogonal_3d")
class ConvolutionOrthogonal3D(_ConvolutionOrthogonal):
    """An orthogonal convolution along three axes."""

    axes = 3
    _rank_error = "The tensor to initialize must be five-dimensional"
