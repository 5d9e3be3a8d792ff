"""Initializers of TensorFlow 2: the type comes with the shape, a seed decides the values."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.variables import initializers_version2 as initializers
from running import run


@pytest.mark.parametrize(
    ("initializer", "shape", "expected"),
    [
        (initializers.TruncatedNormal(seed=3), [3], [-0.03357924, 0.08380252, -0.04721227]),
        (initializers.VarianceScaling(seed=3), [3, 1], [-0.44080076, 1.1000909, -0.6197641]),
        (initializers.Orthogonal(seed=3), [2, 2], [-0.5795933, 0.8149058, -0.8149058, -0.5795934]),
        (initializers.RandomUniform(seed=3), [2], [-0.03040872, 0.04393453]),
    ],
)
def test_a_seed_decides_the_values(initializer, shape, expected):
    first, second = run([initializer(shape), initializer(shape)])
    assert first.tolist() == second.tolist()
    assert first.ravel() == pytest.approx(np.array(expected), rel=1e-5)


def test_constants_have_as_many_elements_as_the_shape():
    assert run(initializers.Constant([1, 2])([2, 1])).tolist() == [[1], [2]]
    with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(3,\), got \(2,\)."):
        initializers.Constant([1, 2])([3])


def test_the_identity_is_a_matrix_of_floating_point_numbers():
    assert run(initializers.Identity(0.5)([2, 3])).tolist() == [[0.5, 0, 0], [0, 0.5, 0]]
    with pytest.raises(ValueError, match="can only be used for 2D matrices"):
        initializers.Identity()([2])
    with pytest.raises(ValueError, match="Expected floating point type, got"):
        initializers.Identity()([2, 2], tf.int32)


def test_an_equal_initializer_is_made_from_its_configuration():
    made = initializers.VarianceScaling.from_config({**initializers.VarianceScaling(2.0, seed=7).get_config(), "dtype": "float32"})
    assert (made.scale, made.seed, made.distribution) == (2.0, 7, "truncated_normal")
