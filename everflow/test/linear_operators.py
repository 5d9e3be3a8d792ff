"""Tests of linear operators against the matrices that they stand for, for those who write operators of their own."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.test.case import TestCase

NAMES = "ops.linalg.linear_operator_test_util."


@internal(NAMES + "OperatorShapesInfo")
class OperatorShapesInfo:
    """The shape of an operator, and what else it is made from."""

    def __init__(self, shape: Any, **kwargs: Any) -> None:
        self.shape = shape
        vars(self).update(kwargs)


@internal(NAMES + "CheckTapeSafeSkipOptions")
class CheckTapeSafeSkipOptions:
    """What may not depend on an operator's variables."""

    DETERMINANT = "determinant"
    DIAG_PART = "diag_part"
    LOG_ABS_DETERMINANT = "log_abs_determinant"
    TRACE = "trace"


@internal(NAMES + "LinearOperatorDerivedClassTest")
class LinearOperatorDerivedClassTest(TestCase):
    """What holds for every operator. Subclasses say `operator_and_matrix`; `add_tests` makes tests of the rest."""

    _atol = {tf.float16: 1e-3, tf.float32: 1e-6, tf.float64: 1e-12, tf.complex64: 1e-6, tf.complex128: 1e-12}
    _rtol = dict(_atol)

    def setUp(self) -> None:
        super().setUp()
        # Tests that need other limits change those of their own.
        self._atol, self._rtol = dict(self._atol), dict(self._rtol)

    def assertAC(self, x: Any, y: Any) -> None:
        """Values that agree as far as their type can tell."""
        dtype = tf.as_dtype(x.dtype)
        self.assertAllClose(x, y, atol=self._atol[dtype], rtol=self._rtol[dtype])

    @staticmethod
    def adjoint_options() -> list[bool]:
        return [False, True]

    @staticmethod
    def adjoint_arg_options() -> list[bool]:
        return [False, True]

    @staticmethod
    def dtypes_to_test() -> list[Any]:
        return [tf.float32, tf.float64, tf.complex64, tf.complex128]

    @staticmethod
    def use_placeholder_options() -> list[bool]:
        return [False, True]

    @staticmethod
    def operator_shapes_infos() -> list[Any]:
        """The shapes to try."""
        raise NotImplementedError("operator_shapes_infos has not been implemented.")

    def operator_and_matrix(self, shapes_info: Any, dtype: Any, use_placeholder: bool, ensure_self_adjoint_and_pd: bool = False) -> Any:
        """An operator, and the matrix that it stands for."""
        raise NotImplementedError("Not implemented yet.")

    def make_rhs(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        """What `solve` is given."""
        raise NotImplementedError("make_rhs is not defined.")

    def make_x(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        """What `matmul` is given."""
        raise NotImplementedError("make_x is not defined.")

    @staticmethod
    def skip_these_tests() -> list[str]:
        """Names of checks that make no sense for the operator."""
        return []

    def assertRaisesError(self, msg: str) -> Any:
        """A failing run in graphs; any exception where ops run at once."""
        return self.assertRaisesRegex(Exception, msg) if tf.executing_eagerly() else self.assertRaisesOpError(msg)

    def check_tape_safe(self, operator: Any, skip_options: Any = None) -> None:
        """What an operator computes has gradients for its variables, though these were read when it was made."""
        skipped = set(skip_options or ())
        square = operator.domain_dimension == operator.range_dimension
        whole = [name for name in ("determinant", "log_abs_determinant", "trace") if square]
        self.assertTrue(operator.trainable_variables)
        for name in ("to_dense", "diag_part", *whole):
            if name in skipped:
                continue
            with tf.GradientTape() as tape:
                value = getattr(operator, name)()
            for gradient in tape.gradient(value, operator.trainable_variables):
                self.assertIsNotNone(gradient, msg=f"{name} has no gradient")

    def _columns(self, operator: Any, size: Callable[..., Any], known: Any, with_batch: bool, count: int) -> Any:
        """Random columns of as many rows as the operator has, for all matrices of its batch or for one."""
        if operator.shape.is_fully_defined():
            batch = operator.batch_shape.as_list() if with_batch else []
            return random_normal([*batch, known.value, count], dtype=operator.dtype)
        batch = operator.batch_shape_tensor() if with_batch else tf.constant([], tf.int32)
        return random_normal(tf.concat([batch, [size(), count]], 0), dtype=operator.dtype)


@internal(NAMES + "SquareLinearOperatorDerivedClassTest")
class SquareLinearOperatorDerivedClassTest(LinearOperatorDerivedClassTest):
    """The same for square operators."""

    @staticmethod
    def operator_shapes_infos() -> list[Any]:
        return [OperatorShapesInfo(shape) for shape in ((0, 0), (1, 1), (1, 3, 3), (3, 4, 4), (2, 1, 4, 4))]

    def make_rhs(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        return self.make_x(operator, adjoint, with_batch)

    def make_x(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        return self._columns(operator, operator.domain_dimension_tensor, operator.domain_dimension, with_batch, 2)


@internal(NAMES + "NonSquareLinearOperatorDerivedClassTest")
class NonSquareLinearOperatorDerivedClassTest(LinearOperatorDerivedClassTest):
    """The same for operators of any shape, for which there is nothing to solve."""

    @staticmethod
    def skip_these_tests() -> list[str]:
        return ["cholesky", "inverse", "solve", "solve_with_broadcast", "det", "log_abs_det"]

    @staticmethod
    def operator_shapes_infos() -> list[Any]:
        return [OperatorShapesInfo(shape) for shape in ((2, 1), (1, 2), (1, 3, 2), (3, 3, 4), (2, 1, 2, 4))]

    def make_rhs(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        raise NotImplementedError("make_rhs not implemented because we don't test solve")

    def make_x(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        if adjoint:
            return self._columns(operator, operator.range_dimension_tensor, operator.range_dimension, with_batch, 2)
        return self._columns(operator, operator.domain_dimension_tensor, operator.domain_dimension, with_batch, 2)


# What is compared: (what the operator computes, what follows from its matrix), and the shape that is known before a run.
_COMPARED: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "to_dense": lambda operator, matrix: (operator.to_dense(), matrix),
    "det": lambda operator, matrix: (operator.determinant(), tf.linalg.det(matrix)),
    "log_abs_det": lambda operator, matrix: (operator.log_abs_determinant(), tf.linalg.slogdet(matrix)[1]),
    "diag_part": lambda operator, matrix: (operator.diag_part(), tf.linalg.diag_part(matrix)),
    "trace": lambda operator, matrix: (operator.trace(), tf.linalg.trace(matrix)),
    "add_to_tensor": lambda operator, matrix: (operator.add_to_tensor(2 * matrix), 3 * matrix),
    "adjoint": lambda operator, matrix: (operator.adjoint().to_dense(), tf.linalg.adjoint(matrix)),
    "inverse": lambda operator, matrix: (operator.inverse().to_dense(), tf.linalg.inv(matrix)),
    "cholesky": lambda operator, matrix: (operator.cholesky().to_dense(), tf.linalg.cholesky(matrix)),
}


def _compare(name: str, use_placeholder: bool, shapes_info: Any, dtype: Any, self: Any) -> None:
    with self.session(graph=tf.Graph()) as session:
        session.graph.seed = 1
        built = self.operator_and_matrix(shapes_info, dtype, use_placeholder=use_placeholder, ensure_self_adjoint_and_pd=name == "cholesky")
        found, wanted = _COMPARED[name](*built)
        if not use_placeholder:
            found.shape.assert_is_compatible_with(wanted.shape)
        self.assertAC(*session.run([found, wanted]))


def _multiply(
    with_batch: bool, solves: bool, use_placeholder: bool, shapes_info: Any, dtype: Any, adjoint: bool, adjoint_arg: bool, self: Any
) -> None:
    if not with_batch and len(shapes_info.shape) <= 2:
        return
    with self.session(graph=tf.Graph()) as session:
        session.graph.seed = 1
        operator, matrix = self.operator_and_matrix(shapes_info, dtype, use_placeholder=use_placeholder)
        given = (self.make_rhs if solves else self.make_x)(operator, adjoint=adjoint, with_batch=with_batch)
        turned = tf.linalg.adjoint(given) if adjoint_arg else given
        found = (operator.solve if solves else operator.matmul)(turned, adjoint=adjoint, adjoint_arg=adjoint_arg)
        # One right side for all matrices of a batch is repeated for each.
        many = given if with_batch else given + tf.zeros(tf.concat([tf.shape(matrix)[:-2], tf.shape(given)[-2:]], 0), dtype)
        wanted = tf.linalg.solve(matrix, many, adjoint=adjoint) if solves else tf.matmul(matrix, many, adjoint_a=adjoint)
        if not use_placeholder:
            found.shape.assert_is_compatible_with(wanted.shape)
        self.assertAC(*session.run([found, wanted]))


_MULTIPLIED = {
    "matmul": functools.partial(_multiply, True, False),
    "matmul_with_broadcast": functools.partial(_multiply, False, False),
    "solve": functools.partial(_multiply, True, True),
    "solve_with_broadcast": functools.partial(_multiply, False, True),
}


def _checks(test_cls: Any) -> Iterator[tuple[str, functools.partial[None]]]:
    plain = (test_cls.use_placeholder_options(), test_cls.operator_shapes_infos(), test_cls.dtypes_to_test())
    for name in _COMPARED:
        for values in itertools.product(*plain):
            yield name, functools.partial(_compare, name, *values)
    for name, check in _MULTIPLIED.items():
        for turned in itertools.product(*plain, test_cls.adjoint_options(), test_cls.adjoint_arg_options()):
            yield name, functools.partial(check, *turned)


@internal(NAMES + "add_tests")
def add_tests(test_cls: Any) -> None:
    """Gives a class a test for each check, shape, type and way of feeding."""
    skipped = set(test_cls.skip_these_tests())
    for number, (name, check) in enumerate(_checks(test_cls)):
        if name in skipped:
            continue
        values = [v.shape if hasattr(v, "shape") else getattr(v, "name", v) for v in check.args]
        told = "_".join(str(v) for v in values if not isinstance(v, str) or v != name)
        method = f"test_{name}_{number}_" + "".join(c if c.isalnum() else "_" for c in told)
        if hasattr(test_cls, method):
            raise RuntimeError(f"Test class {test_cls} already has a test {method}")
        setattr(test_cls, method, functools.partialmethod(_run, check))


def _run(self: Any, check: Callable[..., None]) -> None:
    check(self)


# Random values


def _parts(draw: Callable[[Any, Any], Any], dtype: Any, seed: int | None) -> Any:
    """Random numbers; of complex types both parts are random."""
    dtype = tf.as_dtype(dtype)
    if not dtype.is_complex:
        return draw(dtype, seed)
    return tf.complex(draw(dtype.real_dtype, seed), draw(dtype.real_dtype, None if seed is None else seed + 1234))


@internal(NAMES + "random_normal")
def random_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = tf.float32, seed: int | None = None) -> Any:
    """Normal numbers of any type."""
    return _parts(lambda kind, seed: tf.random_normal(shape, mean, stddev, kind, seed), dtype, seed)


@internal(NAMES + "random_uniform")
def random_uniform(shape: Any, minval: Any = None, maxval: Any = None, dtype: Any = tf.float32, seed: int | None = None) -> Any:
    """Numbers between two limits, of any type."""
    low = 0.0 if minval is None else minval
    return _parts(lambda kind, seed: tf.random_uniform(shape, low, maxval, kind, seed), dtype, seed)


@internal(NAMES + "random_sign_uniform")
def random_sign_uniform(shape: Any, minval: Any = None, maxval: Any = None, dtype: Any = tf.float32, seed: int | None = None) -> Any:
    """The same, half of them with a minus."""
    drawn = random_uniform(shape, minval, maxval, dtype, seed)
    heads = tf.random_uniform(shape, -1.0, 1.0, seed=None if seed is None else seed + 42) > 0
    return drawn * tf.cast(tf.where(heads, tf.ones(shape), -tf.ones(shape)), drawn.dtype)


@internal(NAMES + "random_normal_correlated_columns")
def random_normal_correlated_columns(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = tf.float32, eps: float = 1e-4, seed: int | None = None
) -> Any:
    """Matrices whose columns are nearly the same."""
    shape = tf.convert_to_tensor(shape, tf.int32)
    column = random_normal(tf.concat([shape[:-1], [1]], 0), mean, stddev, dtype, seed)
    noise = random_normal(shape, 0.0, eps, dtype, None if seed is None else seed + 1)
    return column + noise


@internal(NAMES + "random_tril_matrix")
def random_tril_matrix(shape: Any, dtype: Any, force_well_conditioned: bool = False, remove_upper: bool = True) -> Any:
    """Lower triangular matrices; of well-conditioned ones the diagonal outweighs the rest."""
    size = tf.convert_to_tensor(shape, tf.int32)[-1]
    found = random_normal(shape, dtype=dtype)
    if force_well_conditioned:
        scale = tf.cast(tf.rsqrt(tf.cast(tf.maximum(size, 1), tf.float32)), found.dtype)
        diagonal = random_sign_uniform(tf.convert_to_tensor(shape, tf.int32)[:-1], 1.0, 2.0, dtype)
        found = tf.matrix_set_diag(tf.cast(0.5, found.dtype) * scale * found, diagonal)
    return tf.matrix_band_part(found, -1, 0) if remove_upper else found


@internal(NAMES + "random_positive_definite_matrix")
def random_positive_definite_matrix(shape: Any, dtype: Any, force_well_conditioned: bool = False) -> Any:
    """Products of lower triangular matrices with their adjoints."""
    root = random_tril_matrix(shape, dtype, force_well_conditioned=force_well_conditioned)
    return tf.matmul(root, root, adjoint_b=True)
