"""Roots of symmetric matrices by iterations that are products only, for ShampooOptimizer."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor

BELOW = "contrib.opt.python.training.matrix_functions."


@public(BELOW + "matrix_square_root")
def matrix_square_root(mat_a: Any, mat_a_size: Any, iter_count: int = 100, ridge_epsilon: float = 1e-4) -> Any:
    """The root of a positive semidefinite matrix, by Newton's and Schulz's iteration."""
    mat_a = convert_to_tensor(mat_a)
    one = tf.eye(tf.squeeze(mat_a_size), dtype=mat_a.dtype)
    damped = mat_a + ridge_epsilon * one
    norm = tf.norm(damped)

    def goes_on(k: Any, y: Any, z: Any, error: Any, before: Any) -> Any:
        return (k < iter_count) & (error < before)

    def body(k: Any, y: Any, z: Any, error: Any, before: Any) -> Any:
        step = 0.5 * (3.0 * one - tf.matmul(z, y))
        after = tf.matmul(y, step)
        return k + 1, after, tf.matmul(step, z), tf.norm(damped - tf.matmul(after, after) * norm), error

    many = tf.constant(float("inf"), mat_a.dtype)
    first = damped / norm
    start = (tf.constant(0), first, one, tf.norm(damped - tf.matmul(first, first) * norm), many)
    return tf.while_loop(goes_on, body, start)[1] * tf.sqrt(norm)


@public(BELOW + "matrix_inverse_pth_root")
def matrix_inverse_pth_root(
    mat_g: Any, mat_g_size: Any, alpha: float, iter_count: int = 100, epsilon: float = 1e-6, ridge_epsilon: float = 1e-6
) -> Any:
    """`mat_g ** alpha` where alpha is -1/p, by the coupled Newton iteration (Guo and Higham, 2006)."""
    mat_g = convert_to_tensor(mat_g)
    one = tf.eye(tf.squeeze(mat_g_size), dtype=mat_g.dtype)
    p = round(-1.0 / alpha)
    if p < 1 or abs(alpha * p + 1) > 1e-6:
        raise ValueError(f"alpha should be -1/p with a whole number p, but is {alpha}")
    damped = mat_g + ridge_epsilon * one
    z = (1 - 1 / alpha) / (2 * tf.norm(damped))

    def goes_on(k: Any, m: Any, h: Any, error: Any, best: Any) -> Any:
        return (k < iter_count) & (error > epsilon)

    def body(k: Any, m: Any, h: Any, error: Any, best: Any) -> Any:
        step = (1 - alpha) * one + alpha * m
        after, root = tf.matmul(_power(step, p), m), tf.matmul(h, step)
        wrong = tf.reduce_max(tf.abs(after - one))
        # Rounding may let a small error grow again in the end.
        grows = (wrong > error * 1.2) & (error < 1e-3)
        return tf.where(grows, iter_count, k + 1), after, tf.where(grows, h, root), wrong, best

    first = damped * z
    start = (tf.constant(0), first, one * tf.pow(z, -alpha), tf.reduce_max(tf.abs(first - one)), tf.constant(0))
    return tf.while_loop(goes_on, body, start)[2]


def _power(matrix: Any, exponent: int) -> Any:
    """A matrix to a whole power, by squares."""
    result = None
    while exponent:
        if exponent & 1:
            result = matrix if result is None else tf.matmul(result, matrix)
        exponent >>= 1
        if exponent:
            matrix = tf.matmul(matrix, matrix)
    return result
