"""Invertible transformations."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf
from everflow.distributions.bijectors import Bijector, Identity
from running import run


class Exp(Bijector):
    def __init__(self, **options):
        self.calls = 0
        super().__init__(forward_min_event_ndims=0, **options)

    def _forward(self, x):
        self.calls += 1
        return tf.exp(x)

    def _inverse(self, y):
        return tf.log(y)

    def _forward_log_det_jacobian(self, x):
        return x


def test_a_transformation_and_its_derivative():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    b = Exp()
    y = b.forward(x)
    assert b.inverse(y) is x and b.forward(x) is y and b.calls == 1
    np.testing.assert_allclose(run(b.forward_log_det_jacobian(x, event_ndims=1)), [3.0, 7.0])
    np.testing.assert_allclose(run(b.inverse_log_det_jacobian(y, event_ndims=1)), [-3.0, -7.0])
    np.testing.assert_allclose(run(b.inverse_log_det_jacobian(y, event_ndims=2)), -10.0)
    assert b.name == "exp"


def test_identity():
    b = Identity()
    x = tf.constant([[1.0, 2.0]])
    assert b.forward(x) is x and run(b.forward_log_det_jacobian(x, event_ndims=2)) == 0.0


def test_axes_of_events_are_checked():
    with pytest.raises(ValueError, match="Expected integer"):
        Exp().forward_log_det_jacobian(1.0, event_ndims=1.5)
    with pytest.raises(ValueError, match="Expected scalar"):
        Exp().forward_log_det_jacobian(1.0, event_ndims=(1, 2))
    with pytest.raises(TypeError, match="abstract"):
        Bijector()
