"""Functions of single elements, which are native where there are many."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.math.elementwise_loops import FEW, LARGE
from running import run

pytestmark = pytest.mark.processor
FUNCTIONS = {
    "exp": (tf.exp, np.exp),
    "sigmoid": (tf.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    "tanh": (tf.tanh, np.tanh),
    "log1p": (tf.math.log1p, np.log1p),
}


@pytest.mark.parametrize("count", [1, FEW - 1, FEW, 2 * FEW + 3, 3 * LARGE + 1])
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore:(overflow|invalid)")
def test_values_are_those_of_longer_floats(name, count):
    function, truth = FUNCTIONS[name]
    x = np.random.RandomState(count).uniform(-120, 100, count).astype(np.float32)
    if name == "log1p":
        x = np.abs(x)
    with np.errstate(over="ignore"):
        expected = truth(x.astype(np.float64)).astype(np.float32)
    found = run(function(tf.identity(x)))
    # Numbers that are not normal have fewer digits.
    np.testing.assert_allclose(found, expected, rtol=4e-7, atol=2e-38)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ends_of_the_range(name):
    function, _ = FUNCTIONS[name]
    x = np.array([-np.inf, np.inf, np.nan, 0.0, -1e5 if name != "log1p" else -1], np.float32)
    expected = {"exp": [0, np.inf, np.nan, 1, 0], "sigmoid": [0, 1, np.nan, 0.5, 0], "tanh": [-1, 1, np.nan, 0, -1]}
    of_all = expected.get(name, [np.nan, np.inf, np.nan, 0, -np.inf])
    np.testing.assert_array_equal(run(function(tf.constant(np.tile(x, FEW)))), np.tile(np.float32(of_all), FEW))


def test_transposed_tensors_and_other_types():
    x = np.random.RandomState(0).randn(40, 30)
    for dtype, rtol in ((np.float32, 1e-6), (np.float64, 1e-12), (np.float16, 1e-2), (np.complex64, 1e-5)):
        given = tf.placeholder(dtype, [None, None])
        with tf.Session() as session:
            found = session.run(tf.tanh(tf.transpose(given)), {given: x.astype(dtype)})
        assert found.dtype == dtype and found.shape == (30, 40)
        np.testing.assert_allclose(found, np.tanh(x.astype(dtype)).T, rtol=rtol)
