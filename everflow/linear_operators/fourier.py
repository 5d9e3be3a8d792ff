"""Operators that Fourier transforms make cheap: circulant matrices, their nested blocks, and Toeplitz matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.linear_operators.base import LinearOperator, adjoint_if
from everflow.linear_operators.batches import convert_nonref_to_tensor
from everflow.linear_operators.checks import assert_no_entries_with_modulus_zero, assert_zero_imag_part, at_least, settled

_COMPLEX = {tf.float16: tf.complex64, tf.float32: tf.complex64, tf.float64: tf.complex128}
_FORWARD = {1: tf.signal.fft, 2: tf.signal.fft2d, 3: tf.signal.fft3d}
_BACKWARD = {1: tf.signal.ifft, 2: tf.signal.ifft2d, 3: tf.signal.ifft3d}


@internal("ops.linalg.linear_operator_circulant._to_complex", "ops.linalg.linear_operator_toeplitz._to_complex")
def _to_complex(x: Any) -> Any:
    x = convert_to_tensor(x)
    return x if x.dtype.is_complex else tf.cast(x, _COMPLEX.get(x.dtype.base_dtype, tf.complex64))


def _from_complex(x: Any, dtype: Any) -> Any:
    """The numbers as the operator gives them out: those that are real have lost an imaginary part that is rounding."""
    return tf.cast(x if dtype.is_complex else tf.real(x), dtype)


@internal("ops.linalg.linear_operator_circulant._BaseLinearOperatorCirculant")
class BaseLinearOperatorCirculant(LinearOperator):
    """F^H diag(spectrum) F, where F is the unitary Fourier transform in one, two or three dimensions."""

    def __init__(
        self,
        spectrum: Any,
        block_depth: int,
        input_output_dtype: Any = tf.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant",
    ) -> None:
        if block_depth not in _FORWARD:
            raise ValueError(f"Expected block_depth to be in {set(_FORWARD)}.  Found: {block_depth}.")
        self._block_depth = block_depth
        with name_scope(name, values=[spectrum]):
            self._spectrum = convert_nonref_to_tensor(spectrum, name="spectrum")
            at_least(self._spectrum, "spectrum", block_depth)
            if not self._spectrum.dtype.is_complex:
                is_self_adjoint = settled(is_self_adjoint, True, "A real spectrum always corresponds to a self-adjoint operator.")
            square = settled(is_square, True, "A [[nested] block] circulant operator is always square.")
            hints = (is_non_singular, is_self_adjoint, is_positive_definite, square)
            super().__init__(tf.as_dtype(input_output_dtype), [self._spectrum], *hints, name=name)

    @property
    def block_depth(self) -> int:
        """How deep circulant blocks are nested: 1 for plain circulant matrices."""
        return self._block_depth

    @property
    def spectrum(self) -> Any:
        """The eigenvalues, in the order of the Fourier transform."""
        return self._spectrum

    @property
    def block_shape(self) -> Any:
        """The static shape of one spectrum."""
        return self.spectrum.shape[-self.block_depth :]

    def block_shape_tensor(self) -> Any:
        """The shape of one spectrum when it runs."""
        if self.block_shape.is_fully_defined():
            return tf.constant(self.block_shape.as_list(), dtype=tf.int32)
        return tf.shape(self.spectrum)[-self.block_depth :]

    def _complex_spectrum(self) -> Any:
        return tf.cast(_to_complex(self.spectrum), self.dtype if self.dtype.is_complex else _COMPLEX[self.dtype])

    def _fft(self, x: Any) -> Any:
        return _FORWARD[self.block_depth](_to_complex(x))

    def _ifft(self, x: Any) -> Any:
        return _BACKWARD[self.block_depth](_to_complex(x))

    def _block_axes(self) -> list[int]:
        return list(range(-self.block_depth, 0))

    def convolution_kernel(self, name: str = "convolution_kernel") -> Any:
        """The kernel that the operator convolves with; the first column of a plain circulant matrix."""
        with self._name_scope(name):
            return _from_complex(self._ifft(self._complex_spectrum()), self.dtype)

    def _shape(self) -> Any:
        spectrum = self._spectrum.shape
        if spectrum.ndims is None:
            return spectrum
        size = self.block_shape.num_elements()
        return spectrum[: -self.block_depth].concatenate([size, size])

    def _shape_tensor(self) -> Any:
        shape = tf.shape(self.spectrum)
        size = tf.reduce_prod(shape[-self.block_depth :])
        return tf.concat((shape[: -self.block_depth], [size, size]), 0)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Any:
        """An op that fails if the matrices are not real, up to rounding."""
        with self._name_scope(name):
            kernel = self._ifft(self._complex_spectrum())
            epsilon = np.finfo(kernel.dtype.real_dtype.as_numpy_dtype).eps
            size = tf.cast(self.domain_dimension_tensor(), kernel.dtype.real_dtype)
            limit = 10 * epsilon * size * (1 + tf.reduce_max(tf.abs(kernel)))
            return tf.assert_less(tf.abs(tf.imag(kernel)), limit, message="Spectrum was not Hermitian")

    def _assert_non_singular(self) -> Any:
        return assert_no_entries_with_modulus_zero(self.spectrum, message="Singular operator:  Spectrum contained zero values.")

    def _assert_positive_definite(self) -> Any:
        message = "Not positive definite:  Real part of spectrum was not all positive."
        return tf.assert_positive(tf.real(self.spectrum), message=message)

    def _assert_self_adjoint(self) -> Any:
        message = "Not self-adjoint:  The spectrum contained non-zero imaginary part."
        return assert_zero_imag_part(self.spectrum, message=message)

    def _in_frequencies(self, x: Any, adjoint_arg: bool, change: Any) -> Any:
        """The columns of `x`, changed where they are sums of waves."""
        x = adjoint_if(adjoint_arg, x)
        rows = tf.linalg.transpose(_to_complex(x))
        blocks = rows
        if self.block_depth > 1:
            blocks = tf.reshape(rows, tf.concat((tf.shape(rows)[:-1], self.block_shape_tensor()), 0))
            blocks.set_shape(rows.shape[:-1].concatenate(self.block_shape))
        found = self._ifft(change(self._fft(blocks), tf.expand_dims(self._complex_spectrum(), -self.block_depth - 1)))
        if self.block_depth > 1:
            size = tf.reduce_prod(self.block_shape_tensor())
            flat = tf.reshape(found, tf.concat((tf.shape(found)[: -self.block_depth], [size]), 0))
            flat.set_shape(found.shape[: -self.block_depth].concatenate([self.block_shape.num_elements()]))
            found = flat
        return _from_complex(tf.linalg.transpose(found), self.dtype)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._in_frequencies(x, adjoint_arg, lambda waves, s: waves * (tf.conj(s) if adjoint else s))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._in_frequencies(rhs, adjoint_arg, lambda waves, s: waves / (tf.conj(s) if adjoint else s))

    def _determinant(self) -> Any:
        return _from_complex(tf.reduce_prod(self._complex_spectrum(), axis=self._block_axes()), self.dtype)

    def _log_abs_determinant(self) -> Any:
        return tf.cast(tf.reduce_sum(tf.log(tf.abs(self.spectrum)), axis=self._block_axes()), self.dtype)

    def _trace(self) -> Any:
        return _from_complex(tf.reduce_sum(self._complex_spectrum(), axis=self._block_axes()), self.dtype)

    def _diag_part(self) -> Any:
        size = tf.cast(self.domain_dimension_tensor(), self.dtype)
        each = tf.expand_dims(self.trace() / size, -1)
        known = self.shape[:-1]
        return each * tf.ones(known if known.is_fully_defined() else self.shape_tensor()[:-1], dtype=self.dtype)


def _circulant(depth: int, what: str) -> type:
    name = "LinearOperatorCirculant" + ("" if depth == 1 else f"{depth}D")

    def __init__(
        self: Any,
        spectrum: Any,
        input_output_dtype: Any = tf.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = name,
    ) -> None:
        hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        BaseLinearOperatorCirculant.__init__(self, spectrum, depth, input_output_dtype, *hints, name=name)

    __init__.__qualname__ = f"{name}.__init__"
    kind: Any = type(BaseLinearOperatorCirculant)
    return kind(name, (BaseLinearOperatorCirculant,), {"__init__": __init__, "__doc__": what, "__module__": __name__})


LinearOperatorCirculant = public("linalg.LinearOperatorCirculant")(
    _circulant(1, "Circulant matrices: each row is the one above it, moved by one.")
)
LinearOperatorCirculant2D = public("linalg.LinearOperatorCirculant2D")(_circulant(2, "Circulant blocks, arranged in a circulant way."))
LinearOperatorCirculant3D = public("linalg.LinearOperatorCirculant3D")(
    _circulant(3, "Circulant arrangements of the blocks of two dimensions.")
)


@public("linalg.LinearOperatorToeplitz")
class LinearOperatorToeplitz(LinearOperator):
    """Matrices with the same number all along each diagonal, given by their first columns and rows."""

    def __init__(
        self,
        col: Any,
        row: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ) -> None:
        with name_scope(name, values=[row, col]):
            self._row = convert_nonref_to_tensor(row, name="row")
            self._col = convert_nonref_to_tensor(col, name="col")
            self._check_row_col(self._row, self._col)
            if is_square is False:
                raise ValueError("Only square Toeplitz operators currently supported.")
            parents = [self._row, self._col]
            super().__init__(self._row.dtype, parents, is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    def _check_row_col(self, row: Any, col: Any) -> None:
        for name, tensor in (("row", row), ("col", col)):
            at_least(tensor, name, 1)
        if row.shape.ndims and col.shape.ndims:
            row.shape.dims[-1].assert_is_compatible_with(col.shape.dims[-1])

    @property
    def col(self) -> Any:
        """The first columns."""
        return self._col

    @property
    def row(self) -> Any:
        """The first rows; what is on the diagonal is taken from the columns."""
        return self._row

    def _shape(self) -> Any:
        shape = tf.broadcast_static_shape(self.row.shape, self.col.shape)
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Any:
        shape = tf.broadcast_dynamic_shape(tf.shape(self.row), tf.shape(self.col))
        return tf.concat((shape, [shape[-1]]), axis=0)

    def _assert_self_adjoint(self) -> Any:
        return tf.assert_equal(self.row, self.col, message="row and col are not the same, and so this operator is not self-adjoint.")

    def _diagonals(self, adjoint: bool = False) -> tuple[Any, Any]:
        """The numbers on and below the main diagonal, outwards, and those above it."""
        row, col = convert_to_tensor(self.row), convert_to_tensor(self.col)
        shape = self.shape[:-1]
        shape = shape if shape.is_fully_defined() else self.shape_tensor()[:-1]
        below, above = tf.broadcast_to(col, shape), tf.broadcast_to(row, shape)[..., 1:]
        if not adjoint:
            return below, above
        return tf.conj(tf.concat([below[..., :1], above], -1)), tf.conj(below[..., 1:])

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        # A Toeplitz matrix is a corner of a circulant one, which has the diagonals above behind those below.
        x = adjoint_if(adjoint_arg, x)
        below, above = self._diagonals(adjoint)
        kernel = _to_complex(tf.concat([below, tf.reverse(above, [-1])], -1))
        size = self.domain_dimension.value
        rows = size if size is not None else tf.shape(below)[-1]
        padding = tf.zeros(tf.concat([tf.shape(x)[:-2], [rows - 1, tf.shape(x)[-1]]], 0), dtype=x.dtype)
        waves = tf.signal.fft(tf.linalg.transpose(_to_complex(tf.concat([x, padding], -2))))
        found = tf.signal.ifft(waves * tf.expand_dims(tf.signal.fft(kernel), -2))[..., :rows]
        found = _from_complex(tf.linalg.transpose(found), self.dtype)
        if x.shape.ndims is not None and self.shape.ndims is not None:
            batch = tf.broadcast_static_shape(x.shape[:-2], self.batch_shape)
            found.set_shape(batch.concatenate([size, x.shape.dims[-1]]))
        return found

    def _diag_part(self) -> Any:
        shape = self.shape[:-1]
        return tf.broadcast_to(tf.expand_dims(self.col[..., 0], -1), shape if shape.is_fully_defined() else self.shape_tensor()[:-1])

    def _trace(self) -> Any:
        return tf.cast(self.domain_dimension_tensor(), self.dtype) * self.diag_part()[..., 0]

    def _to_dense(self) -> Any:
        below, above = self._diagonals()
        diagonals = tf.concat([tf.reverse(above, [-1]), below], -1)
        size = self.domain_dimension_tensor()
        places = tf.expand_dims(tf.range(size), -1) - tf.range(size) + size - 1
        dense = tf.gather(diagonals, places, axis=-1)
        dense.set_shape(self.shape)
        return dense
