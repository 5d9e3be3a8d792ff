"""tf.linalg.LinearOperator: what all operators share."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import Dimension, TensorShape
from everflow.graph.tensor import Tensor
from everflow.linear_operators import algebra
from everflow.linear_operators.batches import cholesky_solve_with_broadcast, is_ref, matrix_solve_with_broadcast, shape_tensor
from everflow.linear_operators.checks import settled
from everflow.module import Module
from everflow.platform.dispatch import dispatch_for_types


def adjoint_if(condition: bool, x: Any) -> Any:
    """The adjoint of a matrix, if that is asked for."""
    return tf.linalg.adjoint(x) if condition else x


def _slow(method: str, cost: str = "Requires conversion to a dense matrix and O(N^3) operations.") -> None:
    tf.logging.warn(f"Using (possibly slow) default implementation of {method}.  {cost}")


@public("linalg.LinearOperator")
class LinearOperator(Module, metaclass=abc.ABCMeta):
    """A batch of matrices that are known by what they do. A subclass has `_shape`, `_shape_tensor` and `_matmul`, and more where it
    can do better than a dense matrix."""

    def __init__(
        self,
        dtype: Any,
        graph_parents: Any = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        for i, parent in enumerate(graph_parents or ()):
            if parent is None or not (isinstance(parent, Tensor) or is_ref(parent)):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        self._is_positive_definite, self._is_self_adjoint = is_positive_definite, is_self_adjoint
        if is_positive_definite:
            is_non_singular = settled(is_non_singular, True, "A positive definite matrix is always non-singular.")
        for hint, kind in ((is_non_singular, "non-singular"), (is_self_adjoint, "self-adjoint")):
            if hint:
                is_square = settled(is_square, True, f"A {kind} matrix is always square.")
        self._is_non_singular, self._is_square_set_or_implied_by_hints = is_non_singular, is_square
        self._dtype = dtypes.as_dtype(dtype).base_dtype if dtype else dtype
        self._graph_parents = list(graph_parents or ())
        self._name = name or type(self).__name__

    @contextlib.contextmanager
    def _name_scope(self, name: str | None = None) -> Iterator[Any]:
        with name_scope(self.name + "/" + name if name is not None else self.name) as scope:
            yield scope

    # -- what it is

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self._dtype

    @property
    def name(self) -> str:
        """The name scope of its ops."""
        return self._name

    @property
    def graph_parents(self) -> Any:
        """The tensors that it depends on."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> bool | None:
        """Whether it has an inverse; None if that is not known."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """Whether it is its own adjoint; None if that is not known."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """Whether `x^H A x` has a positive real part for all x but zero; None if that is not known."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether it has as many rows as columns; None if that is not known."""
        rows, columns = self.range_dimension, self.domain_dimension
        known = None if rows.value is None or columns.value is None else rows.value == columns.value
        if known and self._is_square_set_or_implied_by_hints is False:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return self._is_square_set_or_implied_by_hints if known is None else known

    # -- its shape

    @abc.abstractmethod
    def _shape(self) -> Any:
        raise NotImplementedError("_shape is not implemented.")

    @abc.abstractmethod
    def _shape_tensor(self) -> Any:
        raise NotImplementedError("_shape_tensor is not implemented.")

    @property
    def shape(self) -> Any:
        """The static shape: batch dimensions, rows, columns."""
        return self._shape()

    @property
    def batch_shape(self) -> Any:
        """The static shape of the batch."""
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> Any:
        """The number of dimensions of the batch and two more, if it is known."""
        return self.shape.ndims

    @property
    def domain_dimension(self) -> Any:
        """How many columns there are."""
        dims = self.shape.dims
        return Dimension(None) if dims is None else dims[-1]

    @property
    def range_dimension(self) -> Any:
        """How many rows there are."""
        dims = self.shape.dims
        return Dimension(None) if dims is None else dims[-2]

    def shape_tensor(self, name: str = "shape_tensor") -> Any:
        """The shape when it runs."""
        with self._name_scope(name):
            return shape_tensor(self.shape.as_list()) if self.shape.is_fully_defined() else self._shape_tensor()

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """The batch's shape when it runs."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return shape_tensor(self.batch_shape.as_list(), name="batch_shape")
            return self.shape_tensor()[:-2]

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Any:
        """The number of dimensions when it runs."""
        with self._name_scope(name):
            return tf.size(self.shape_tensor()) if self.tensor_rank is None else convert_to_tensor(self.tensor_rank)

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Any:
        """The number of columns when it runs."""
        with self._name_scope(name):
            size = self.domain_dimension.value
            return self.shape_tensor()[-1] if size is None else convert_to_tensor(size)

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Any:
        """The number of rows when it runs."""
        with self._name_scope(name):
            size = self.range_dimension.value
            return self.shape_tensor()[-2] if size is None else convert_to_tensor(size)

    # -- what holds of it

    def assert_non_singular(self, name: str = "assert_non_singular") -> Any:
        """An op that fails if there is no inverse, up to rounding."""
        with self._name_scope(name):
            return self._assert_non_singular()

    def _assert_non_singular(self) -> Any:
        _slow("assert_non_singular")
        sizes = tf.linalg.svd(self.to_dense(), compute_uv=False)
        condition = tf.reduce_max(sizes, axis=-1) / tf.reduce_min(sizes, axis=-1)
        message = "Singular matrix up to precision epsilon."
        return tf.assert_less(condition, self._max_condition_number_to_be_non_singular(), message=message)

    def _max_condition_number_to_be_non_singular(self) -> Any:
        with name_scope("max_nonsingular_condition_number"):
            dtype = self.dtype.real_dtype
            epsilon = np.finfo(dtype.as_numpy_dtype).eps
            size = tf.maximum(tf.cast(self.range_dimension_tensor(), dtype), tf.cast(self.domain_dimension_tensor(), dtype))
            return 1.0 / (epsilon * 10.0 * size)

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """An op that fails if the operator is not positive definite."""
        with self._name_scope(name):
            return self._assert_positive_definite()

    def _assert_positive_definite(self) -> Any:
        _slow("assert_positive_definite")
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented.")
        diagonal = tf.real(tf.linalg.diag_part(tf.linalg.cholesky(self.to_dense())))
        return tf.assert_positive(diagonal, message="Matrix was not positive definite.")

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Any:
        """An op that fails if the operator is not its own adjoint."""
        with self._name_scope(name):
            return self._assert_self_adjoint()

    def _assert_self_adjoint(self) -> Any:
        _slow("assert_self_adjoint", "Requires conversion to a dense matrix.")
        dense = self.to_dense()
        return tf.assert_equal(dense, tf.linalg.adjoint(dense), message="Matrix was not equal to its adjoint.")

    def _check_input_dtype(self, arg: Any) -> None:
        if arg.dtype.base_dtype != self.dtype:
            raise TypeError(f"Expected argument to have dtype {self.dtype!r}.  Found: {arg.dtype!r} in tensor {arg}")

    # -- what it does

    @abc.abstractmethod
    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        raise NotImplementedError("_matmul is not implemented.")

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """This operator, or its adjoint, times a batch of matrices or another operator (or their adjoints)."""
        if isinstance(x, LinearOperator):
            left, right = self._pair(x, adjoint, adjoint_arg, "x")
            with self._name_scope(name):
                return algebra.matmul(left, right)
        with self._name_scope(name):
            x = convert_to_tensor(x, name="x")
            self._check_input_dtype(x)
            self._check_rows(x, adjoint, -1 if adjoint_arg else -2)
            return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _pair(self, other: LinearOperator, adjoint: bool, adjoint_arg: bool, argument: str) -> tuple[Any, Any]:
        left = self.adjoint() if adjoint else self
        right = other.adjoint() if adjoint_arg else other
        wanted = left.range_dimension if argument == "rhs" else left.domain_dimension
        if not wanted.is_compatible_with(right.range_dimension):
            raise ValueError(
                f"Operators are incompatible. Expected `{argument}` to have dimension {wanted} but got {right.range_dimension}."
            )
        return left, right

    def _check_rows(self, x: Any, of_range: bool, axis: int) -> None:
        """Raises ValueError where an argument is known not to fit."""
        if x.shape.dims is not None:
            mine = self.range_dimension if of_range else self.domain_dimension
            mine.assert_is_compatible_with(x.shape.dims[axis])

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """This operator, or its adjoint, times a batch of vectors."""
        with self._name_scope(name):
            x = convert_to_tensor(x, name="x")
            self._check_input_dtype(x)
            self._check_rows(x, adjoint, -1)
            return self._matvec(x, adjoint=adjoint)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return tf.squeeze(self.matmul(tf.expand_dims(x, axis=-1), adjoint=adjoint), axis=-1)

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        """What this operator, or its adjoint, has to be multiplied with to give `rhs`."""
        if self.is_non_singular is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to not be square.")
        if isinstance(rhs, LinearOperator):
            left, right = self._pair(rhs, adjoint, adjoint_arg, "rhs")
            with self._name_scope(name):
                return algebra.solve(left, right)
        with self._name_scope(name):
            rhs = convert_to_tensor(rhs, name="rhs")
            self._check_input_dtype(rhs)
            self._check_rows(rhs, not adjoint, -1 if adjoint_arg else -2)
            return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        _slow("solve")
        rhs = adjoint_if(adjoint_arg, rhs)
        if self._can_use_cholesky():
            return cholesky_solve_with_broadcast(tf.linalg.cholesky(self.to_dense()), rhs)
        return matrix_solve_with_broadcast(self.to_dense(), rhs, adjoint=adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """The same for a batch of vectors."""
        with self._name_scope(name):
            rhs = convert_to_tensor(rhs, name="rhs")
            self._check_input_dtype(rhs)
            self._check_rows(rhs, not adjoint, -1)
            return self._solvevec(rhs, adjoint=adjoint)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return tf.squeeze(self.solve(tf.expand_dims(rhs, axis=-1), adjoint=adjoint), axis=-1)

    def _can_use_cholesky(self) -> bool | None:
        return self.is_self_adjoint and self.is_positive_definite

    def determinant(self, name: str = "det") -> Any:
        """The determinant of each matrix."""
        self._only_square("Determinant")
        with self._name_scope(name):
            return self._determinant()

    def _determinant(self) -> Any:
        _slow("determinant")
        if self._can_use_cholesky():
            return tf.exp(self.log_abs_determinant())
        return tf.linalg.det(self.to_dense())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """The logarithm of the size of each matrix's determinant."""
        self._only_square("Determinant")
        with self._name_scope(name):
            return self._log_abs_determinant()

    def _log_abs_determinant(self) -> Any:
        _slow("determinant")
        if self._can_use_cholesky():
            return 2.0 * tf.reduce_sum(tf.log(tf.linalg.diag_part(tf.linalg.cholesky(self.to_dense()))), axis=[-1])
        return tf.linalg.slogdet(self.to_dense())[1]

    def _only_square(self, what: str) -> None:
        if self.is_square is False:
            raise NotImplementedError(f"{what} not implemented for an operator that is expected to not be square.")

    def to_dense(self, name: str = "to_dense") -> Any:
        """The matrices themselves."""
        with self._name_scope(name):
            return self._to_dense()

    def _to_dense(self) -> Any:
        batch = self.batch_shape if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()
        size = self.domain_dimension.value
        size = self.domain_dimension_tensor() if size is None else size
        return self.matmul(tf.eye(num_rows=size, batch_shape=batch, dtype=self.dtype))

    def diag_part(self, name: str = "diag_part") -> Any:
        """The main diagonals."""
        with self._name_scope(name):
            return self._diag_part()

    def _diag_part(self) -> Any:
        return tf.linalg.diag_part(self.to_dense())

    def trace(self, name: str = "trace") -> Any:
        """The sums of the main diagonals."""
        with self._name_scope(name):
            return self._trace()

    def _trace(self) -> Any:
        return tf.reduce_sum(self.diag_part(), axis=-1)

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Any:
        """This operator's matrices and `x`."""
        with self._name_scope(name):
            x = convert_to_tensor(x, name="x")
            self._check_input_dtype(x)
            return self._add_to_tensor(x)

    def _add_to_tensor(self, x: Any) -> Any:
        return self.to_dense() + x

    # -- operators made from it

    def adjoint(self, name: str = "adjoint") -> Any:
        """The operator of the conjugate transposes."""
        if self.is_self_adjoint is True:
            return self
        with self._name_scope(name):
            return algebra.adjoint(self)

    # `A.H` is `A.adjoint()`.
    H = property(adjoint, None)

    def inverse(self, name: str = "inverse") -> Any:
        """The operator of the inverses."""
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        with self._name_scope(name):
            return algebra.inverse(self)

    def cholesky(self, name: str = "cholesky") -> Any:
        """The operator of the Cholesky factors."""
        if not self._can_use_cholesky():
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        with self._name_scope(name):
            return algebra.cholesky(self)


def broadcast_static(shapes: list[Any]) -> TensorShape:
    """The static shape that shapes broadcast to."""
    known = shapes[0]
    for shape in shapes[1:]:
        known = tf.broadcast_static_shape(known, shape)
    return known


def broadcast_dynamic(shapes: list[Any]) -> Any:
    """The same for shapes that are tensors."""
    known = shapes[0]
    for shape in shapes[1:]:
        known = tf.broadcast_dynamic_shape(known, shape)
    return known


# -- functions of tf.linalg that take operators too


@dispatch_for_types(tf.linalg.adjoint, LinearOperator)
def _adjoint(matrix: Any, name: str | None = None) -> Any:
    return matrix.adjoint(name or "adjoint")


@dispatch_for_types(tf.linalg.cholesky, LinearOperator)
def _cholesky(input: Any, name: str | None = None) -> Any:
    return input.cholesky(name or "cholesky")


@dispatch_for_types(tf.linalg.diag_part, LinearOperator)
def _diag_part(input: Any, name: str = "diag_part", k: Any = 0, padding_value: Any = 0) -> Any:
    return input.diag_part(name)


@dispatch_for_types(tf.linalg.det, LinearOperator)
def _det(input: Any, name: str | None = None) -> Any:
    return input.determinant(name or "det")


@dispatch_for_types(tf.linalg.inv, LinearOperator)
def _inverse(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    inverse = input.inverse(name or "inverse")
    return inverse.adjoint() if adjoint else inverse


@dispatch_for_types(tf.linalg.logdet, LinearOperator)
def _logdet(matrix: Any, name: str | None = None) -> Any:
    return matrix.log_abs_determinant(name or "log_abs_det")


@dispatch_for_types(tf.matmul, LinearOperator)
def _matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time.")
    if a_is_sparse or b_is_sparse:
        raise ValueError("Sparse methods not supported at this time.")
    name = name or "matmul"
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b, name=name)
    # A matrix times an operator is the adjoint of the operator's adjoint times the matrix's.
    return tf.linalg.adjoint(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a, name=name))


@dispatch_for_types(tf.linalg.solve, LinearOperator)
def _solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    if not isinstance(matrix, LinearOperator):
        raise ValueError("Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported.")
    return matrix.solve(rhs, adjoint=adjoint, name=name or "solve")


@dispatch_for_types(tf.linalg.trace, LinearOperator)
def _trace(x: Any, name: str | None = None) -> Any:
    return x.trace(name or "trace")
