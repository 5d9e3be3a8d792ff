"""Logarithms of densities, and priors, of normal and Cauchy distributions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import everflow as tf
from everflow.contrib.timeseries.publishing import published

LOG_TWO_PI = np.log(2.0 * np.pi)


@published("math_utils.normal_log_prob")
def normal_log_prob(loc: Any, scale: Any, x: Any) -> Any:
    """Of one normal number. As in TensorFlow 1.15, the logarithm of the scale is halved with the rest."""
    squares = tf.square((x - loc) / scale)
    return -0.5 * (squares + LOG_TWO_PI + tf.log(scale))


@published("math_utils.cauchy_log_prob")
def cauchy_log_prob(loc: Any, scale: Any, x: Any) -> Any:
    """Of one Cauchy number."""
    squares = tf.square((x - loc) / scale)
    return -np.log(np.pi) - tf.log(scale) - tf.log1p(squares)


@published("math_utils.mvn_tril_log_prob")
def mvn_tril_log_prob(loc: Any, scale_tril: Any, x: Any) -> Any:
    """Of normal vectors whose covariance has this Cholesky factor."""
    distance = x - loc
    whitened = tf.matrix_triangular_solve(scale_tril, distance[..., tf.newaxis])[..., 0]
    log_determinant = 2.0 * tf.reduce_sum(tf.log(tf.matrix_diag_part(scale_tril)), axis=-1)
    size = tf.cast(tf.shape(scale_tril)[-1], log_determinant.dtype)
    return -0.5 * (tf.reduce_sum(tf.square(whitened), axis=-1) + size * LOG_TWO_PI + log_determinant)


@published("math_utils.log_noninformative_covariance_prior")
def log_noninformative_covariance_prior(covariance: Any) -> Any:
    """Jeffreys' prior of a covariance, in logarithms; a little on the diagonal keeps the determinant from zero."""
    kind = covariance.dtype
    little = tf.diag(1e-8 * tf.ones(shape=[tf.shape(covariance)[0]], dtype=kind))
    regular = covariance + little
    exponent = tf.cast(tf.shape(regular)[0] + 1, kind) / 2.0
    return -exponent * tf.log(tf.matrix_determinant(regular))


@published("math_utils.entropy_matched_cauchy_scale")
def entropy_matched_cauchy_scale(covariance: Any) -> Any:
    """The scales of Cauchy distributions with the entropies of normal ones that have these variances."""
    return tf.sqrt(math.e / (8.0 * math.pi) * tf.matrix_diag_part(covariance))
