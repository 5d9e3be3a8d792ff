"""Products and convolutions of half precision, on processors that have instructions for them and on others."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.ops.linalg import matrix_products
from everflow.ops.nn import convolution_ops
from everflow.values import halves
from running import run

HALVES = {"float16": (tf.float16, torch.float16, 2e-3), "bfloat16": (tf.bfloat16, torch.bfloat16, 2e-2)}


@pytest.fixture(params=["float32", "as they are"])
def in_floats(request, monkeypatch):
    """How often something was computed in float32."""
    made, compute = [], halves.in_floats
    for module in (matrix_products, convolution_ops):
        monkeypatch.setattr(module, "in_floats", lambda *args: (made.append(1), compute(*args))[1])
    slow = frozenset((torch.float16, torch.bfloat16)) if request.param == "float32" else frozenset()
    monkeypatch.setattr(halves, "slow_types", lambda: slow)
    return made if slow else None


def values(*dims):
    return np.random.RandomState(sum(dims)).uniform(-1, 1, dims)


def gradients_of(build, inputs, dtype):
    """A result and its gradients, in this type and in float64."""
    found = []
    for kind in (dtype, tf.float64):
        given = [tf.cast(tf.constant(x), dtype) for x in inputs]
        given = [tf.cast(x, kind) for x in given]
        y = build(*given)
        assert y.dtype is kind
        found.append(run([tf.cast(t, tf.float64) for t in (y, *tf.gradients(y, given))]))
    return found


PRODUCTS = {
    "matrices": (lambda a, b: tf.matmul(a, b), (values(40, 30), values(30, 50))),
    "turned": (lambda a, b: tf.matmul(a, b, transpose_a=True, transpose_b=True), (values(30, 40), values(50, 30))),
    "batches": (lambda a, b: tf.matmul(a, b, transpose_b=True), (values(3, 2, 20, 30), values(3, 2, 10, 30))),
}
CONVOLUTIONS = {
    "two dimensions": (lambda x, f: tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME"), (values(2, 9, 9, 4), values(3, 3, 4, 5))),
    "strides": (lambda x, f: tf.nn.conv2d(x, f, [1, 2, 2, 1], "SAME"), (values(2, 9, 8, 4), values(3, 3, 4, 5))),
    "each channel": (lambda x, f: tf.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], "VALID"), (values(2, 9, 9, 4), values(3, 3, 4, 2))),
    "three dimensions": (lambda x, f: tf.nn.conv3d(x, f, [1, 1, 1, 1, 1], "SAME"), (values(1, 5, 5, 5, 3), values(3, 3, 3, 3, 2))),
}


@pytest.mark.parametrize("build,inputs", [*PRODUCTS.values(), *CONVOLUTIONS.values()], ids=[*PRODUCTS, *CONVOLUTIONS])
@pytest.mark.parametrize("kind", HALVES)
def test_values_and_gradients_are_those_of_float64_but_for_rounding(kind, build, inputs, in_floats):
    dtype, _, tolerance = HALVES[kind]
    for found, expected in zip(*gradients_of(build, inputs, dtype), strict=True):
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())
    assert in_floats is None or len(in_floats) == 3


@pytest.mark.parametrize("kind", HALVES)
def test_what_is_small_stays_as_it_is(kind, in_floats):
    dtype, _, tolerance = HALVES[kind]
    found = run(tf.cast(tf.matmul(tf.ones([4, 8], dtype), tf.ones([8, 4], dtype)), tf.float32))
    assert found.tolist() == [[8.0] * 4] * 4 and not in_floats


def test_float32_is_never_slow():
    assert not halves.is_slow(torch.zeros(1))
    assert halves.slow_types() <= {torch.float16, torch.bfloat16}


def test_other_devices_have_their_own_ways(monkeypatch):
    monkeypatch.setattr(halves, "slow_types", lambda: frozenset((torch.float16,)))
    assert halves.is_slow(torch.zeros(1, dtype=torch.float16))
    assert not halves.is_slow(torch.zeros(1, dtype=torch.float16, device="meta"))
