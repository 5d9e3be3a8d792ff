"""Operators made of several: their product, their direct sum, their Kronecker product."""

from __future__ import annotations

import functools
import operator as python
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import Dimension, TensorShape
from everflow.linear_operators.base import LinearOperator, adjoint_if, broadcast_dynamic, broadcast_static
from everflow.linear_operators.batches import broadcast_matrix_batch_dims
from everflow.linear_operators.checks import inherited, same_dtype


def _parents(operators: list[Any]) -> list[Any]:
    return [parent for o in operators for parent in o.graph_parents]


class _Combined(LinearOperator):
    """What they share."""

    _operators: list[Any]

    @property
    def operators(self) -> Any:
        """The operators that this one is made of."""
        return self._operators

    def _static_batch(self) -> TensorShape:
        return broadcast_static([o.batch_shape for o in self.operators])

    def _dynamic_batch(self) -> Any:
        return broadcast_dynamic([o.batch_shape_tensor() for o in self.operators])


@public("linalg.LinearOperatorComposition")
class LinearOperatorComposition(_Combined):
    """The product of operators; the last is applied first."""

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        operators = list(operators)
        if not operators:
            raise ValueError(f"Expected a non-empty list of operators. Found: {operators}")
        self._operators = operators
        dtype = same_dtype(operators)
        message = "The composition of non-singular operators is always non-singular."
        is_non_singular = inherited(is_non_singular, operators, "is_non_singular", message)
        name = name or "_o_".join(o.name for o in operators)
        with name_scope(name, values=_parents(operators)):
            super().__init__(dtype, _parents(operators), is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    def _shape(self) -> Any:
        for left, right in zip(self.operators, self.operators[1:]):
            left.domain_dimension.assert_is_compatible_with(right.range_dimension)
        return self._static_batch().concatenate([self.operators[0].range_dimension, self.operators[-1].domain_dimension])

    def _shape_tensor(self) -> Any:
        ends = tf.stack([self.operators[0].range_dimension_tensor(), self.operators[-1].domain_dimension_tensor()])
        return tf.concat([self._dynamic_batch(), ends], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_if(adjoint_arg, x)
        for operator in self.operators if adjoint else reversed(self.operators):
            x = operator.matmul(x, adjoint=adjoint)
        return x

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_if(adjoint_arg, rhs)
        for operator in reversed(self.operators) if adjoint else self.operators:
            rhs = operator.solve(rhs, adjoint=adjoint)
        return rhs

    def _determinant(self) -> Any:
        return functools.reduce(python.mul, [o.determinant() for o in self.operators])

    def _log_abs_determinant(self) -> Any:
        return functools.reduce(python.add, [o.log_abs_determinant() for o in self.operators])


@public("linalg.LinearOperatorBlockDiag")
class LinearOperatorBlockDiag(_Combined):
    """Square operators one after the other along the diagonal, and zeros elsewhere."""

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        operators = list(operators)
        if not operators:
            raise ValueError(f"Expected a non-empty list of operators. Found: {operators}")
        self._operators = operators
        dtype = same_dtype(operators)
        sum_of = "The direct sum of {0} operators is always {0}.".format
        is_non_singular = inherited(is_non_singular, operators, "is_non_singular", sum_of("non-singular"))
        is_self_adjoint = inherited(is_self_adjoint, operators, "is_self_adjoint", sum_of("self-adjoint"))
        is_positive_definite = inherited(is_positive_definite, operators, "is_positive_definite", sum_of("positive definite"))
        if not (is_square and all(o.is_square for o in operators)):
            raise ValueError("Can only represent a block diagonal of square matrices.")
        name = name or "_ds_".join(o.name for o in operators)
        with name_scope(name, values=_parents(operators)):
            super().__init__(dtype, _parents(operators), is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    def _shape(self) -> Any:
        size = functools.reduce(python.add, [o.domain_dimension for o in self.operators], Dimension(0))
        return self._static_batch().concatenate([size, size])

    def _shape_tensor(self) -> Any:
        size = functools.reduce(python.add, [o.domain_dimension_tensor() for o in self.operators])
        return tf.concat([self._dynamic_batch(), [size, size]], 0)

    def _split_input_into_blocks(self, x: Any, axis: int = -1) -> list[Any]:
        sizes = [o.domain_dimension.value for o in self.operators]
        if None not in sizes:
            return tf.split(x, sizes, axis=axis)
        return tf.split(x, [o.domain_dimension_tensor() for o in self.operators], axis=axis, num=len(sizes))

    def _joined(self, parts: list[Any], x: Any, axis: int) -> Any:
        found = tf.concat(broadcast_matrix_batch_dims(parts), axis=-2)
        columns = Dimension(None) if x.shape.ndims is None else x.shape.dims[axis]
        if x.shape.ndims is not None and self.shape.ndims is not None:
            batch = tf.broadcast_static_shape(self.batch_shape, x.shape[:-2])
            found.set_shape(batch.concatenate([self.range_dimension, columns]))
        return found

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        blocks = self._split_input_into_blocks(x, axis=-1 if adjoint_arg else -2)
        parts = [o.matmul(b, adjoint=adjoint, adjoint_arg=adjoint_arg) for o, b in zip(self.operators, blocks)]
        return self._joined(parts, x, -2 if adjoint_arg else -1)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        blocks = self._split_input_into_blocks(rhs, axis=-1 if adjoint_arg else -2)
        parts = [o.solve(b, adjoint=adjoint, adjoint_arg=adjoint_arg) for o, b in zip(self.operators, blocks)]
        return self._joined(parts, rhs, -2 if adjoint_arg else -1)

    def _determinant(self) -> Any:
        return functools.reduce(python.mul, [o.determinant() for o in self.operators])

    def _log_abs_determinant(self) -> Any:
        return functools.reduce(python.add, [o.log_abs_determinant() for o in self.operators])

    def _diag_part(self) -> Any:
        rows = broadcast_matrix_batch_dims([o.diag_part()[..., None] for o in self.operators])
        return tf.squeeze(tf.concat(rows, axis=-2), -1)

    def _trace(self) -> Any:
        return functools.reduce(python.add, [o.trace() for o in self.operators])

    def _to_dense(self) -> Any:
        size = self.domain_dimension.value
        size = self.domain_dimension_tensor() if size is None else size
        done: Any = 0
        rows = []
        for operator, block in zip(self.operators, broadcast_matrix_batch_dims([o.to_dense() for o in self.operators])):
            width = operator.domain_dimension.value
            width = operator.domain_dimension_tensor() if width is None else width
            sides = tf.concat([tf.zeros([tf.rank(block) - 1, 2], tf.int32), [[done, size - done - width]]], 0)
            rows.append(tf.pad(block, sides))
            done += width
        dense = tf.concat(rows, axis=-2)
        dense.set_shape(self.shape)
        return dense

    def _assert_non_singular(self) -> Any:
        return tf.group([o.assert_non_singular() for o in self.operators])

    def _assert_self_adjoint(self) -> Any:
        return tf.group([o.assert_self_adjoint() for o in self.operators])

    def _assert_positive_definite(self) -> Any:
        return tf.group([o.assert_positive_definite() for o in self.operators])


def _outer(left: Any, right: Any) -> Any:
    """Vectors that hold each number of the first times each of the second."""
    product = left[..., :, None] * right[..., None, :]
    flat = tf.reshape(product, tf.concat([tf.shape(product)[:-2], [-1]], 0))
    flat.set_shape(product.shape[:-2].concatenate([product.shape[-2:].num_elements()]))
    return flat


@public("linalg.LinearOperatorKronecker")
class LinearOperatorKronecker(_Combined):
    """The Kronecker product of operators."""

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        operators = list(operators)
        if not operators:
            raise ValueError(f"Expected a list of >=1 operators. Found: {operators}")
        self._operators = operators
        dtype = same_dtype(operators)
        product_of = "The Kronecker product of {0} operators is always {0}.".format
        if all(o.is_square for o in operators):
            if is_square is False:
                raise ValueError(product_of("square"))
            is_square = True
        is_non_singular = inherited(is_non_singular, operators, "is_non_singular", product_of("non-singular"))
        is_self_adjoint = inherited(is_self_adjoint, operators, "is_self_adjoint", product_of("self-adjoint"))
        is_positive_definite = inherited(is_positive_definite, operators, "is_positive_definite", product_of("positive-definite"))
        name = name or "_x_".join(o.name for o in operators)
        with name_scope(name, values=_parents(operators)):
            super().__init__(dtype, _parents(operators), is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    def _shape(self) -> Any:
        rows = functools.reduce(python.mul, [o.range_dimension for o in self.operators])
        columns = functools.reduce(python.mul, [o.domain_dimension for o in self.operators])
        return self._static_batch().concatenate([rows, columns])

    def _shape_tensor(self) -> Any:
        rows = functools.reduce(python.mul, [o.range_dimension_tensor() for o in self.operators])
        columns = functools.reduce(python.mul, [o.domain_dimension_tensor() for o in self.operators])
        return tf.concat([self._dynamic_batch(), tf.stack([rows, columns])], 0)

    def _factor_by_factor(self, x: Any, method: str, adjoint: bool, rows: Any) -> Any:
        """The rows of `x` are numbered by one index for each factor. Each factor is applied to the first index that is left, which then
        goes behind all others."""
        known, columns = x.shape, tf.shape(x)[-1:]
        for operator in self.operators:
            takes_rows = adjoint != (method == "solve")
            size = operator.range_dimension_tensor() if takes_rows else operator.domain_dimension_tensor()
            x = tf.reshape(x, tf.concat([tf.shape(x)[:-2], [size, -1]], 0))
            x = tf.linalg.transpose(getattr(operator, method)(x, adjoint=adjoint))
        # Now the columns come first, then the rows.
        x = tf.linalg.transpose(tf.reshape(x, tf.concat([tf.shape(x)[:-2], columns, [-1]], 0)))
        if known.ndims is not None and self.shape.ndims is not None:
            x.set_shape(tf.broadcast_static_shape(self.batch_shape, known[:-2]).concatenate([rows, known.dims[-1]]))
        return x

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rows = self.domain_dimension if adjoint else self.range_dimension
        return self._factor_by_factor(adjoint_if(adjoint_arg, x), "matmul", adjoint, rows)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rows = self.range_dimension if adjoint else self.domain_dimension
        return self._factor_by_factor(adjoint_if(adjoint_arg, rhs), "solve", adjoint, rows)

    def _copies(self, operator: Any, dtype: Any) -> Any:
        """How often the eigenvalues of a factor come in the product."""
        return tf.cast(self.domain_dimension_tensor() // operator.domain_dimension_tensor(), dtype)

    def _determinant(self) -> Any:
        return functools.reduce(python.mul, [o.determinant() ** self._copies(o, self.dtype) for o in self.operators])

    def _log_abs_determinant(self) -> Any:
        return functools.reduce(python.add, [o.log_abs_determinant() * self._copies(o, self.dtype) for o in self.operators])

    def _trace(self) -> Any:
        if not all(o.is_square for o in self.operators):
            return tf.reduce_sum(self.diag_part(), -1)
        return functools.reduce(python.mul, [o.trace() for o in self.operators])

    def _diag_part(self) -> Any:
        if not all(o.is_square for o in self.operators):
            return tf.linalg.diag_part(self.to_dense())
        diagonal = functools.reduce(_outer, [o.diag_part() for o in self.operators])
        diagonal.set_shape(self.shape[:-1])
        return diagonal

    def _to_dense(self) -> Any:
        dense = self.operators[0].to_dense()
        for operator in self.operators[1:]:
            other = operator.to_dense()
            product = dense[..., :, None, :, None] * other[..., None, :, None, :]
            left, right = tf.shape(dense), tf.shape(other)
            dense = tf.reshape(product, tf.concat([tf.shape(product)[:-4], left[-2:] * right[-2:]], 0))
        dense.set_shape(self.shape)
        return dense

    def _assert_non_singular(self) -> Any:
        if not all(o.is_square for o in self.operators):
            message = "All Kronecker factors must be square for the product to be invertible."
            raise tf.errors.InvalidArgumentError(None, None, message)
        return tf.group([o.assert_non_singular() for o in self.operators])

    def _assert_self_adjoint(self) -> Any:
        if not all(o.is_square for o in self.operators):
            message = "All Kronecker factors must be square for the product to be self adjoint."
            raise tf.errors.InvalidArgumentError(None, None, message)
        return tf.group([o.assert_self_adjoint() for o in self.operators])
